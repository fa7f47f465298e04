/** All rows of a table, a page at a time. */
import type { Table } from '@reprise/kernel/define';

/** All rows of a table, in the order of their keys; what is changed meanwhile does not show. */
export function entriesOf<V>(table: Table<V>): readonly (readonly [string, V])[] {
  const found: (readonly [string, V])[] = [];
  for (let after: string | undefined; ; ) {
    const rows = table.range({ ...(after === undefined ? {} : { after }), limit: PAGE });
    found.push(...rows);
    if (rows.length < PAGE) return found;
    after = rows.at(-1)?.[0];
  }
}

/** The rows that are read at once. */
const PAGE = 256;
