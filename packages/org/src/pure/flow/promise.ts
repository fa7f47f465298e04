/**
 * `flow/Promise@1`: one result of several parts, awaited by many cells.
 *
 * Invariants
 * P1  The first write of a part is final; the promise ends once, and its result never changes.
 * P2  It ends when enough parts are written, at its deadline, or when it is cancelled: whichever is first.
 * P3  Each cell that awaits it when it ends gets one event. A later write or await gets the event at once.
 */
import { address, timerFired, type Value, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import {
  creates,
  defineReducer,
  type EventHandlers,
  type EventValue,
  from,
  fromAll,
  handledBy,
  type ReducerContext,
} from '@reprise/kernel/define';
import { PROMISE_BYTES_MAX, PROMISE_PARTS_MAX } from './bounds.js';
import { addressKey, anyone, callerOf, openFor, party, requireParty, tell, toldAtOnce } from './parties.js';
import { sizeOf } from './sizes.js';

/** The wire name of the promise reducer. */
export const PROMISE = 'flow/Promise@1';

const partName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/);

const values = z.record(partName, value());

const promiseSettlement = z.strictObject({
  status: z.enum(['fulfilled', 'rejected', 'expired', 'cancelled']),
  /** The parts that decided it: those that succeeded, or, when it was rejected, those that failed. */
  values,
});

/** The commands of a promise. */
export const promiseCommands = {
  /**
   * Creates the promise: fulfilled by any part, by all, or by a number of them. `deadline` is in journal milliseconds.
   */
  'flow/OpenPromise@1': creates(
    from(
      z.strictObject({
        parts: z.array(partName).min(1).max(PROMISE_PARTS_MAX),
        needs: z.union([z.enum(['any', 'all']), z.int().min(1).max(PROMISE_PARTS_MAX)]).default('all'),
        deadline: z.exactOptional(z.int().min(0)),
      }),
      anyone,
    ),
  ),
  ...fromAll(
    {
      /** Writes a part: the first write decides the part. */
      'flow/Write@1': z.strictObject({ part: partName, ok: z.boolean().default(true), value: value() }),
      /** Requests one notification of its end; at once when it has ended. */
      'flow/Await@1': z.strictObject({}),
      /** Withdraws a request to be notified. */
      'flow/Unawait@1': z.strictObject({}),
      /** Ends it without a result. */
      'flow/CancelPromise@1': z.strictObject({}),
      /** Removes a promise that has ended and has sent all its notifications. */
      'flow/ClosePromise@1': z.strictObject({}),
    },
    anyone,
  ),
} as const;

/** The event for cells that await a promise, or write to it too late: list it among the events of a reducer. */
export const promiseEvents = { 'flow/Settled@1': promiseSettlement } as const;

/** The state of a promise; the cells that await it are in a table. */
const promiseState = z.strictObject({
  open: z.boolean(),
  owner: party,
  parts: z.array(partName),
  /** The number of parts that must succeed. */
  needs: z.int(),
  written: z.record(partName, z.strictObject({ ok: z.boolean(), value: value() })),
  /** The bytes of everything that was written. */
  bytes: z.int(),
  outcome: z.nullable(promiseSettlement),
});

/** The tables of a promise: the cells that await it, by address. */
const promiseTables = { waiting: address } as const;

const EVENTS = { ...promiseCommands, 'sys/TimerFired@1': timerFired } as const;

type State = z.output<typeof promiseState>;
type Settlement = z.output<typeof promiseSettlement>;
type PromiseContext = ReducerContext<typeof promiseTables>;

type Opening = EventValue<typeof EVENTS, 'flow/OpenPromise@1'>;

const HANDLERS: EventHandlers<State, typeof EVENTS, typeof promiseTables> = {
  'flow/OpenPromise@1': (draft, { parts, deadline }, ctx) => {
    openFor(draft, ctx);
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
