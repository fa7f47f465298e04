import { ref } from '@reprise/contracts';
import { defineProjection } from '@reprise/kernel';
import * as z from 'zod';
import { agentAdopted, inputAccepted, LIFECYCLES, lifecycleChanged } from '../contracts/session.js';

/** The states in which a run has ended, and what it gave can be read. */
const ENDED: readonly string[] = ['Completed', 'Failed', 'Cancelled'];

/**
 * Every session, by its id: its agent, the state of its current run, and what that gave. Open it with `openViews` of
 * `@reprise/kernel/views`. Indexes: `status` and `agent`, each with the newest change last, and `ended`: the sessions
 * whose run has ended, in the order of the ends, for who takes up results.
 *
 * @example views.view(sessions).query({ index: 'status', under: 'Running' })
 */
export const sessions = defineProjection({
  name: 'aos.agent/Sessions@1',
  row: z.strictObject({
    agent: z.string(),
    model: z.string(),
    status: z.enum(LIFECYCLES),
    run: z.int(),
    inputs: z.int(),
    /** The frame and the time of the last change of the lifecycle. */
    seq: z.int(),
    at: z.int(),
    output_ref: z.nullable(ref()),
    code: z.nullable(z.string()),
  }),
  from: {
    'event:aos.agent/AgentAdopted@1': agentAdopted,
    'fact:aos.agent/InputAccepted@1': inputAccepted,
    'fact:aos.agent/LifecycleChanged@1': lifecycleChanged,
  },
  indexes: {
    status: (row) => [row.status, row.seq],
    agent: (row) => [row.agent, row.seq],
    ended: (row) => (ENDED.includes(row.status) ? row.seq : undefined),
  },
  fold(rows, entry) {
    const id = entry.cell?.[1];
    if (id === undefined) return;
    const row = rows.get(id);
    const { seq, at } = entry;
    if (entry.from === 'event:aos.agent/AgentAdopted@1') {
      const { agent, model } = entry.value.config;
      const fresh = { status: 'Idle' as const, run: 0, inputs: 0, seq, at, output_ref: null, code: null };
      rows.put(id, { ...(row ?? fresh), agent, model });
    } else if (row === undefined) return;
    else if (entry.from === 'fact:aos.agent/InputAccepted@1') rows.put(id, { ...row, inputs: row.inputs + 1 });
    else {
      const { run, to, stop, output_ref } = entry.value;
      const code = stop?.kind === 'Failed' ? stop.code : stop?.kind === 'LimitsExceeded' ? stop.limit : null;
      rows.put(id, { ...row, status: to, run, seq, at, output_ref: output_ref ?? null, code });
    }
  },
});
