/**
 * The bounds of the flow reducers. They decide what is journaled, so they belong to the reducers' versions: a changed
 * bound is a new version.
 */

/** The slots of one queue: as many are freed in one delivery when their owner is gone. */
export const QUEUE_SLOTS_MAX = 256;

/** The largest absolute value of a priority. */
export const PRIORITY_MAX = 1_000_000;

/** The items granted, and the leases ended, in one delivery; more follow in another frame. */
export const GRANTS_AT_ONCE = 16;

/** The bytes of an item or a publication, as `sizeOf` counts them. Larger content is linked. */
export const FLOW_VALUE_BYTES_MAX = 8 * 1024;

/** The parts of one promise. */
export const PROMISE_PARTS_MAX = 64;

/** The bytes of everything that is written to one promise. */
export const PROMISE_BYTES_MAX = 16 * 1024;

/** The cells notified in one frame, when the notification is small: half of the deliveries of a frame. */
export const NOTIFIED_AT_ONCE = 128;

/** The bytes of notifications in one frame. */
export const NOTIFIED_BYTES_MAX = 384 * 1024;

/** The publications of a topic that wait for their turn; beyond it a publisher is refused and can retry later. */
export const TOPIC_WAITING_MAX = 1_024;

/** The publications that a topic retains for subscribers with a cursor. */
export const TOPIC_RETAINED_MAX = 10_000;

/** The conditions of one subscription. */
export const CONDITIONS_MAX = 16;
