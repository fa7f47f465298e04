/**
 * `flow/Promise@1`: one result of several parts, awaited by many cells.
 *
 * Invariants
 * P1  The first write of a part is final; the promise ends once, and its result never changes.
 * P2  It ends when enough parts are written, at its deadline, or when it is cancelled: whichever is first.
 * P3  Each cell that awaits it when it ends gets one event. A later write or await gets the event at once.
 */
import type { Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import {
  defineReducer,
  type EventHandlers,
  type EventValue,
  handledBy,
  type ReducerContext,
} from '@reprise/kernel/define';
import { PROMISE_BYTES_MAX } from './bounds.js';
import { addressKey, callerOf, openFor, requireParty, tell, toldAtOnce } from './parties.js';
import {
  PROMISE,
  promiseCommands,
  promiseNotices,
  type promiseSettlement,
  promiseState,
  promiseTables,
} from './promise-contract.js';
import { sizeOf } from './sizes.js';

const EVENTS = { ...promiseCommands, ...promiseNotices } as const;

type State = z.output<typeof promiseState>;
type Settlement = z.output<typeof promiseSettlement>;
/** What the reducer may do, with the tables of a promise. */
type PromiseContext = ReducerContext<typeof promiseTables>;

type Opening = EventValue<typeof EVENTS, 'flow/OpenPromise@1'>;

const HANDLERS: EventHandlers<State, typeof EVENTS, typeof promiseTables> = {
  'flow/OpenPromise@1': (draft, { parts, deadline }, ctx) => {
    openFor(draft, ctx, callerOf(ctx));
    if (new Set(parts).size !== parts.length) ctx.reject('part_repeated');
    if (draft.needs > parts.length) ctx.reject('needs_too_many');
    if (deadline !== undefined) ctx.timer(DEADLINE, deadline);
  },
  'flow/Write@1': (draft, { part, ok, value }, ctx) => {
    if (draft.outcome !== null) return answerLate(draft.outcome, ctx);
    if (!draft.parts.includes(part)) ctx.reject('part_unknown');
    if (Object.hasOwn(draft.written, part)) ctx.reject('already_written');
    draft.bytes += sizeOf(value);
    if (draft.bytes > PROMISE_BYTES_MAX) ctx.reject('value_too_large');
    draft.written[part] = { ok, value };
    decide(draft, ctx);
  },
  'flow/Await@1': (draft, _, ctx) => {
    const caller = callerOf(ctx);
    if (caller === null) return ctx.reject('no_cell');
    const key = addressKey(ctx, caller);
    const waiting = ctx.table('waiting');
    if (waiting.get(key) !== undefined) return;
    if (draft.outcome === null) waiting.set(key, caller);
    else tell(ctx, caller, 'flow/Settled@1', draft.outcome);
  },
  'flow/Unawait@1': (_draft, _, ctx) => {
    const caller = callerOf(ctx);
    if (caller !== null) ctx.table('waiting').delete(addressKey(ctx, caller));
  },
  'flow/CancelPromise@1': (draft, _, ctx) => {
    requireParty(ctx, draft.owner);
    if (draft.outcome !== null) return answerLate(draft.outcome, ctx);
    settle(draft, { status: 'cancelled', values: {} }, ctx);
  },
  'flow/ClosePromise@1': (draft, _, ctx) => {
    requireParty(ctx, draft.owner);
    if (draft.outcome === null || ctx.table('waiting').size > 0) ctx.reject('not_resolved');
    ctx.end();
  },
  'sys/TimerFired@1': (draft, _, ctx) => {
    if (draft.outcome === null) settle(draft, { status: 'expired', values: {} }, ctx);
    else notify(draft, draft.outcome, ctx);
  },
};

/** A result with several writers, awaited by many cells. */
export const promise = defineReducer({
  name: PROMISE,
  state: promiseState,
  events: EVENTS,
  tables: promiseTables,
  init: (_key, event): State => {
    const { parts, needs } = event.value as Opening;
    const count = needs === 'any' ? 1 : needs === 'all' ? parts.length : needs;
    return { open: false, owner: null, parts, needs: count, written: {}, bytes: 0, outcome: null };
  },
  reduce: handledBy(HANDLERS),
});

const DEADLINE = 'deadline';
const NOTIFY = 'notify';

/** P3: a cell gets the result as an event; an outside caller reads it in the refusal. */
function answerLate(outcome: Settlement, ctx: PromiseContext): void {
  const caller = callerOf(ctx);
  if (caller === null) ctx.reject(`settled/${outcome.status}`);
  tell(ctx, caller, 'flow/Settled@1', outcome);
}

/** P2: ends the promise when the written parts decide it. */
function decide(draft: State, ctx: PromiseContext): void {
  const failed = Object.values(draft.written).filter(({ ok }) => !ok).length;
  const succeeded = Object.keys(draft.written).length - failed;
  if (succeeded >= draft.needs) settle(draft, { status: 'fulfilled', values: valuesOf(draft, true) }, ctx);
  else if (draft.parts.length - failed < draft.needs) {
    settle(draft, { status: 'rejected', values: valuesOf(draft, false) }, ctx);
  }
}

function valuesOf({ written }: State, which: boolean): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(written).flatMap(([part, { ok, value }]) => (ok === which ? [[part, value]] : [])),
  );
}

function settle(draft: State, outcome: Settlement, ctx: PromiseContext): void {
  draft.outcome = outcome;
  ctx.clearTimer(DEADLINE);
  notify(draft, outcome, ctx);
}

/** Notifies as many cells as fit in a frame; the others follow in later frames. */
function notify(draft: State, outcome: Settlement, ctx: PromiseContext): void {
  const waiting = ctx.table('waiting');
  for (const [key, to] of waiting.range({ limit: toldAtOnce(ENVELOPE_BYTES + draft.bytes) })) {
    waiting.delete(key);
    tell(ctx, to, 'flow/Settled@1', outcome);
  }
  if (waiting.size > 0) ctx.timer(NOTIFY, ctx.now);
}

/** The bytes of a notification besides its values: names, addresses, and the removed entry. */
const ENVELOPE_BYTES = 512;
