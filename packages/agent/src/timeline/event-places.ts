/**
 * The places of runs, steps, effects and children, as a view: it gives events the facts about earlier frames without
 * reading the journal from its beginning.
 *
 * Invariants
 * P1  Rows carry the frame that wrote them, and a dated row is never overwritten: the state before any frame can be
 *     read at any later time.
 * P2  The facts read for a frame are those that {@link AgentEvents} has after reading every earlier frame.
 */
import { type JournalRecord, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineProjection, projectionOnUse } from '@reprise/kernel/define';
import type { View } from '@reprise/kernel/views';
import { childChanged, inputAccepted, lifecycleChanged, stepRequested } from '../contracts/facts.js';
import { TERMINAL } from '../contracts/lifecycle.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import { ASK, callOf, type EffectTrace, placeOfEffect } from './effect-events.js';
import type { Past } from './event-scope.js';
import { type Place, rootOf } from './placed-event.js';

const count = z.int().min(0);
const placed = { run: z.nullable(count), turn: z.nullable(count), step: z.nullable(count) };

const rows = {
  place: z.strictObject({ is: z.literal('place'), ...placed }),
  /**
   * The roots of a run, each with the frame from which it counts: inputs with several roots may be turns of one run.
   */
  run: z.strictObject({ is: z.literal('run'), roots: z.array(z.strictObject({ seq: count, root: z.string() })) }),
  child: z.strictObject({ is: z.literal('child'), seq: count }),
  effect: z.strictObject({
    is: z.literal('effect'),
    session: z.string(),
    ...placed,
    name: z.string(),
    call_id: z.nullable(z.string()),
    tool: z.nullable(z.string()),
    ref: z.nullable(ref()),
    /** The frames that emitted and settled it. */
    seq: count,
    ended: z.nullable(count),
  }),
  /** A pending item of an effect, current or past. */
  wait: z.strictObject({
    is: z.literal('wait'),
    id: z.string(),
    deadline: z.nullable(count),
    seq: count,
    ended: z.nullable(count),
  }),
} as const;

const row = z.discriminatedUnion('is', [rows.place, rows.run, rows.child, rows.effect, rows.wait]);
type Row = z.infer<typeof row>;
type RowOf<K extends Row['is']> = Extract<Row, { readonly is: K }>;
type Key = readonly (string | number)[];

/** The rows as the fold reads them. */
interface Rows {
  get(key: Key): Row | undefined;
  put(key: Key, row: Row): void;
}

/**
 * Rows `['place', session, frame]` and `['now', session]`, `['run', session, run]`, `['child', parent, child]`,
 * `['effect', id]`, and `['wait', effect, what]`. Only worlds whose events are resumed keep this view.
 */
export const eventPlaces = projectionOnUse('aos.agent/EventPlaces@1', () =>
  defineProjection({
    name: 'aos.agent/EventPlaces@1',
    row,
    from: {
      'fact:aos.agent/InputAccepted@1': inputAccepted,
      'fact:aos.agent/LifecycleChanged@1': lifecycleChanged,
      'fact:aos.agent/LlmStepRequested@1': stepRequested,
      'fact:aos.agent/ChildChanged@1': childChanged,
      effect: true,
      deferred: true,
      ask: true,
      receipt: true,
      settled: true,
      'command:sys/Decide@1': true,
      'command:sys/Answer@1': true,
      'command:sys/Settle@1': true,
    },
    fold(given, entry) {
      const rows = given as unknown as Rows;
      const { record, cell, seq } = entry;
      if (record.kind !== 'fact') return foldEffect(rows, record, seq);
      if (cell === null || cell[0] !== SESSION_REDUCER) return;
      const [, session] = cell;
      switch (entry.from) {
        case 'fact:aos.agent/InputAccepted@1': {
          const { run, cause } = entry.value;
          return putRoot(rows, ['run', session, run], seq, rootOf(session, run, cause));
        }
        case 'fact:aos.agent/LifecycleChanged@1':
          if (TERMINAL.includes(entry.value.from)) putPlace(rows, session, seq, { run: entry.value.run });
          return;
        case 'fact:aos.agent/LlmStepRequested@1':
          return putPlace(rows, session, seq, entry.value);
        case 'fact:aos.agent/ChildChanged@1': {
          const key = ['child', session, entry.value.session];
          if (rows.get(key) === undefined) rows.put(key, { is: 'child', seq });
          return;
        }
        default:
          return;
      }
    },
  }),
);

/** Reads the facts about the frames before one. */
export function pastBefore(view: View<Row>, frame: number): Past {
  const rowOf = async <K extends Row['is']>(is: K, key: Key): Promise<RowOf<K> | undefined> => {
    const found = await view.get([...key]);
    return found?.is === is ? (found as RowOf<K>) : undefined;
  };
  return {
    below: (sessions) => sessionsBelow(view, sessions, frame),
    placeOf: async (session) => {
      const under = ['place', session];
      const { rows: found } = await view.query({ under, to: [...under, frame], order: 'desc', limit: 1 });
      return found[0]?.row.is === 'place' ? placeIn(found[0].row) : {};
    },
    rootOf: async (session, run) => {
      const known = await rowOf('run', ['run', session, run]);
      return known?.roots.findLast(({ seq }) => seq < frame)?.root;
    },
    effectOf: async (effect) => {
      const known = await rowOf('effect', ['effect', effect]);
      if (known === undefined || known.seq >= frame || (known.ended !== null && known.ended < frame)) return undefined;
      return { ...traceIn(known), waits: await waitsOf(view, effect, frame) };
    },
  };
}

async function sessionsBelow(view: View<Row>, sessions: readonly string[], frame: number): Promise<string[]> {
  const found = new Set(sessions);
  for (const session of found) {
    // A `Set` iteration also visits the members that are added during it.
    for await (const { key, row } of view.each({ under: ['child', session] }))
      if (row.is === 'child' && row.seq < frame) found.add(String([key].flat().at(-1)));
  }
  return [...found];
}

async function waitsOf(view: View<Row>, effect: string, frame: number): Promise<Map<string, number | null>> {
  const waits: RowOf<'wait'>[] = [];
  for await (const { row } of view.each({ under: ['wait', effect] })) if (row.is === 'wait') waits.push(row);
  const open = waits.filter(({ seq, ended }) => seq < frame && (ended === null || ended >= frame));
  return new Map(open.sort((a, b) => a.seq - b.seq).map(({ id, deadline }) => [id, deadline]));
}

function foldEffect(rows: Rows, record: JournalRecord, seq: number): void {
  switch (record.kind) {
    case 'effect': {
      const { effect, plan, name, params, approval } = record;
      if (plan[0] !== SESSION_REDUCER) return;
      const now = rows.get(['now', plan[1]]);
      const place = placeOfEffect(now?.is === 'place' ? placeIn(now) : {}, params);
      const { call_id, tool, ref = null } = callOf(params);
      const emitted = { session: plan[1], ...nullsIn(place), name, call_id, tool, ref, seq, ended: null };
      rows.put(['effect', effect], { is: 'effect', ...emitted });
      if (approval !== undefined) putWait(rows, effect, 'approval', { id: effect, deadline: null, seq });
      return;
    }
    case 'deferred': {
      const known = rows.get(['effect', record.effect]);
      if (known?.is !== 'effect' || known.name !== ASK) return;
      return putWait(rows, record.effect, 'deferred', { id: record.effect, deadline: record.expires, seq });
    }
    case 'ask': {
      if (rows.get(['effect', record.effect]) === undefined) return;
      return putWait(rows, record.effect, record.n, {
        id: `${record.effect}.${record.n}`,
        deadline: record.expires,
        seq,
      });
    }
    case 'command': {
      const { name, value } = record.command;
      if (name === 'sys/Answer@1') endWait(rows, value.effect, value.n, seq);
      if (name !== 'sys/Decide@1' && name !== 'sys/Settle@1') return;
      for (const what of ['approval', 'deferred']) endWait(rows, value.effect, what, seq);
      return;
    }
    case 'receipt':
    case 'settled': {
      const known = rows.get(['effect', record.effect]);
      if (known?.is === 'effect') rows.put(['effect', record.effect], { ...known, ended: known.ended ?? seq });
      return;
    }
    default:
      return;
  }
}

function putWait(
  rows: Rows,
  effect: string,
  what: string | number,
  wait: Pick<RowOf<'wait'>, 'id' | 'deadline' | 'seq'>,
): void {
  rows.put(['wait', effect, what], { is: 'wait', ...wait, ended: null });
}

function endWait(rows: Rows, effect: string, what: string | number, seq: number): void {
  const known = rows.get(['wait', effect, what]);
  if (known?.is === 'wait' && known.ended === null) rows.put(['wait', effect, what], { ...known, ended: seq });
}

function putRoot(rows: Rows, key: Key, seq: number, root: string): void {
  const known = rows.get(key);
  const roots = known?.is === 'run' ? known.roots : [];
  if (roots.at(-1)?.root !== root) rows.put(key, { is: 'run', roots: [...roots, { seq, root }] });
}

function putPlace(rows: Rows, session: string, seq: number, place: Place): void {
  const row = { is: 'place', ...nullsIn(place) } as const;
  rows.put(['now', session], row);
  rows.put(['place', session, seq], row);
}

function nullsIn({ run = null, turn = null, step = null }: { [K in keyof Place]: Place[K] | null }) {
  return { run, turn, step };
}

function placeIn({ run, turn, step }: Pick<RowOf<'place'>, 'run' | 'turn' | 'step'>): Place {
  return {
    ...(run === null ? {} : { run }),
    ...(turn === null ? {} : { turn }),
    ...(step === null ? {} : { step }),
  };
}

function traceIn({ session, name, call_id, tool, ref, ...at }: RowOf<'effect'>): Omit<EffectTrace, 'waits'> {
  return { session, name, place: placeIn(at), call: { call_id, tool, ...(ref === null ? {} : { ref }) } };
}
