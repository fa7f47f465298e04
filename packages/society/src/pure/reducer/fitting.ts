/** Pages of answers: as many rows as fit. */
import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';

/** The bytes that the rows of one page have: an answer has 4 KiB. */
const PAGE_BYTES = 3_600;

/** The first rows that fit into one page; at least one, where there is one. */
export function fitting<T extends Value>(rows: readonly T[], bytesMax = PAGE_BYTES): T[] {
  let bytes = 0;
  const page: T[] = [];
  for (const row of rows) {
    bytes += encode(row).length;
    if (bytes > bytesMax && page.length > 0) break;
    page.push(row);
  }
  return page;
}
