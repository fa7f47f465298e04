/**
 * The engine's bounds. They decide derived bytes, so they are part of the kernel semantics number and not
 * options: a world that reached a bound replays only under the same bound.
 */

/** The largest state of a cell or a plan instance, in canonical bytes. Growing data belongs in a log. */
export const LEAF_BYTES_MAX = 64 * 1024;

/** What an emission adds to its plan's leaf at most: its ordinal and its effect's id, or the receipt of a denial. */
export const EMISSION_BYTES = 96;

/** A state above this is worth a warning: every event pays for encoding it. */
export const STATE_BYTES_WARN = 8 * 1024;

/** The largest value passed to `ctx`, an event's value, an intent's input or a receipt's payload, in canonical bytes. */
export const VALUE_BYTES_MAX = 64 * 1024;

/** Deliveries in one frame; the rest goes on in a `continue` frame. */
export const FRAME_DELIVERIES_MAX = 256;

/** Bytes of values in one frame after which the rest goes on in a `continue` frame. */
export const FRAME_VALUE_BYTES_MAX = 1024 * 1024;

/**
 * The overhead of each value: the names and addresses around it in the record. Without it a
 * million values of one byte would pass the bound and overflow the frame.
 */
export const VALUE_BYTES_EXTRA = 64;

/** What an effect that a cascade ends adds to its frame: its record, and the changes of its leaf and of its plan's. */
export const SETTLED_BYTES = 384;

/**
 * Open effects that one frame checks when rights were narrowed; the next are checked in a `continue`
 * frame, before anything else. Each effect that ends takes some 500 bytes of the frame.
 */
export const ENDINGS_AT_ONCE = 4_096;

/**
 * Deliveries in one cascade, its `continue` frames included. Beyond it every queued delivery is a fault. A stop of 128
 * sessions with 64 calls of tools each takes some 17,000.
 */
export const CASCADE_DELIVERIES_MAX = 50_000;

/** Deliveries that wait in one cascade: beyond it, the delivery that sends more is a fault. */
export const CASCADE_WAITING_MAX = 10_000;

/** Bytes of the values that wait in one cascade, of events and of intents: they take up memory until they are delivered. */
export const CASCADE_WAITING_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Bytes of values in one cascade, its `continue` frames included: an input that makes its cells write without end is
 * found. Each frame is durable before the next, so this bounds no memory; to end a tree of 20,000 nodes takes some 40 MiB.
 */
export const CASCADE_VALUE_BYTES_MAX = 256 * 1024 * 1024;

/** Awaits of one plan instance; a longer plan continues with `continueAs`. */
export const PLAN_AWAITS_MAX = 256;

/** Items in one sealed chunk of a log, and links in one node above it. So a log’s leaf holds 31 values at most. */
export const LOG_CHUNK_ITEMS = 32;

/**
 * How long a running effect that was told to stop may take to report its outcome, in milliseconds. Then it is settled as
 * cancelled, and a later answer is recorded as late: an adapter that never returns delays nothing for ever.
 */
export const CANCEL_GRACE_MS = 30_000;

/** Questions that one effect may ask. */
export const EFFECT_QUESTIONS_MAX = 32;

/** Cells from one to the root of its authority. A longer or broken chain permits nothing. */
export const AUTHORITY_DEPTH_MAX = 64;

/** Holds on one cell: one of each cell that can stand above it, and one of the operator. */
export const HOLDS_MAX = 64;

/** Entries of one node of a table, and children of one above it: a write encodes and digests one node of entries. */
export const TABLE_NODE_ENTRIES_MAX = 32;

/** Bytes of entries above which a node of a table is cut in two. */
export const TABLE_NODE_BYTES_MAX = 24 * 1024;

/** The largest value in a table: with a node that is cut above its own bound, no node comes near a leaf's. */
export const TABLE_VALUE_BYTES_MAX = 16 * 1024;

/** The overhead of each write to a table: the changed node's place in the state record. */
export const TABLE_WRITE_BYTES = 256;

/** Entries that one range of a table gives; the rest is asked for from there. */
export const TABLE_RANGE_MAX = 256;

/** Nodes of an ended cell's table that one step removes; one frame has as many steps as deliveries. */
export const SWEEP_NODES_MAX = 64;
