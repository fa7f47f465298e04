/** What an outbox takes, states and holds. */
import { planFailed, revived, timerFired } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from } from '@reprise/kernel/define';
import { NOTICES_MAX } from './names.js';
import { notice } from './notice.js';
import { ATTEMPTED, attempted } from './post.js';

const count = z.int().min(0);
const code = z.string().min(1).max(96);
const { type, at, data } = notice.shape;

/** A delivery as long as it is not taken. */
const delivery = z.strictObject({
  /** The `webhook-id`: the same in every attempt, also after the delivery was taken up again. */
  id: z.string().max(64),
  ...{ type, at, data },
  /** When it is given up. */
  ends: count,
  attempts: count,
  /** Why the last attempt failed; null before it. */
  code: z.nullable(code),
});

/** A delivery as long as it is not taken. */
export type Delivery = z.infer<typeof delivery>;

/** The events of an outbox. */
export const outboxEvents = {
  /** Makes the outbox, which is told of what happens from this frame on. */
  'webhooks/Open@1': creates(from(z.strictObject({ looked: count }), by.outside)),
  /**
   * Notices of one frame, and whether they are its last ones. What is before the place up to which it has looked is known to
   * it already.
   */
  'webhooks/Due@1': from(
    z.strictObject({ seq: count, notices: z.array(notice).max(NOTICES_MAX), last: z.boolean() }),
    by.outside,
  ),
  /** The frames before this one held nothing more for it. */
  'webhooks/Looked@1': from(z.strictObject({ looked: count }), by.outside),
  /** Takes up undelivered ones again, the oldest first or the one with this id, and sends to a receiver that was gone. */
  'webhooks/Retry@1': from(z.strictObject({ id: z.nullable(z.string().max(64)) }), by.outside),
  [ATTEMPTED]: from(attempted, by.ownPlan),
  'sys/TimerFired@1': timerFired,
  'sys/PlanFailed@1': planFailed,
  'sys/Revived@1': revived,
} as const;

/** The facts of an outbox, for watchers. */
export const outboxFacts = {
  /** A delivery was given up. */
  'webhooks/Undelivered@1': z.strictObject({
    id: z.string().max(64),
    type,
    event_seq: data.shape.event_seq,
    attempts: count,
    code,
  }),
  /** The receiver answered that it is gone (410): nothing is sent to it any more. */
  'webhooks/Gone@1': z.strictObject({ id: z.string().max(64) }),
  /** Something is sent again to a receiver that was gone. */
  'webhooks/Returned@1': z.strictObject({}),
} as const;

/** The state of an outbox. Its deliveries are in tables. */
export const outboxState = z.strictObject({
  /** The frame, and the record of it, from which on nothing was taken in yet. */
  looked: z.tuple([count, count]),
  /** The failures in a row. */
  failures: count,
  /** When the receiver has rested. */
  rested: count,
  gone: z.boolean(),
  delivered: count,
  undelivered: count,
});

/** The state of an outbox. */
export type OutboxState = z.infer<typeof outboxState>;

/** The tables of an outbox. */
export const outboxTables = {
  /** Deliveries by when they are due, and their place. */
  waiting: delivery,
  /** The keys of waiting deliveries by when they are given up, and their place. */
  ends: z.string(),
  /** Deliveries under way, by their place, with the ordinal of the plan. */
  under_way: z.strictObject({ ...delivery.shape, plan: count }),
  /** Deliveries that were given up, by their place. */
  undelivered: z.strictObject({ ...delivery.shape, since: count }),
} as const;
