import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '../../../pure/define/index.js';
import { cellsTouched } from './leaves.js';

/**
 * Which frames a cell appears in, and which of their records concern it: rows under `[reducer, key, seq]`. The history
 * of a cell without reading the whole journal.
 *
 * @example views.view(touch).query({ under: ['shop/Order@1', 'o1'] })
 */
export const touch = projectionOnUse('reprise/Touch@1', () =>
  defineProjection({
    name: 'reprise/Touch@1',
    row: z.strictObject({ at: z.int(), kinds: z.array(z.string()), records: z.array(z.int()) }),
    from: { '*': true },
    fold(rows, { record, cell, seq, i, at }) {
      const cells = record.kind === 'state' ? cellsTouched(record) : cell === null ? [] : [cell];
      for (const [reducer, key] of cells) {
        const row = [reducer, key, seq];
        const { kinds, records } = rows.get(row) ?? { kinds: [] as string[], records: [] as number[] };
        if (!kinds.includes(record.kind)) kinds.push(record.kind);
        rows.put(row, { at, kinds, records: [...records, i] });
      }
    },
  }),
);
