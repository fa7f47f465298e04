/** The contract of queues: what they take, what they tell, what they keep (`flow/Queue@1`). */
import { address, timerFired, undeliverable, value } from '@reprise/contracts';
import { creates } from '@reprise/kernel/define';
import * as z from 'zod';
import { PRIORITY_MAX, QUEUE_SLOTS_MAX } from './bounds.js';
import { party } from './parties.js';

/** The wire name of the queue reducer. */
export const QUEUE = 'flow/Queue@1';

/** The name of an item, unique in its queue while it is there. */
export const itemName = z.string().min(1).max(64);

const slots = z.int().min(0).max(QUEUE_SLOTS_MAX);

/** What a queue takes. */
export const queueCommands = {
  /** Makes the queue. Whoever opens it may change it. */
  'flow/OpenQueue@1': creates(z.strictObject({ limit: slots, paused: z.boolean().default(false) })),
  /** Puts an item in line. Its owner, the sender unless `reply_to` says otherwise, is told when it has a slot. */
  'flow/Enqueue@1': z.strictObject({
    item: itemName,
    priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).default(0),
    value: value(),
    reply_to: z.exactOptional(address),
    /** How long the slot is kept without `Done`; for ever when absent. */
    lease_ms: z.exactOptional(z.int().min(1)),
  }),
  /** The owner is done with an item: its slot is free. */
  'flow/Done@1': z.strictObject({ item: itemName }),
  /** Takes an item back, whether it waits or has a slot. */
  'flow/CancelItem@1': z.strictObject({ item: itemName }),
  /** Changes how many slots there are. Items that have one keep it. */
  'flow/LimitQueue@1': z.strictObject({ limit: slots }),
  /** Grants nothing until it is resumed. */
  'flow/PauseQueue@1': z.strictObject({}),
  /** Grants again. */
  'flow/ResumeQueue@1': z.strictObject({}),
  /** Ends an empty queue. */
  'flow/CloseQueue@1': z.strictObject({}),
} as const;

/** What an owner of items is told: list them among the events of its reducer. */
export const queueEvents = {
  /** The item has a slot, until `Done`; `until` is when its lease ends. */
  'flow/Granted@1': z.strictObject({ item: itemName, value: value(), until: z.nullable(z.int()) }),
  /** The item's lease has ended: its slot is free, the item is gone. */
  'flow/Expired@1': z.strictObject({ item: itemName }),
  /** Somebody else took the item back. */
  'flow/ItemCancelled@1': z.strictObject({ item: itemName }),
} as const;

/** What a queue states for watchers. */
export const queueFacts = {
  /** An item went, because nobody is there to be told. */
  'flow/ItemDropped@1': z.strictObject({ item: itemName, owner: address, code: z.string() }),
} as const;

/** The state of a queue; its items are in tables. */
export const queueState = z.strictObject({
  open: z.boolean(),
  owner: party,
  limit: slots,
  paused: z.boolean(),
  /** The number of the next item. */
  next: z.int(),
});

/** An item, by its name. */
export const knownItem = z.strictObject({
  /** Its place in line. */
  at: z.string(),
  running: z.boolean(),
  owner: address,
  /** Who put it in line. */
  by: party,
  /** When its lease ends. */
  due: z.nullable(z.int()),
});

/** An item that waits, by its place. */
export const waitingItem = z.strictObject({
  item: itemName,
  owner: address,
  by: party,
  value: value(),
  lease_ms: z.nullable(z.int()),
});

/** An item that has a slot, by its place. */
export const runningItem = z.strictObject({ item: itemName, owner: address });

/** The tables of a queue. */
export const queueTables = {
  items: knownItem,
  waiting: waitingItem,
  running: runningItem,
  /** Leases, by when they end: the items' names. */
  leases: itemName,
} as const;

/** What of the kernel's a queue takes. */
export const queueNotices = { 'sys/TimerFired@1': timerFired, 'sys/Undeliverable@1': undeliverable } as const;
