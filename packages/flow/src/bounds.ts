/**
 * The bounds of the flow reducers. They decide what is journaled, so they belong to the reducers' versions: a changed
 * bound is a new version.
 */

/** Slots of one queue: as many are freed in one delivery when their owner is gone. */
export const QUEUE_SLOTS_MAX = 256;

/** The farthest that a priority may be from 0. */
export const PRIORITY_MAX = 1_000_000;

/** Items granted, and leases ended, in one delivery; more go on in a frame of their own. */
export const GRANTS_AT_ONCE = 16;

/** Bytes of an item, a publication or a node's value, as `sizeOf` counts them. Larger content is linked. */
export const FLOW_VALUE_BYTES_MAX = 8 * 1024;

/** Parts of one promise. */
export const PROMISE_PARTS_MAX = 64;

/** Bytes of all that is written to one promise. */
export const PROMISE_BYTES_MAX = 16 * 1024;

/** Cells told in one frame, when what they are told is small: half of the deliveries of a frame. */
export const NOTIFIED_AT_ONCE = 128;

/** Bytes told in one frame. */
export const NOTIFIED_BYTES_MAX = 384 * 1024;

/** Publications of a topic that wait for their turn; beyond it a publisher is refused and tries later. */
export const TOPIC_WAITING_MAX = 1_024;

/** Publications that a topic keeps for those who ask from a cursor. */
export const TOPIC_RETAINED_MAX = 10_000;

/** Conditions of one subscription. */
export const CONDITIONS_MAX = 16;

/** Nodes added to a graph at once. */
export const GRAPH_NODES_AT_ONCE = 256;

/** What one node may need. */
export const NODE_NEEDS_MAX = 64;

/** Dependencies added to a graph at once. */
export const GRAPH_NEEDS_AT_ONCE = 512;

/** Dependents that one delivery updates when a node has ended; more go on in a frame of their own. */
export const DEPENDENTS_AT_ONCE = 128;

/** Nodes that a graph hands out in one delivery. */
export const NODES_HANDED_AT_ONCE = 32;
