/** Pages of answers: as many rows as fit. */

import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';

/** The first rows that fit into one page; at least one, where there is one. */
export function fitting<T extends Value>(rows: readonly T[], bytesMax: number): T[] {
  let bytes = 0;
  const page: T[] = [];
  for (const row of rows) {
    bytes += encode(row).length;
    if (bytes > bytesMax && page.length > 0) break;
    page.push(row);
  }
  return page;
}

/** As many entries of a list as fit, and how many were left off, where some were. */
export function listed<T extends Value>(
  name: string,
  rows: readonly T[],
  bytesMax: number,
): Readonly<Record<string, Value>> {
  const shown = fitting(rows, bytesMax);
  const left_off = rows.length - shown.length;
  return { [name]: shown as unknown as Value, ...(left_off === 0 ? {} : { left_off }) };
}
