import type { Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { linksOf } from '../../../pure/codec/index.js';
import { defineProjection, projectionOnUse } from '../../../pure/define/index.js';

/**
 * Which cells link which content: rows under `[digest, reducer, key]` for every link in an event, an intent's
 * input, an effect's parameters, a receipt's payload or a fact of the cell, with the first frame that has it. Links
 * inside linked content are not followed. The index `cell` gives a cell's links.
 *
 * @example (await views.view(blobLinks).get([ref.hex, 'shop/Order@1', 'o1'])) !== undefined
 */
export const blobLinks = projectionOnUse('reprise/BlobLinks@1', () =>
  defineProjection({
    name: 'reprise/BlobLinks@1',
    row: z.strictObject({ seq: z.int(), kind: z.enum(['raw', 'value']) }),
    from: { event: true, intent: true, effect: true, receipt: true, fact: true },
    indexes: { cell: (_row, key) => [...[key].flat().slice(1), ...[key].flat().slice(0, 1)] },
    fold(rows, { record, cell, seq }) {
      if (cell === null) return;
      for (const ref of linksOf(record as unknown as Value)) {
        const key = [ref.hex, cell[0], cell[1]];
        if (rows.get(key) === undefined) rows.put(key, { seq, kind: ref.kind });
      }
    },
  }),
);
