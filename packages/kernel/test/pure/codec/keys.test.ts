/** The order of keys: remembered for lists that come back, and always that of the bytes. */
import { Buffer } from 'node:buffer';
import { utf8Length } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { sortKeys } from '../../../src/pure/codec/text.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';

type Sort = (keys: readonly string[]) => readonly string[];

/** By length in bytes, then byte by byte. */
const sorted: Sort = (keys) =>
  [...keys]
    .map((key) => Buffer.from(key))
    .sort((a, b) => a.length - b.length || Buffer.compare(a, b))
    .map(String);

/** Few keys, so that lists begin alike, come back and come back in another order; some lists are long, some keys too. */
const lists = fc.array(
  fc.uniqueArray(
    fc.oneof(
      fc.constantFrom('id', 'kind', 'name', 'é', 'zz', '10', '9', 'a', '\uffff', '\u{10000}', 'n'.repeat(70)),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 40 },
  ),
  { minLength: 1, maxLength: 30 },
);

const law = (sort: Sort) =>
  fc.property(lists, (all) => {
    for (const keys of [...all, ...all.map((one) => one.toReversed()), ...all]) {
      const given = [...keys];
      expect(sort(keys)).toEqual(sorted(keys));
      expect(keys).toEqual(given);
    }
  });

describe(`the order of keys (seed ${SEED})`, () => {
  it('keys are in the order of their bytes, whichever lists were put in order before [CODEC-2]', async () => {
    await hold(law(sortKeys), { numRuns: 400 / stepOf(4), command: rerun('keys.test.ts') });
  });

  it('keys are in order when more lists came between than are remembered', () => {
    const list = (n: number) => [`z${n}`, `y${n}`, 'x'];
    for (let n = 0; n < 2_000; n++)
      expect(sortKeys(list(n))).toEqual(
        ['x', `y${n}`, `z${n}`].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)),
      );
    for (let n = 0; n < 50; n++) expect(sortKeys(['first', `b${n}`, `a${n}`]).at(-1)).toBe('first');
    expect(sortKeys(list(7))).toEqual(['x', 'y7', 'z7']);
  });

  it('mutant: an order that is remembered by the first key and the number of keys is found', async () => {
    const known = new Map<string, readonly string[]>();
    const forgetful: Sort = (keys) => {
      const name = `${keys[0]} ${keys.length}`;
      const result = known.get(name) ?? sorted(keys);
      known.set(name, result);
      return result;
    };
    await expect(hold(law(forgetful), { numRuns: 400, shrink: false, command: '' })).rejects.toThrow();
  });
});

describe(`the length of text in bytes (seed ${SEED})`, () => {
  it('text of any length has the bytes of its UTF-8, and text with a lone surrogate has none', async () => {
    const unit = fc.constantFrom(
      'a',
      'Z',
      '\u0000',
      '\u007f',
      '\u0080',
      'é',
      '水',
      '\uffff',
      '\u{1f600}',
      '\ud800',
      '\udc00',
    );
    const texts = fc.tuple(fc.nat({ max: 40 }), fc.array(unit, { maxLength: 6 }), fc.nat({ max: 40 }));
    const counted = fc.property(texts, ([before, middle, after]) => {
      const text = 'a'.repeat(before) + middle.join('') + 'b'.repeat(after);
      expect(utf8Length(text)).toBe(Buffer.from(text).toString() === text ? Buffer.byteLength(text) : -1);
    });
    await hold(counted, { numRuns: 2_000 / stepOf(4), command: rerun('keys.test.ts') });
  });
});
