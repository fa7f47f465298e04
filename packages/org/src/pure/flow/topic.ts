/**
 * `flow/Topic@1`: publications for any number of subscribers.
 *
 * Invariants
 * T1  Publications are delivered one after the other: `telling` advances only when every subscriber was considered, in
 *     the order of their addresses. So each subscriber gets its publications in the order of publishing.
 * T2  A frame delivers a bounded number; the rest follows in later frames, each started by a timer that is due at once,
 *     where the last one ended. A crash between two of them loses nothing and repeats nothing.
 * T3  A subscriber that requests retained publications is `behind` until it has got all up to `telling`, inclusive;
 *     then it joins the others and gets what follows. It is in one of the two tables, never in both.
 * T4  A publication is retained until it is delivered and, beyond that, while it is among the last `retain`.
 */
import { type Address, address, NOTICES, timerFired, undeliverable, type Value, value } from '@reprise/contracts';
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
import { key } from '../kit/keys.js';
import {
  CONDITIONS_MAX,
  FLOW_VALUE_BYTES_MAX,
  NOTIFIED_AT_ONCE,
  NOTIFIED_BYTES_MAX,
  TOPIC_RETAINED_MAX,
  TOPIC_WAITING_MAX,
} from './bounds.js';
import { addressKey, anyone, callerOf, isSame, openFor, party, requireParty, tell } from './parties.js';
import { sizeOf } from './sizes.js';

/** The wire name of the topic reducer. */
export const TOPIC = 'flow/Topic@1';

/** The name of a publication: its subject. */
const publicationName = z.string().min(1).max(128);

const cursor = z.int().min(0);

/** The filter of a subscriber: publications of a name, and with these fields at the top of their value. */
export const filter = z.strictObject({
  name: z.exactOptional(publicationName),
  where: z
    .array(z.tuple([z.string().max(128), z.union([z.null(), z.boolean(), z.number(), z.string().max(256)])]))
    .max(CONDITIONS_MAX)
    .default([]),
});

/** The commands of a topic. */
export const topicCommands = {
  /** Creates the topic; it retains the last `retain` publications for subscribers that request them. */
  'flow/OpenTopic@1': creates(
    from(z.strictObject({ retain: z.int().min(0).max(TOPIC_RETAINED_MAX).default(0) }), anyone),
  ),
  ...fromAll(
    {
      /** Publishes to every subscriber whose filter matches. */
      'flow/Publish@1': z.strictObject({ name: publicationName, value: value() }),
      /**
       * Subscribes the sender, or changes its filter; the owner of the topic may name another `subscriber`. Without `from`
       * the subscriber gets all later publications; with it, also the retained ones from that cursor on.
       */
      'flow/Subscribe@1': z.strictObject({
        filter: filter.default({ where: [] }),
        from: z.exactOptional(cursor),
        subscriber: z.exactOptional(address),
      }),
      /** Ends the subscription of the sender, or of the `subscriber` that the owner of the topic names. */
      'flow/Unsubscribe@1': z.strictObject({ subscriber: z.exactOptional(address) }),
      /** Ends the topic, when no publication waits. */
      'flow/CloseTopic@1': z.strictObject({}),
    },
    anyone,
  ),
} as const;

/**
 * The event for subscribers: list it among the events of a reducer. Cursors rise; missing ones were filtered or
 * removed.
 */
export const topicEvents = {
  'flow/Published@1': z.strictObject({ cursor, name: publicationName, value: value() }),
} as const;

/**
 * The event for the owner of a topic: the topic was revived. What was sent to it while its cell had failed is lost, such as
 * subscriptions. An owner that does not list it among its events hears nothing.
 */
export const topicOwnerEvents = { 'flow/TopicRevived@1': z.strictObject({}) } as const;

/** The facts of a topic, for watchers. */
export const topicFacts = {
  /** A subscription was removed, because its subscriber no longer exists. */
  'flow/SubscriberDropped@1': z.strictObject({ subscriber: address, code: z.string() }),
} as const;

/** The state of a topic; publications and subscribers are in tables. */
const topicState = z.strictObject({
  open: z.boolean(),
  owner: party,
  retain: z.int(),
  /** The cursor of the next publication. */
  next: cursor,
  /** The cursor of the oldest publication that is retained. */
  oldest: cursor,
  /** The publication in delivery: all earlier ones were delivered, all later ones wait. */
  telling: cursor,
  /** The last subscriber that was considered for it; null for none. */
  told: z.nullable(z.string()),
});

/** A publication, by its cursor. */
const publication = z.strictObject({ name: publicationName, value: value() });

/** A subscription, by its subscriber's address. */
const subscription = z.strictObject({
  to: address,
  filter,
  /** The first publication that the subscriber is to get. */
  from: cursor,
});

/** The tables of a topic; a subscriber that requested retained publications is `behind` until it has them. */
const topicTables = { backlog: publication, subscribers: subscription, behind: subscription } as const;

const EVENTS = {
  ...topicCommands,
  'sys/TimerFired@1': timerFired,
  'sys/Undeliverable@1': undeliverable,
  'sys/Revived@1': NOTICES['sys/Revived@1'],
} as const;

type State = z.output<typeof topicState>;
type Opening = EventValue<typeof EVENTS, 'flow/OpenTopic@1'>;
type Filter = z.output<typeof filter>;
type Publication = z.output<typeof publication>;
type Subscription = z.output<typeof subscription>;

type TopicContext = ReducerContext<typeof topicTables>;

const HANDLERS: EventHandlers<State, typeof EVENTS, typeof topicTables> = {
  'flow/OpenTopic@1': (draft, _, ctx) => openFor(draft, ctx),
  'flow/Publish@1': (draft, { name, value }, ctx) => {
    if (sizeOf(value) > FLOW_VALUE_BYTES_MAX) ctx.reject('value_too_large');
    if (draft.next - draft.telling >= TOPIC_WAITING_MAX) ctx.reject('too_many_waiting');
    const idle = draft.telling === draft.next;
    ctx.table('backlog').set(key(draft.next++), { name, value });
    if (idle) work(draft, ctx); // otherwise a timer is set already
  },
  'flow/Subscribe@1': (draft, { filter, from, subscriber }, ctx) => {
    const to = subscriberOf(draft, subscriber, ctx);
    if (to === null) return ctx.reject('no_cell');
    const at = addressKey(ctx, to);
    const subscribers = ctx.table('subscribers');
    const behind = ctx.table('behind');
    if (from === undefined) return subscribe({ to, filter, from: draft.next }, at, ctx);
    subscribers.delete(at);
    behind.set(at, { to, filter, from: Math.max(from, draft.oldest) });
    work(draft, ctx);
  },
  'flow/Unsubscribe@1': (draft, { subscriber }, ctx) => {
    const to = subscriberOf(draft, subscriber, ctx);
    if (to !== null) unsubscribe(addressKey(ctx, to), ctx);
  },
  'flow/CloseTopic@1': (draft, _, ctx) => {
    requireParty(ctx, draft.owner);
    if (draft.telling < draft.next || ctx.table('behind').size > 0) ctx.reject('not_delivered');
    ctx.end();
  },
  'sys/TimerFired@1': (draft, _, ctx) => work(draft, ctx),
  'sys/Revived@1': (draft, _, ctx) => {
    work(draft, ctx); // the timer may have fired in vain
    const { owner } = draft;
    if (owner !== null && ctx.takes(owner, REVIVED)) tell(ctx, owner, REVIVED, {});
  },
  'sys/Undeliverable@1': (_draft, { to, code }, ctx) => {
    if (FAILED.includes(code)) return; // it is there, and takes publications again when it is revived
    if (unsubscribe(addressKey(ctx, to), ctx)) ctx.record('flow/SubscriberDropped@1', { subscriber: to, code });
  },
};

const REVIVED = 'flow/TopicRevived@1';

/** The codes of a delivery to a cell that has failed, before or by it. */
const FAILED: readonly string[] = ['cell_failed', 'faulted'];

/** Publications for any number of subscribers. */
export const topic = defineReducer({
  name: TOPIC,
  state: topicState,
  events: EVENTS,
  facts: topicFacts,
  tables: topicTables,
  init: (_key, event): State => {
    const { retain } = event.value as Opening;
    return { open: false, owner: null, retain, next: 0, oldest: 0, telling: 0, told: null };
  },
  reduce: handledBy(HANDLERS),
});

/** The cell whose subscription a command changes: the caller, or the one that the owner names. */
function subscriberOf(draft: State, named: Address | undefined, ctx: TopicContext): Address | null {
  const caller = callerOf(ctx);
  if (named !== undefined && !isSame(named, caller)) requireParty(ctx, draft.owner);
  return named ?? caller;
}

/** Changes a subscription in place, so that its position stays the same. */
function subscribe(wanted: Subscription, at: string, ctx: TopicContext): void {
  const subscribers = ctx.table('subscribers');
  const behind = ctx.table('behind');
  const late = behind.get(at);
  if (late !== undefined) behind.set(at, { ...wanted, from: late.from });
  else subscribers.set(at, { ...wanted, from: subscribers.get(at)?.from ?? wanted.from });
}

function unsubscribe(at: string, ctx: TopicContext): boolean {
  const [one, other] = [ctx.table('subscribers').delete(at), ctx.table('behind').delete(at)];
  return one || other;
}

interface Budget {
  /** Subscribers considered and publications read. */
  steps: number;
  bytes: number;
}

/** The subscribers that one frame considers, whether they match or not: considering has a cost, too. */
const LOOKED_AT_ONCE = 4 * NOTIFIED_AT_ONCE;

/** The bytes of a delivery besides the value: names and addresses. */
const ENVELOPE_BYTES = 512;

/** The cost of a subscriber that gets the publication; one that is only considered costs one. */
const NOTIFIED_STEPS = LOOKED_AT_ONCE / NOTIFIED_AT_ONCE;

/** Does what fits in a frame: first for one subscriber that is behind, then for the publication in delivery. */
function work(draft: State, ctx: TopicContext): void {
  const budget: Budget = { steps: LOOKED_AT_ONCE / 2, bytes: NOTIFIED_BYTES_MAX / 2 };
  catchUp(draft, budget, ctx);
  budget.steps += LOOKED_AT_ONCE / 2; // a subscriber that is behind delays no other: half of a frame is for the others
  budget.bytes += NOTIFIED_BYTES_MAX / 2;
  while (draft.telling < draft.next && budget.steps > 0 && budget.bytes > 0) tellOne(draft, budget, ctx);
  if (draft.telling < draft.next || ctx.table('behind').size > 0) ctx.timer('tell', ctx.now);
}

/** Delivers retained publications to the first subscriber that is behind, and lets it join when it has them (T3). */
function catchUp(draft: State, budget: Budget, ctx: TopicContext): void {
  const backlog = ctx.table('backlog');
  const behind = ctx.table('behind');
  const subscribers = ctx.table('subscribers');
  const first = behind.first();
  if (first === undefined) return;
  const [at, one] = first;
  const until = Math.min(draft.telling + 1, draft.next);
  let from = Math.max(one.from, draft.oldest);
  for (; from < until && budget.steps > 0 && budget.bytes > 0; from++) {
    const found = backlog.get(key(from));
    budget.steps--;
    if (found !== undefined && !tellTo(one, from, found, budget, ctx)) return drop(at, one, ctx);
  }
  behind.delete(at);
  if (from >= until) subscribers.set(at, { ...one, from: Math.max(from, until) });
  else behind.set(at, { ...one, from });
}

/** Delivers one publication to the subscribers that were not considered yet, as far as the budget allows (T1). */
function tellOne(draft: State, budget: Budget, ctx: TopicContext): void {
  const backlog = ctx.table('backlog');
  const subscribers = ctx.table('subscribers');
  const found = backlog.get(key(draft.telling));
  const next =
    found === undefined
      ? []
      : subscribers.range({ ...(draft.told === null ? {} : { after: draft.told }), limit: CONSIDERED_AT_ONCE });
  for (const [at, one] of next) {
    if (budget.steps <= 0 || budget.bytes <= 0) return;
    budget.steps--;
    draft.told = at;
    const wants = found !== undefined && one.from <= draft.telling;
    if (wants && !tellTo(one, draft.telling, found, budget, ctx)) drop(at, one, ctx);
  }
  if (next.length > 0) return; // there may be more subscribers behind the last one
  budget.steps--;
  draft.telling++;
  draft.told = null;
  forgetOld(draft, ctx);
}

/** The subscribers that are read at once; the steps bound how many hear of a publication in one delivery. */
const CONSIDERED_AT_ONCE = 256;

/** @returns false when the subscriber's reducer rejects the event */
function tellTo(
  { to, filter }: Subscription,
  cursor: number,
  { name, value }: Publication,
  budget: Budget,
  ctx: TopicContext,
): boolean {
  if (!passes(filter, name, value)) return true;
  budget.steps -= NOTIFIED_STEPS - 1;
  budget.bytes -= sizeOf(value) + ENVELOPE_BYTES;
  return tell(ctx, to, 'flow/Published@1', { cursor, name, value });
}

function drop(at: string, { to }: Subscription, ctx: TopicContext): void {
  unsubscribe(at, ctx);
  ctx.record('flow/SubscriberDropped@1', { subscriber: to, code: 'event_unknown' });
}

function passes({ name, where }: Filter, published: string, value: Value): boolean {
  if (name !== undefined && name !== published) return false;
  if (where.length === 0) return true;
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap && where.every(([field, wanted]) => Object.hasOwn(value, field) && Reflect.get(value, field) === wanted);
}

/** The publications removed after a delivery: more than one, so that a surplus shrinks. */
const FORGOTTEN_AT_ONCE = 8;

/** Removes publications that were delivered and are not among the last (T4). */
function forgetOld(draft: State, ctx: TopicContext): void {
  const backlog = ctx.table('backlog');
  const keep = Math.min(draft.telling, Math.max(0, draft.next - draft.retain));
  for (let n = 0; n < FORGOTTEN_AT_ONCE && draft.oldest < keep; n++) backlog.delete(key(draft.oldest++));
}
