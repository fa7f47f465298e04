/** Views over sessions and their runs. Open them with `openViews` of `@reprise/kernel/views`; `AgentWorld` does. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '@reprise/kernel/define';
import { agentAdopted } from '../contracts/commands.js';
import { tally } from '../contracts/config.js';
import {
  childChanged,
  inputAccepted,
  inputDropped,
  lifecycleChanged,
  sessionCommandAccepted,
} from '../contracts/facts.js';
import { LIFECYCLES, stopReason } from '../contracts/lifecycle.js';

/** The states of an ended run, whose result can be read. */
const ENDED: readonly string[] = ['Completed', 'Failed', 'Cancelled'];
const count = z.int().min(0);
const labels = z.record(z.string(), z.string());

/**
 * Every session, by its key: its agent, the state of its current run, the usage of its runs. Indexes: `updated`, the
 * longest unchanged first; `status` and `agent`, each in the order of the changes; `ended`: sessions with an ended run,
 * in the order of the ends.
 *
 * @example views.view(sessions).query({ index: 'status', under: 'Running' })
 */
export const sessions = projectionOnUse('aos.agent/Sessions@1', () =>
  defineProjection({
    name: 'aos.agent/Sessions@1',
    row: z.strictObject({
      agent: z.string(),
      model: z.string(),
      status: z.enum(LIFECYCLES),
      closed: z.boolean(),
      labels,
      /** The last changed run, and the number of runs. */
      run: count,
      runs: count,
      inputs: count,
      /** The frame and the time of the last change, and the time of the creation. */
      seq: count,
      at: count,
      made: count,
      output_ref: z.nullable(ref()),
      code: z.nullable(z.string()),
      /** The usage of ended runs. */
      usage: tally,
    }),
    from: {
      'event:aos.agent/AgentAdopted@1': agentAdopted,
      'fact:aos.agent/InputAccepted@1': inputAccepted,
      'fact:aos.agent/LifecycleChanged@1': lifecycleChanged,
      'fact:aos.agent/HostCommandAccepted@1': sessionCommandAccepted,
    },
    indexes: {
      updated: (row) => [row.at, row.seq],
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
        const usage = { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 };
        const fresh = {
          ...{ status: 'Idle' as const, closed: false, labels: entry.value.labels ?? {}, run: 0, runs: 0, inputs: 0 },
          ...{ made: at, output_ref: null, code: null, usage },
        };
        rows.put(id, { ...(row ?? fresh), agent, model, seq, at });
      } else if (row === undefined) return;
      else if (entry.from === 'fact:aos.agent/InputAccepted@1') {
        const runs = Math.max(row.runs, entry.value.run + 1);
        const inputs = row.inputs + (entry.value.moved_from === undefined ? 1 : 0);
        rows.put(id, { ...row, inputs, runs, seq, at });
      } else if (entry.from === 'fact:aos.agent/HostCommandAccepted@1') {
        if (entry.value.type === 'Close') rows.put(id, { ...row, closed: true, seq, at });
      } else {
        const { run, to, stop, output_ref, usage: used } = entry.value;
        const code = stop?.kind === 'Failed' ? stop.code : stop?.kind === 'LimitsExceeded' ? stop.limit : null;
        const usage = {
          steps: row.usage.steps + (used?.steps ?? 0),
          tokens_in: row.usage.tokens_in + (used?.tokens_in ?? 0),
          tokens_out: row.usage.tokens_out + (used?.tokens_out ?? 0),
          micro_money: row.usage.micro_money + (used?.micro_money ?? 0),
        };
        rows.put(id, { ...row, status: to, run, seq, at, output_ref: output_ref ?? null, code, usage });
      }
    },
  }),
);

/**
 * Sessions by their labels: rows `[label, value, session]`. A session's labels never change.
 *
 * @example views.view(sessionLabels).query({ under: ['tenant', 'acme'] })
 */
export const sessionLabels = projectionOnUse('aos.agent/SessionLabels@1', () =>
  defineProjection({
    name: 'aos.agent/SessionLabels@1',
    row: z.strictObject({ at: count }),
    from: { 'event:aos.agent/AgentAdopted@1': agentAdopted },
    fold(rows, { cell, value, at }) {
      if (cell === null) return;
      for (const [label, text] of Object.entries(value.labels ?? {})) {
        const key = [label, text, cell[1]];
        if (rows.get(key) === undefined) rows.put(key, { at });
      }
    },
  }),
);

/**
 * Every run, under `[session, number]`: its cause, the frame that accepted it, its end. Index `ended`: ended runs in
 * the order of their ends; a consumer of results stores the frame of the last one it took.
 *
 * @example views.view(runs).query({ index: 'ended', from: [lastTaken + 1] })
 */
export const runs = projectionOnUse('aos.agent/Runs@1', () =>
  defineProjection({
    name: 'aos.agent/Runs@1',
    row: z.strictObject({
      session: z.string(),
      run: count,
      /** `Moved`: the run never begins, because its input became a turn of another run. */
      status: z.enum(['Queued', 'Moved', ...LIFECYCLES]),
      /** The cause of the run: the host, a follow-up, a parent, the app. */
      cause: z.string(),
      command_id: z.string(),
      /** The frame that accepted it, and its time. */
      seq: count,
      at: count,
      /** The frame and the time of its end. */
      ended: z.nullable(count),
      ended_at: z.nullable(count),
      stop: z.nullable(stopReason),
      output_ref: z.nullable(ref()),
      value_ref: z.nullable(ref()),
      usage: z.nullable(tally),
    }),
    from: {
      'fact:aos.agent/InputAccepted@1': inputAccepted,
      'fact:aos.agent/InputDropped@1': inputDropped,
      'fact:aos.agent/LifecycleChanged@1': lifecycleChanged,
    },
    indexes: {
      ended: (row, key) => (row.ended === null ? undefined : [row.ended, ...[key].flat()]),
      status: (row, key) => [row.status, ...[key].flat()],
    },
    fold(rows, entry) {
      const session = entry.cell?.[1];
      if (session === undefined) return;
      const { run } = entry.value;
      const key = [session, run];
      const row = rows.get(key);
      const { seq, at } = entry;
      if (entry.from === 'fact:aos.agent/InputAccepted@1') {
        const { cause, command_id, moved_from } = entry.value;
        const left = moved_from === undefined ? undefined : rows.get([session, moved_from]);
        if (left?.status === 'Queued' && left.command_id === command_id)
          rows.put([session, left.run], { ...left, status: 'Moved' });
        if (row !== undefined) return; // one more turn of a run that waited for input
        const open = { ended: null, ended_at: null, stop: null, output_ref: null, value_ref: null, usage: null };
        rows.put(key, { session, run, status: 'Queued', cause: cause.kind, command_id, seq, at, ...open });
        return;
      }
      if (row === undefined) return;
      if (entry.from === 'fact:aos.agent/InputDropped@1') {
        if (entry.value.turn === true) return; // the run continues without this input
        const never = { kind: 'Cancelled' as const, dropped: entry.value.why };
        rows.put(key, { ...row, status: 'Cancelled', ended: seq, ended_at: at, stop: never });
        return;
      }
      const { to, stop, output_ref = null, value_ref = null, usage = null } = entry.value;
      const end = stop === undefined ? {} : { ended: seq, ended_at: at, stop, output_ref, value_ref, usage };
      rows.put(key, { ...row, status: to, ...end });
    },
  }),
);

/**
 * The tree of sessions: a child, by its key, and the session that spawned it. The index `parent` lists children in the
 * order in which they were made.
 *
 * @example views.view(sessionTree).query({ index: 'parent', under: 'boss' })
 */
export const sessionTree = projectionOnUse('aos.agent/SessionTree@1', () =>
  defineProjection({
    name: 'aos.agent/SessionTree@1',
    row: z.strictObject({
      parent: z.string(),
      /** The name that the parent's model uses for it. */
      child: z.string(),
      agent: z.string(),
      status: childChanged.shape.status,
      seq: count,
      output_ref: z.nullable(ref()),
    }),
    from: { 'fact:aos.agent/ChildChanged@1': childChanged },
    indexes: { parent: (row) => [row.parent, row.seq] },
    fold(rows, { cell, value, seq }) {
      if (cell === null) return;
      const { session, child, agent, status, output_ref } = value;
      const made = rows.get(session)?.seq ?? seq;
      rows.put(session, { parent: cell[1], child, agent, status, seq: made, output_ref: output_ref ?? null });
    },
  }),
);
