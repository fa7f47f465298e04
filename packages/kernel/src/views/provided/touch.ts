import * as z from 'zod';
import { defineProjection } from '../../define/index.js';
import { cellsTouched } from './leaves.js';

/**
 * Which frames a cell appears in, and by which kinds of records: rows under `[reducer, key, seq]`. The history of a
 * cell without reading the whole journal.
 *
 * @example views.view(touch).query({ under: ['shop/Order@1', 'o1'] })
 */
export const touch = defineProjection({
  name: 'reprise/Touch@1',
  row: z.strictObject({ at: z.int(), kinds: z.array(z.string()) }),
  from: { '*': true },
  fold(rows, { record, cell, seq, at }) {
    const cells = record.kind === 'state' ? cellsTouched(record) : cell === null ? [] : [cell];
    for (const [reducer, key] of cells) {
      const row = [reducer, key, seq];
      const kinds = rows.get(row)?.kinds ?? [];
      if (!kinds.includes(record.kind)) rows.put(row, { at, kinds: [...kinds, record.kind] });
    }
  },
});
