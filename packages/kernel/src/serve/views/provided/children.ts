import type { Address, JournalRecord } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '../../../pure/define/index.js';
import { cellsMade } from './leaves.js';

/**
 * The tree of cells: for each cell, by its address, its parent and when it was made. The index `parent` lists children
 * in the order in which they were made; a cell made by a request from outside has the parent `['']`.
 *
 * @example views.view(children).query({ index: 'parent', under: ['shop/Order@1', 'o1'] })
 */
export const children = projectionOnUse('reprise/Children@1', () =>
  defineProjection({
    name: 'reprise/Children@1',
    row: z.strictObject({ parent: z.nullable(z.tuple([z.string(), z.string()])), seq: z.int(), at: z.int() }),
    from: { state: true },
    indexes: { parent: (row) => [...(row.parent ?? ['']), row.seq] },
    fold(rows, { record, frame, seq, at }) {
      for (const cell of cellsMade(record)) rows.put(cell, { parent: makerOf(cell, frame), seq, at });
    },
  }),
);

/** The cell that sent the first event of the frame to it; null for a request from outside. */
function makerOf(cell: Address, frame: readonly JournalRecord[]): [string, string] | null {
  for (const record of frame) {
    if (record.kind !== 'event' && record.kind !== 'request') continue;
    if (record.to[0] !== cell[0] || record.to[1] !== cell[1]) continue;
    const from = record.kind === 'event' ? record.from : null;
    return from === null ? null : [from[0], from[1]];
  }
  return null;
}
