import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { cutToColumns, wrapToColumns } from '../src/text/layout.js';

const SEED = 20261123;
const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é', '漢', '👩‍👩‍👧', '-') }), { maxLength: 30 });

describe('lines for a terminal', () => {
  it('a line is broken between words, and words that are longer than the line where the line ends', () => {
    expect(wrapToColumns('one two three four', 40, 4)).toBe('one two three four');
    expect(wrapToColumns(`${'word '.repeat(8)}end`, 30, 4)).toBe('word word word word word word\n    word word end');
    expect(wrapToColumns('x'.repeat(70), 30, 4)).toBe(
      ['x'.repeat(30), `    ${'x'.repeat(26)}`, `    ${'x'.repeat(14)}`].join('\n'),
    );
    expect(cutToColumns('漢字漢字', 5)).toBe('漢…');
  });

  it(`a broken line has all characters of the line and only those, in order (seed ${SEED})`, () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 30, max: 60 }), fc.integer({ min: 2, max: 20 }), (list, columns, indent) => {
        const line = list.filter((word) => word !== '').join(' ');
        const broken = wrapToColumns(line, columns, indent);
        expect(broken.replaceAll(/\s/g, '')).toBe(line.replaceAll(' ', ''));
        for (const [i, part] of broken.split('\n').entries()) {
          expect(cutToColumns(part, columns)).toBe(part);
          if (i > 0) expect(part).toMatch(/^ {2}/);
        }
      }),
      { seed: SEED, numRuns: 500 / stepOf(4) },
    );
  });
});
