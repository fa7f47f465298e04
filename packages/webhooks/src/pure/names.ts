/** Names and bounds of outgoing webhooks. The bounds decide what is journaled: a changed bound is a new version of the reducer. */

/** The wire name of the outbox reducer; the key of a cell is the name of its receiver. */
export const OUTBOX = 'webhooks/Outbox@1';

/** What a receiver may be told of: that something waits for a person, that something ended, and that something failed. */
export const TOPICS = ['waiting', 'ended', 'failed'] as const;

/** What a receiver may be told of. */
export type Topic = (typeof TOPICS)[number];

/** The deliveries that one receiver has waiting at most. One beyond it is undelivered at once, which is said. */
export const OUTBOX_MAX = 1_000;

/** The undelivered ones that a receiver's outbox lists at most; the oldest gives way. The facts about all stay in the journal. */
export const UNDELIVERED_MAX = 256;

/** The deliveries that are under way to one receiver at once, while it answers. To one that fails there is one. */
export const UNDER_WAY_MAX = 4;

/** The deliveries that one frame gives up, or takes up again: more follow in another frame. */
export const AT_ONCE = 32;

/** The notices that one event brings at most. */
export const NOTICES_MAX = 32;
