/** The walk over a table that has more entries than one page. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { allRows, type TableRange } from '../../../src/pure/define/index.js';

const PAGE = 256;

/** A table as a recipe sees it: it refuses what the kernel refuses, and gives a page at most. */
function tableOf(rows: Map<string, number>) {
  return {
    range({ from, after, before, limit = PAGE }: TableRange = {}): [string, number][] {
      if (from !== undefined && after !== undefined) throw new Error('a range begins either at a key or after one');
      const isIn = (key: string) =>
        (from === undefined || key >= from) &&
        (after === undefined || key > after) &&
        (before === undefined || key < before);
      return [...rows]
        .filter(([key]) => isIn(key))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, Math.min(limit, PAGE));
    },
  };
}

const keyOf = (n: number) => String(n).padStart(4, '0');
const rowsTo = (size: number) => new Map(Array.from({ length: size }, (_, n) => [keyOf(n), n]));

const ranges = fc.record(
  { from: fc.nat(800).map(keyOf), before: fc.nat(800).map(keyOf) },
  { requiredKeys: [] },
) satisfies fc.Arbitrary<TableRange>;

it('walks every entry of a range once and in order, however many pages there are, also when each is removed as it comes (seed 36) [RED-42]', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0, 1, 255, 256, 257, 511, 512, 513, 700),
      ranges,
      fc.boolean(),
      (size, range, removes) => {
        const rows = rowsTo(size);
        const { from = '', before = '~' } = range;
        const expected = [...rows.keys()].filter((key) => key >= from && key < before);
        const walked: string[] = [];
        for (const [key] of allRows(tableOf(rows), range)) {
          walked.push(key);
          if (removes) rows.delete(key);
        }
        expect(walked).toStrictEqual(expected);
      },
    ),
    { seed: 36, numRuns: 60 / stepOf(4) },
  );
});
