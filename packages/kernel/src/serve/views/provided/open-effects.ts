import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '../../../pure/define/index.js';

/** The reason why an effect waits. */
const waits = z.enum(['start', 'approval', 'answer', 'outside', 'receipt']);

/**
 * Effects without a receipt, by their id: their cell, since when they are open, and what they wait for. Indexes by cell,
 * by kind, by time, and by reason: `under: 'approval'` lists decisions to make, `'answer'` questions to answer.
 */
export const openEffects = projectionOnUse('reprise/OpenEffects@1', () =>
  defineProjection({
    name: 'reprise/OpenEffects@1',
    row: z.strictObject({
      kind: z.string(),
      reducer: z.string(),
      key: z.string(),
      plan: z.nullable(z.int()),
      /** When it was emitted, in milliseconds, and in which frame. */
      since: z.int(),
      seq: z.int(),
      waits,
      /** The principals that may approve, answer or settle, as journaled; null where nothing was. */
      to: z.nullable(z.string()),
      attempts: z.int(),
      /** Unanswered questions, by their numbers. */
      asked: z.array(z.int()),
      deadline: z.nullable(z.int()),
    }),
    from: {
      effect: true,
      attempt: true,
      deferred: true,
      ask: true,
      'command:sys/Answer@1': true,
      receipt: true,
      settled: true,
    },
    indexes: {
      cell: (row) => [row.reducer, row.key, row.seq],
      kind: (row) => [row.kind, row.seq],
      since: (row) => [row.since, row.seq],
      waits: (row) => [row.waits, row.since, row.seq],
    },
    fold(rows, { record, effect, seq, at }) {
      if (effect === null) return;
      if (record.kind === 'effect') {
        const [reducer, key] = effect.cell;
        const { name: kind, deadline, approval } = record;
        rows.put(effect.id, {
          ...{ kind, reducer, key, plan: effect.plan, since: at, seq, attempts: 0, asked: [], deadline },
          waits: approval === undefined ? 'start' : 'approval',
          to: approval ?? null,
        });
        return;
      }
      const row = rows.get(effect.id);
      if (record.kind === 'receipt' || record.kind === 'settled') rows.remove(effect.id);
      else if (row === undefined) return;
      else if (record.kind === 'attempt') rows.put(effect.id, { ...row, waits: 'receipt', attempts: record.attempt });
      else if (record.kind === 'deferred') rows.put(effect.id, { ...row, waits: 'outside', to: record.to });
      else if (record.kind === 'ask')
        rows.put(effect.id, { ...row, waits: 'answer', to: record.to, asked: [...row.asked, record.n] });
      else if (record.command.name === 'sys/Answer@1') {
        const { n } = record.command.value;
        const asked = row.asked.filter((one) => one !== n);
        rows.put(effect.id, { ...row, asked, waits: asked.length > 0 ? 'answer' : 'receipt' });
      }
    },
  }),
);
