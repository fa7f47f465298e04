import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstOf, key, pair, pairsOf, placeInLine, secondOf, timeKey } from '../../src/pure/kit/index.js';

const number = fc.integer({ min: 0, max: 999_999_999_999 });
const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const priority = fc.integer({ min: -1_000_000, max: 1_000_000 });

/** The order of texts, as tables have it. */
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

describe('keys of tables', () => {
  it('keys of numbers, of times and of pairs stand in the order of what they name', () => {
    fc.assert(
      fc.property(number, number, number, number, (a, b, c, d) => {
        expect(order(key(a), key(b))).toBe(Math.sign(a - b));
        expect(order(pair(a, b), pair(c, d))).toBe(Math.sign(a - c) || Math.sign(b - d));
        expect([firstOf(pair(a, b)), secondOf(pair(a, b))]).toStrictEqual([a, b]);
      }),
    );
    fc.assert(
      fc.property(time, time, (a, b) => {
        expect(order(timeKey(a), timeKey(b))).toBe(Math.sign(a - b));
      }),
    );
  });

  it('the range of the pairs of a number holds its pairs behind the given one, and those of no other number', () => {
    fc.assert(
      fc.property(number, number, number, fc.option(number), (n, a, b, after) => {
        const { from, before } = pairsOf(n, after);
        const at = pair(a, b);
        const isIn = at >= from && at < before;
        expect(isIn).toBe(a === n && (after === null || b > after));
      }),
    );
    const { from, before } = pairsOf(7);
    expect([from, before].map((end) => order(end, pair(7, 0)))).toStrictEqual([-1, 1]);
  });

  it('what has a higher priority stands before in a line, and of one priority what came first', () => {
    fc.assert(
      fc.property(priority, number, priority, number, (p, a, q, b) => {
        expect(order(placeInLine(p, a), placeInLine(q, b))).toBe(Math.sign(q - p) || Math.sign(a - b));
      }),
    );
  });
});
