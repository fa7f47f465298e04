/**
 * `flow/Queue@1`: a queue of items before a pool of slots.
 *
 * Invariants
 * Q1  An item waits, has a slot, or is unknown; it is granted at most once.
 * Q2  No more items have a slot than the limit allowed when they got it.
 * Q3  The waiting item with the highest priority is granted first, and equal ones in the order of arrival.
 * Q4  Every change that frees a slot leads to the next grant: at once, or in another frame when more than a few items
 *     are to be granted, or when the last grant could not be delivered.
 * Q5  A cell that has failed or ended has no slot.
 */
import { type Address, address, reply, timerFired, undeliverable, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import {
  allRows,
  creates,
  defineReducer,
  type EventHandlers,
  type EventValue,
  from,
  fromAll,
  handledBy,
  type ReducerContext,
} from '@reprise/kernel/define';
import { placeInLine, timeKey, timeOf } from '../kit/keys.js';
import { FLOW_VALUE_BYTES_MAX, GRANTS_AT_ONCE, PRIORITY_MAX, QUEUE_SLOTS_MAX } from './bounds.js';
import { anyone, callerOf, isSame, openFor, party, requireParty, tell } from './parties.js';
import { sizeOf } from './sizes.js';

/** The wire name of the queue reducer. */
export const QUEUE = 'flow/Queue@1';

/** The name of an item, unique among the items of its queue. */
const itemName = z.string().min(1).max(64);

const slots = z.int().min(0).max(QUEUE_SLOTS_MAX);

/** The commands of a queue. */
export const queueCommands = {
  /** Creates the queue. The sender becomes its owner and may change it. */
  'flow/OpenQueue@1': creates(from(z.strictObject({ limit: slots, paused: z.boolean().default(false) }), anyone)),
  ...fromAll(
    {
      /** Adds an item to the queue. Its owner (`reply_to`, or else the sender) gets an event when the item has a slot. */
      'flow/Enqueue@1': z.strictObject({
        item: itemName,
        priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).default(0),
        value: value(),
        reply_to: z.exactOptional(address),
        /** The longest time that the item keeps its slot without `Done`; unlimited when absent. */
        lease_ms: z.exactOptional(z.int().min(1)),
      }),
      /** Ends an item: its slot becomes free. */
      'flow/Done@1': z.strictObject({ item: itemName }),
      /** Removes an item, whether it waits or has a slot. */
      'flow/CancelItem@1': z.strictObject({ item: itemName }),
      /** Changes the number of slots. Items that have a slot keep it. */
      'flow/LimitQueue@1': z.strictObject({ limit: slots }),
      /** Stops granting slots until `Resume`. */
      'flow/PauseQueue@1': z.strictObject({}),
      /** Grants slots again, after a pause. */
      'flow/ResumeQueue@1': z.strictObject({}),
      /** Ends the queue, which must be empty. */
      'flow/CloseQueue@1': z.strictObject({}),
    },
    anyone,
  ),
} as const;

/** The events that owners of items get: list them among the events of their reducer. */
export const queueEvents = {
  /** The item has a slot until `Done`; its lease ends at `until`. */
  'flow/Granted@1': z.strictObject({ item: itemName, value: value(), until: z.nullable(z.int()) }),
  /** The item's lease has ended: its slot is free and the item is removed. */
  'flow/Expired@1': z.strictObject({ item: itemName }),
  /** Another party removed the item. */
  'flow/ItemCancelled@1': z.strictObject({ item: itemName }),
} as const;

/** The facts of a queue, for watchers. */
export const queueFacts = {
  /** An item was removed, because its owner no longer exists. */
  'flow/ItemDropped@1': z.strictObject({ item: itemName, owner: address, code: z.string() }),
} as const;

/** The state of a queue; its items are in tables. */
const queueState = z.strictObject({
  open: z.boolean(),
  owner: party,
  limit: slots,
  paused: z.boolean(),
  /** The number of the next item. */
  next: z.int(),
});

/** An item, by its name. */
const knownItem = z.strictObject({
  /** Its position in the queue. */
  at: z.string(),
  running: z.boolean(),
  owner: address,
  /** The owner of the item. */
  by: party,
  /** The time at which its lease ends. */
  due: z.nullable(z.int()),
});

/** A waiting item, by its position. */
const waitingItem = z.strictObject({
  item: itemName,
  owner: address,
  by: party,
  value: value(),
  lease_ms: z.nullable(z.int()),
});

/** An item with a slot, by its position. */
const runningItem = z.strictObject({ item: itemName, owner: address });

const queueTables = {
  items: knownItem,
  waiting: waitingItem,
  running: runningItem,
  /** The names of items by the end of their lease. */
  leases: itemName,
} as const;

const EVENTS = {
  ...queueCommands,
  'sys/TimerFired@1': timerFired,
  'sys/Undeliverable@1': undeliverable,
  'sys/Reply@1': reply,
} as const;

type State = z.output<typeof queueState>;
type Opening = EventValue<typeof EVENTS, 'flow/OpenQueue@1'>;
type Known = z.output<typeof knownItem>;
type Waiting = z.output<typeof waitingItem>;

type QueueContext = ReducerContext<typeof queueTables>;

const HANDLERS: EventHandlers<State, typeof EVENTS, typeof queueTables> = {
  'flow/OpenQueue@1': (draft, _, ctx) => openFor(draft, ctx),
  'flow/Enqueue@1': (draft, { item, priority, value, reply_to, lease_ms = null }, ctx) => {
    const items = ctx.table('items');
    const waiting = ctx.table('waiting');
    const by = callerOf(ctx);
    const owner = reply_to ?? by;
    if (owner === null) return ctx.reject('no_owner');
    if (items.get(item) !== undefined) ctx.reject('item_known');
    if (sizeOf(value) > FLOW_VALUE_BYTES_MAX) ctx.reject('value_too_large');
    const at = placeInLine(priority, draft.next++);
    items.set(item, { at, running: false, owner, by, due: null });
    waiting.set(at, { item, owner, by, value, lease_ms });
    grant(draft, ctx);
  },
  'flow/Done@1': (draft, { item }, ctx) => {
    const known = knownOr(ctx, item);
    requireParty(ctx, known.owner);
    if (!known.running) ctx.reject('not_running');
    forget(ctx, item, known);
    grant(draft, ctx);
  },
  'flow/CancelItem@1': (draft, { item }, ctx) => {
    const known = knownOr(ctx, item);
    requireParty(ctx, known.owner, known.by);
    forget(ctx, item, known);
    if (!isSame(callerOf(ctx), known.owner)) tell(ctx, known.owner, 'flow/ItemCancelled@1', { item });
    grant(draft, ctx);
  },
  'flow/LimitQueue@1': (draft, { limit }, ctx) => {
    requireParty(ctx, draft.owner);
    draft.limit = limit;
    grant(draft, ctx);
  },
  'flow/PauseQueue@1': (draft, _, ctx) => {
    requireParty(ctx, draft.owner);
    draft.paused = true;
  },
  'flow/ResumeQueue@1': (draft, _, ctx) => {
    requireParty(ctx, draft.owner);
    draft.paused = false;
    grant(draft, ctx);
  },
  'flow/CloseQueue@1': (draft, _, ctx) => {
    requireParty(ctx, draft.owner);
    if (ctx.table('items').size > 0) ctx.reject('not_empty');
    ctx.end();
  },
  'sys/TimerFired@1': (draft, { name }, ctx) => {
    if (name === LEASE) expire(ctx);
    grant(draft, ctx);
  },
  'sys/Undeliverable@1': (_draft, { to, code }, ctx) => {
    for (const [item, known] of runningOf(ctx, to)) {
      forget(ctx, item, known);
      ctx.record('flow/ItemDropped@1', { item, owner: to, code });
    }
    ctx.timer(GRANT, ctx.now); // Q4: the items of a missing cell must not become one cascade
  },
  'sys/Reply@1': (_draft, { to, tag = '', code = '' }, ctx) => {
    const items = ctx.table('items');
    const running = ctx.table('running');
    const { item = '' } = running.get(tag.slice(SLOT_TAG.length)) ?? {};
    const known = items.get(item);
    if (!tag.startsWith(SLOT_TAG) || known === undefined) return;
    forget(ctx, item, known);
    ctx.record('flow/ItemDropped@1', { item, owner: to, code });
    ctx.timer(GRANT, ctx.now); // Q4
  },
};

/** A queue of items before a pool of slots. */
export const queue = defineReducer({
  name: QUEUE,
  state: queueState,
  events: EVENTS,
  facts: queueFacts,
  tables: queueTables,
  init: (_key, event): State => {
    const { limit, paused } = event.value as Opening;
    return { open: false, owner: null, limit, paused, next: 0 };
  },
  reduce: handledBy(HANDLERS),
});

/** Begins the tag of a slot, by which the queue hears that its cell has failed or ended (Q5). */
const SLOT_TAG = 'slot.';

/** The timers: of grants in another frame, and of the next lease. */
const GRANT = 'grant';
const LEASE = 'lease';

function knownOr(ctx: QueueContext, item: string): Known {
  return ctx.table('items').get(item) ?? ctx.reject('item_unknown');
}

/** Grants free slots to the first waiting items. */
function grant(draft: State, ctx: QueueContext): void {
  const waiting = ctx.table('waiting');
  const running = ctx.table('running');
  for (let granted = 0; !draft.paused && running.size < draft.limit; granted++) {
    const first = waiting.first();
    if (first === undefined) return;
    if (granted === GRANTS_AT_ONCE) return ctx.timer(GRANT, ctx.now);
    grantTo(ctx, ...first);
  }
}

function grantTo(ctx: QueueContext, at: string, { item, owner, by, value, lease_ms }: Waiting): void {
  const items = ctx.table('items');
  const waiting = ctx.table('waiting');
  const running = ctx.table('running');
  const leases = ctx.table('leases');
  const due = lease_ms === null ? null : ctx.now + lease_ms;
  waiting.delete(at);
  if (!tell(ctx, owner, 'flow/Granted@1', { item, value, until: due }, `${SLOT_TAG}${at}`)) {
    items.delete(item);
    ctx.record('flow/ItemDropped@1', { item, owner, code: 'event_unknown' });
    return;
  }
  items.set(item, { at, running: true, owner, by, due });
  running.set(at, { item, owner });
  if (due === null) return;
  leases.set(leaseKey(due, at), item);
  awaitLease(ctx);
}

/** Removes an item, whether it waits or has a slot. */
function forget(ctx: QueueContext, item: string, { at, running, due }: Known): void {
  ctx.table('items').delete(item);
  ctx.table(running ? 'running' : 'waiting').delete(at);
  if (running) ctx.forget(`${SLOT_TAG}${at}`);
  if (due === null) return;
  ctx.table('leases').delete(leaseKey(due, at));
  awaitLease(ctx);
}

/** Takes back the slots of items whose lease has ended. */
function expire(ctx: QueueContext): void {
  const items = ctx.table('items');
  const leases = ctx.table('leases');
  for (const [, item] of leases.range({ before: timeKey(ctx.now + 1), limit: GRANTS_AT_ONCE })) {
    const known = items.get(item);
    if (known === undefined) continue;
    forget(ctx, item, known);
    tell(ctx, known.owner, 'flow/Expired@1', { item });
  }
  awaitLease(ctx);
}

function leaseKey(due: number, at: string): string {
  return `${timeKey(due)}.${at}`;
}

/** Wakes when the next lease ends. */
function awaitLease(ctx: QueueContext): void {
  const first = ctx.table('leases').first();
  if (first === undefined) ctx.clearTimer(LEASE);
  else ctx.timer(LEASE, timeOf(first[0]));
}

/** The items of an owner that have a slot; at most as many as slots. */
function runningOf(ctx: QueueContext, owner: Address): [string, Known][] {
  const items = ctx.table('items');
  const running = ctx.table('running');
  return [...allRows(running)].flatMap(([, one]): [string, Known][] => {
    const known = isSame(one.owner, owner) ? items.get(one.item) : undefined;
    return known === undefined ? [] : [[one.item, known]];
  });
}
