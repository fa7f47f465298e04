/**
 * `webhooks/Outbox@1`: what one receiver is told, until it has taken it. Its key is the name of the receiver.
 *
 * Invariants
 * O1  A notice enters once, however often it is brought: its place is behind those that were taken in.
 * O2  A delivery that entered waits, is under way, was taken, or is undelivered with a fact that says so.
 * O3  At most {@link UNDER_WAY_MAX} are under way; to a receiver that failed last, one, after its rest.
 * O4  What waits, and what is listed as undelivered, is bounded. No frame does more than a bounded number of steps.
 * O5  It holds neither an address nor a secret, nor anything that was said.
 */
import { defineReducer, type EventHandlers, type EventValue, handledBy } from '@reprise/kernel/define';
import { enqueue, nextDue, nextEnd, type OutboxContext, type Placed, placeKey, takeEnded, takeFirst } from './line.js';
import { AT_ONCE, OUTBOX, OUTBOX_MAX, UNDELIVERED_MAX, UNDER_WAY_MAX } from './names.js';
import type { Notice } from './notice.js';
import { type OutboxState, outboxEvents, outboxFacts, outboxState, outboxTables } from './outbox-schemas.js';
import { ATTEMPTED, type Attempted, postPlan } from './post.js';
import { restAfter, SCHEDULE, waitAfter } from './schedule.js';

/** The status by which a receiver says that it is gone. */
const GONE = 410;

const HANDLERS: EventHandlers<OutboxState, typeof outboxEvents, typeof outboxTables> = {
  'webhooks/Open@1': () => undefined, // an outbox that is there goes on from where it was
  'webhooks/Due@1': (draft, { seq, notices, last }, ctx) => {
    for (const one of notices) takeIn(draft, seq, one, ctx);
    if (last) looks(draft, seq + 1);
    goOn(draft, ctx);
  },
  'webhooks/Looked@1': (draft, { looked }) => looks(draft, looked),
  'webhooks/Retry@1': (draft, { id }, ctx) => {
    const again = undelivered(ctx, id);
    if (id !== null && again.length === 0) ctx.reject('delivery_unknown');
    if (id !== null && roomIn(ctx) <= 0) ctx.reject('outbox_full');
    if (draft.gone) ctx.record('webhooks/Returned@1', {});
    Object.assign(draft, { gone: false, failures: 0, rested: ctx.now });
    for (const { at, delivery } of again.slice(0, Math.max(0, roomIn(ctx)))) {
      ctx.table('undelivered').delete(at);
      enqueue(ctx, { at, delivery: { ...delivery, ends: ctx.now + SCHEDULE.giveUpMs, attempts: 0 } }, ctx.now);
    }
    goOn(draft, ctx);
  },
  [ATTEMPTED]: (draft, attempt, ctx) => {
    const placed = takeUnderWay(ctx, attempt.at);
    if (placed !== undefined) judge(draft, placed, attempt, ctx);
    goOn(draft, ctx);
  },
  'sys/TimerFired@1': (draft, _, ctx) => goOn(draft, ctx),
  'sys/PlanFailed@1': (draft, { plan: [, , ordinal] }, ctx) => {
    for (const [at, { plan }] of ctx.table('under_way').range({ limit: UNDER_WAY_MAX }))
      if (plan === ordinal) fails(draft, takeUnderWay(ctx, at), { code: 'plan_failed', retryAfterMs: null }, ctx);
    goOn(draft, ctx);
  },
  // The plans of a cell end with its fault: what was under way is tried again.
  'sys/Revived@1': (draft, _, ctx) => {
    for (const [at] of ctx.table('under_way').range({ limit: UNDER_WAY_MAX }))
      fails(draft, takeUnderWay(ctx, at), { code: 'cell_failed', retryAfterMs: null }, ctx);
    goOn(draft, ctx);
  },
};

/** The deliveries to one receiver. */
export const outboxReducer = defineReducer({
  name: OUTBOX,
  state: outboxState,
  events: outboxEvents,
  facts: outboxFacts,
  tables: outboxTables,
  init: (_key, event): OutboxState => {
    const { looked } = event.value as EventValue<typeof outboxEvents, 'webhooks/Open@1'>;
    return { looked: [looked, 0], failures: 0, rested: 0, gone: false, delivered: 0, undelivered: 0 };
  },
  reduce: handledBy(HANDLERS),
});

/** O1: takes a notice in, unless it was taken in before. */
function takeIn(draft: OutboxState, seq: number, { record, ...notice }: Notice, ctx: OutboxContext): void {
  const [frame, next] = draft.looked;
  if (seq < frame || (seq === frame && record < next)) return;
  draft.looked = [seq, record + 1];
  if (draft.gone) return;
  const at = placeKey(seq, record);
  const id = `msg_${ctx.id(at)}`;
  const placed = { at, delivery: { id, ...notice, ends: ctx.now + SCHEDULE.giveUpMs, attempts: 0, code: null } };
  if (roomIn(ctx) <= 0) giveUp(draft, placed, 'outbox_full', ctx);
  else enqueue(ctx, placed, ctx.now);
}

/** O4: how many more deliveries may wait. One that is under way may come back. */
function roomIn(ctx: OutboxContext): number {
  return OUTBOX_MAX - ctx.table('waiting').size - ctx.table('under_way').size;
}

/** Everything before a frame was taken in. */
function looks(draft: OutboxState, looked: number): void {
  if (looked > draft.looked[0]) draft.looked = [looked, 0];
}

/** What an answer of the receiver, or its absence, means for a delivery. */
function judge(
  draft: OutboxState,
  placed: Placed,
  { status, code, retry_after_ms }: Attempted,
  ctx: OutboxContext,
): void {
  if (status !== null && status >= 200 && status < 300) {
    Object.assign(draft, { failures: 0, rested: ctx.now, delivered: draft.delivered + 1 });
    return;
  }
  if (status === GONE) {
    if (!draft.gone) ctx.record('webhooks/Gone@1', { id: placed.delivery.id });
    draft.gone = true;
    return giveUp(draft, counted(placed), 'gone', ctx);
  }
  fails(draft, placed, { code: code ?? `status_${status}`, retryAfterMs: retry_after_ms }, ctx);
}

interface Failure {
  readonly code: string;
  readonly retryAfterMs: number | null;
}

/** A failed attempt: the delivery waits, and the receiver rests. */
function fails(
  draft: OutboxState,
  placed: Placed | undefined,
  { code, retryAfterMs }: Failure,
  ctx: OutboxContext,
): void {
  if (placed === undefined) return;
  draft.failures++;
  draft.rested = ctx.now + restAfter(draft.failures, retryAfterMs);
  const { at, delivery } = counted(placed);
  if (ctx.now >= delivery.ends) return giveUp(draft, { at, delivery }, code, ctx);
  enqueue(ctx, { at, delivery: { ...delivery, code } }, ctx.now + waitAfter(delivery.attempts, ctx.random()));
}

function counted({ at, delivery }: Placed): Placed {
  return { at, delivery: { ...delivery, attempts: delivery.attempts + 1 } };
}

/** O2: says that a delivery is undelivered, and lists it. */
function giveUp(draft: OutboxState, { at, delivery }: Placed, code: string, ctx: OutboxContext): void {
  const { id, type, attempts, data } = delivery;
  const listed = ctx.table('undelivered');
  draft.undelivered++;
  listed.set(at, { ...delivery, code, since: ctx.now });
  const oldest = listed.first();
  if (listed.size > UNDELIVERED_MAX && oldest !== undefined) listed.delete(oldest[0]); // O4
  ctx.record('webhooks/Undelivered@1', { id, type, event_seq: data.event_seq, attempts, code });
}

/** Gives up what has waited for too long, starts what is due and may start, and wakes when there is more to do. */
function goOn(draft: OutboxState, ctx: OutboxContext): void {
  const by = draft.gone ? Number.MAX_SAFE_INTEGER - 1 : ctx.now;
  for (const placed of takeEnded(ctx, by, AT_ONCE))
    giveUp(draft, placed, draft.gone ? 'gone' : (placed.delivery.code ?? 'never_tried'), ctx);
  while (mayStart(draft, ctx)) start(takeFirst(ctx), ctx);
  wake(draft, ctx);
}

// O3
function mayStart(draft: OutboxState, ctx: OutboxContext): boolean {
  const due = nextDue(ctx);
  if (draft.gone || due === undefined || Math.max(due, draft.rested) > ctx.now) return false;
  return ctx.table('under_way').size < (draft.failures > 0 ? 1 : UNDER_WAY_MAX);
}

function start(placed: Placed | undefined, ctx: OutboxContext): void {
  if (placed === undefined) return;
  const { at, delivery } = placed;
  const { id, type, data } = delivery;
  const [, receiver] = ctx.address;
  const plan = ctx.emit({ plan: postPlan, input: { at, post: { receiver, id, type, at: delivery.at, data } } });
  ctx.table('under_way').set(at, { ...delivery, plan });
}

function takeUnderWay(ctx: OutboxContext, at: string): Placed | undefined {
  const found = ctx.table('under_way').get(at);
  if (found === undefined) return undefined;
  const { plan: _, ...delivery } = found;
  ctx.table('under_way').delete(at);
  return { at, delivery };
}

/** The undelivered ones that are taken up again: the one with this id, or the oldest. */
function undelivered(ctx: OutboxContext, id: string | null): readonly Placed[] {
  const listed = ctx.table('undelivered').range({ limit: id === null ? AT_ONCE : UNDELIVERED_MAX });
  return listed.flatMap(([at, { since: _, ...delivery }]) =>
    id === null || delivery.id === id ? [{ at, delivery }] : [],
  );
}

const WAKE = 'wake';

/** Wakes when the next delivery may start, or the next one is given up. */
function wake(draft: OutboxState, ctx: OutboxContext): void {
  const [due, end] = [nextDue(ctx), nextEnd(ctx)];
  const isBusy = ctx.table('under_way').size >= (draft.failures > 0 ? 1 : UNDER_WAY_MAX);
  const starts = due === undefined || draft.gone || isBusy ? [] : [Math.max(due, draft.rested)];
  const ends = end === undefined ? [] : [draft.gone ? ctx.now : end];
  const times = [...starts, ...ends];
  if (times.length === 0) ctx.clearTimer(WAKE);
  else ctx.timer(WAKE, Math.max(ctx.now, Math.min(...times)));
}
