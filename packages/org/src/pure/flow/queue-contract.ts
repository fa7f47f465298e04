/** The schemas of queues: commands, events and state (`flow/Queue@1`). */
import { address, reply, timerFired, undeliverable, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, from, fromAll } from '@reprise/kernel/define';
import { PRIORITY_MAX, QUEUE_SLOTS_MAX } from './bounds.js';
import { anyone, party } from './parties.js';

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
export const waitingItem = z.strictObject({
  item: itemName,
  owner: address,
  by: party,
  value: value(),
  lease_ms: z.nullable(z.int()),
});

/** An item with a slot, by its position. */
const runningItem = z.strictObject({ item: itemName, owner: address });

/** The tables of a queue. */
export const queueTables = {
  items: knownItem,
  waiting: waitingItem,
  running: runningItem,
  /** The names of items by the end of their lease. */
  leases: itemName,
} as const;

/** The kernel events that a queue handles. */
export const queueNotices = {
  'sys/TimerFired@1': timerFired,
  'sys/Undeliverable@1': undeliverable,
  'sys/Reply@1': reply,
} as const;
