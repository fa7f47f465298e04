/** Pages over tables of a cell, for clients that are shown the parts of an organization. */
import type { OrganizationParts } from '@reprise/agent';
import type { ValueMap } from '@reprise/contracts';
import type { CellReader } from './reader.js';

/** The entries of a page. */
const PAGE = 100;

/** Where a page ends: a table, and the key of its last entry. */
const PLACE = /^([a-z]+) (.+)$/s;

/** How the entries of a table are shown. */
type ShownTable = readonly [table: string, show: (row: never, key: string) => object];

/**
 * The entries of tables behind a place, one table after the other; a page has entries of one table.
 *
 * @param place `next` of the page before; the first page when absent
 * @example parts: (name, after) => shownParts(cellOf(name), [['nodes', shownNode]], after)
 */
export async function shownParts(
  cell: Pick<CellReader, 'rows'>,
  tables: readonly ShownTable[],
  place?: string,
): Promise<OrganizationParts> {
  const [, begun = tables[0]?.[0], after] = PLACE.exec(place ?? '') ?? [];
  const first = tables.findIndex(([table]) => table === begun);
  for (const [table, show] of first < 0 ? [] : tables.slice(first)) {
    const behind = table === begun && after !== undefined ? { after } : {};
    const rows = await cell.rows(table, { limit: PAGE, ...behind });
    const last = rows.at(-1)?.[0];
    if (last === undefined) continue;
    const items = rows.map(([key, row]) => show(row as never, key) as ValueMap);
    const isLast = rows.length < PAGE && table === tables.at(-1)?.[0];
    return { items, ...(isLast ? {} : { next: `${table} ${last}` }) };
  }
  return { items: [] };
}
