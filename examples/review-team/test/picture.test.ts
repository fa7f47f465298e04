/** The picture of a review, in terminals of all sizes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { columnsOf, pictureOf } from '../src/picture.js';

const SEED = 661;
const FOUND =
  '4 findings; the worst is src/login.ts:3, a credential in the source: read it from the environment instead';
const words = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '日', '\u001b[2J', '\u202e', '\n', '🧪'),
  maxLength: 300,
});

describe('the picture of a review', () => {
  it('a finding is drawn whole in 80 columns, below its row', () => {
    const rows = [{ head: '  ✓ #1  the security of src, and all that is in it  security  completed', found: FOUND }];
    const lines = pictureOf('review: 1 of 1 done', rows, { columns: 80, rows: 24 });
    expect(
      lines
        .slice(2)
        .map((line) => line.trim())
        .join(' '),
    ).toBe(FOUND);
    expect(lines.length).toBeGreaterThan(3);
  });

  it(`no line is wider than the terminal, and no picture that is drawn again is higher (seed ${SEED})`, () => {
    const sizes = fc.record({ columns: fc.integer({ min: 20, max: 200 }), rows: fc.integer({ min: 3, max: 50 }) });
    const rows = fc.array(fc.record({ head: words, found: words }), { maxLength: 30 });
    fc.assert(
      fc.property(rows, sizes, (shown, size) => {
        const lines = pictureOf('review: 0 of 30 done', shown, size);
        expect(lines.length).toBeLessThan(size.rows);
        for (const line of lines) {
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
          expect([...line].reduce((width, one) => width + (/[日🧪]/u.test(one) ? 2 : 1), 0)).toBeLessThan(size.columns);
        }
      }),
      { seed: SEED, numRuns: 200 / stepOf(4) },
    );
  });

  it('where there is no room for all findings the newest are drawn, and at the end all of them', () => {
    const rows = Array.from({ length: 10 }, (_, i) => ({ head: `#${i}`, found: `finding ${i}` }));
    const live = pictureOf('review', rows, { columns: 80, rows: 16 });
    expect(live.filter((line) => line.includes('finding'))).toEqual([
      '        finding 6',
      '        finding 7',
      '        finding 8',
      '        finding 9',
    ]);
    const last = pictureOf('review', rows, { columns: 80, rows: undefined });
    expect(last.filter((line) => line.includes('finding'))).toHaveLength(10);
  });

  it('a terminal that does not know its width, or says 0, has 80 columns', () => {
    expect([undefined, 0, 5, 60].map(columnsOf)).toEqual([80, 80, 20, 60]);
  });
});
