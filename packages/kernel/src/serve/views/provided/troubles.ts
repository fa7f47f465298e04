import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '../../../pure/define/index.js';

/**
 * All that went wrong, newest last: faults, denials, and receipts that are not `ok`, under `[seq, i]`; indexes by
 * cell and by code.
 *
 * @example views.view(troubles).query({ order: 'desc', limit: 20 })
 */
export const troubles = projectionOnUse('reprise/Troubles@1', () =>
  defineProjection({
    name: 'reprise/Troubles@1',
    row: z.strictObject({
      kind: z.enum(['fault', 'denial', 'receipt']),
      code: z.string(),
      reducer: z.string(),
      key: z.string(),
      effect: z.nullable(z.string()),
      at: z.int(),
    }),
    from: { fault: true, denial: true, receipt: true },
    indexes: {
      cell: (row, key) => [row.reducer, row.key, ...[key].flat()],
      code: (row, key) => [row.code, ...[key].flat()],
    },
    fold(rows, { record, cell, effect, seq, i, at }) {
      if (record.kind === 'receipt' && record.receipt.status === 'ok') return;
      const code = record.kind === 'receipt' ? (record.receipt.code ?? record.receipt.status) : record.code;
      const [reducer, key] = cell ?? ['', ''];
      rows.put([seq, i], { kind: record.kind, code, reducer, key, effect: effect?.name ?? null, at });
    },
  }),
);
