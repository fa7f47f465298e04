import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '../../../pure/define/index.js';

const counts = {
  receipts: z.int(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  tokens_cached: z.int(),
  micro_money: z.int(),
  calls: z.int(),
};

const DAY_MS = 86_400_000;

/**
 * What effects used, by receipts, in whole units: rows `['cell', reducer, key]`, `['day', day]` (days since 1970, in
 * UTC), `['kind', effect kind]`, `['cell_day', reducer, key, day]`.
 *
 * @example views.view(usage).query({ under: 'day', order: 'desc' })
 */
export const usageView = projectionOnUse('reprise/Usage@1', () =>
  defineProjection({
    name: 'reprise/Usage@1',
    row: z.strictObject(counts),
    from: { receipt: true },
    fold(rows, { record, effect, at }) {
      if (effect === null) return;
      const used = record.receipt.usage ?? {};
      const [day, [reducer, key]] = [Math.floor(at / DAY_MS), effect.cell];
      const places = [
        ['cell', reducer, key],
        ['day', day],
        ['kind', effect.name],
        ['cell_day', reducer, key, day],
      ];
      for (const place of places) {
        const sum = rows.get(place);
        rows.put(place, {
          receipts: (sum?.receipts ?? 0) + 1,
          tokens_in: (sum?.tokens_in ?? 0) + (used.tokens_in ?? 0),
          tokens_out: (sum?.tokens_out ?? 0) + (used.tokens_out ?? 0),
          tokens_cached: (sum?.tokens_cached ?? 0) + (used.tokens_cached ?? 0),
          micro_money: (sum?.micro_money ?? 0) + (used.micro_money ?? 0),
          calls: (sum?.calls ?? 0) + (used.calls ?? 0),
        });
      }
    },
  }),
);
