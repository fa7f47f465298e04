/** All entries of a table, however many: one `range` gives a page of them at most. */
import type { Table, TableRange } from './table.js';

/** The entries that are read at once. */
const PAGE = 256;

/**
 * All entries of a range of a table, in the order of their keys, read a page at a time. Entries may be changed and removed
 * meanwhile: those of the page that was read are given as they were, those behind it as they are by then.
 *
 * @param range which entries; all of them when absent
 * @example for (const [key, row] of allRows(ctx.table('members'))) …
 */
export function* allRows<V>(
  table: Pick<Table<V>, 'range'>,
  range: Omit<TableRange, 'limit'> = {},
): Generator<[key: string, value: V], void> {
  let page = table.range({ ...range, limit: PAGE });
  for (;;) {
    yield* page;
    const last = page.at(-1)?.[0];
    if (last === undefined || page.length < PAGE) return;
    const { from: _, ...rest } = range;
    page = table.range({ ...rest, after: last, limit: PAGE });
  }
}
