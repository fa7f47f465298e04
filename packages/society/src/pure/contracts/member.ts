/** What an entity keeps as a member of a society: its inbox, its verdicts, the rules of its groups, and its copies. */
import { actor, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { topicEvents } from '@reprise/flow';
import { by, from } from '@reprise/kernel/define';
import { SOCIETY_EVENTS, subscription } from './agent-calls.js';
import { GROUP_BOUNDS, groupTells, groupTerms } from './group.js';
import { l1Tells } from './l1.js';
import { memoryEnded } from './memory-acts.js';
import { BASES, itemId, VERDICTS } from './memory-calls.js';
import { AGENT_STATUSES, NAME_ID, SOCIETY_BOUNDS, TIERS } from './names.js';
import { groupTopic, makerCell } from './senders.js';

const count = z.int().min(0);
const id = z.string().regex(NAME_ID);

/** An event of a society. */
export type SocietyEvent = (typeof SOCIETY_EVENTS)[number];

/** An event in an inbox: an entry of the table `inbox`, by its number in 12 digits. */
export const noticeRow = z.strictObject({
  event: z.enum(SOCIETY_EVENTS),
  payload: value(),
  at: count,
  /** Whether the next run is shown the first words of the item that this is about. */
  show: z.boolean(),
  by: z.nullable(id),
  /** The member that took the item over from it without a review. */
  merged_by: z.exactOptional(id),
});

/** An event in an inbox. */
export type NoticeRow = z.infer<typeof noticeRow>;

/** The numbers of an inbox: an entry of the table `counts`, under `inbox`. */
export const memberCounts = z.strictObject({
  /** The number of the next event. */
  next: z.int().min(1),
  /** The events that are no longer in the inbox. */
  dropped: count,
  /** The number of the next write, which an item's origin names. */
  write: z.int().min(1),
});

/** The numbers of an inbox, and of the entity's writes. */
export type MemberCounts = z.infer<typeof memberCounts>;

/** The verdicts of the entity on an agent: an entry of the table `trust`, by the agent's id. */
export const trustRow = z.strictObject({
  /** The last verdicts, the oldest first: a digest of the item, whether it was right, and when it was given. */
  verdicts: z.array(z.tuple([z.string().max(24), z.boolean(), count])).max(256),
  updated_at: count,
});

/** The verdicts of the entity on an agent. */
export type TrustRow = z.infer<typeof trustRow>;

/** A copy that the entity made: an entry of the table `copies`, by group and id of the copied item. */
export const copyRow = z.strictObject({ copy: itemId, own: z.boolean() });

/** A copy that the entity made. */
export type CopyRow = z.infer<typeof copyRow>;

/** The tables of an entity as a member. */
export const memberTables = {
  inbox: noticeRow,
  counts: memberCounts,
  /** Of an entity that hears of some events only: which. */
  subscriptions: subscription,
  trust: trustRow,
  /** The rules of its groups, by group. */
  terms: groupTerms,
  /** The groups that have a board: the number of the last news that was read there. */
  boards: count,
  /** The groups without a board: the number of the last news that was heard. */
  heard: count,
  copies: copyRow,
  /** The stores of its own that were opened. */
  stores: z.null(),
  /** Changes of its status that its groups have not heard: it had no rights to send them, since its time had ended. */
  unsaid: z.strictObject({ old: z.enum(AGENT_STATUSES), now: z.enum(AGENT_STATUSES) }),
} as const;

/** The events of an entity as a member. */
export const memberEvents = {
  ...groupTells,
  ...l1Tells,
  'flow/Published@1': from(topicEvents['flow/Published@1'], groupTopic),
  'society/MemoryEnded@1': from(memoryEnded, by.ownPlan),
  /** An app that follows the inbox has the boards of all groups read, and so does a revived entity. */
  'society/TakeNews@1': from(z.strictObject({}), by.outside, by.self),
  /** The entity to itself: the groups have been asked; when it arrives again, all have answered. */
  'society/NewsAsked@1': from(z.strictObject({ call: z.string().max(64), answered: z.boolean() }), by.self),
  /** The maker says what an agent that it has registered hears of. */
  'society/Subscribe@1': from(
    z.strictObject({ subscriptions: z.array(subscription).max(SOCIETY_BOUNDS.subscriptions) }),
    makerCell,
  ),
  /** The maker tells an agent the tier that its verdicts give. */
  'society/Tier@1': from(z.strictObject({ tier: z.enum(TIERS) }), makerCell),
} as const;

/** The facts of an entity as a member. */
export const memberFacts = {
  /** An event has reached the inbox. */
  'society/Noticed@1': z.strictObject({
    n: z.int().min(1),
    event: z.enum(SOCIETY_EVENTS),
    payload: value(),
    /** Whether clients that are connected are told. */
    push: z.boolean(),
    dropped: count,
  }),
  /** News of a group has been read from its board: the numbers on the board, in the order of the inbox. */
  'society/NewsRead@1': z.strictObject({
    group_id: id,
    /** The number in the inbox of the first event: of one that was missed, where some were. */
    n: z.int().min(1),
    missed: count,
    missed_to: count,
    posts: z.array(z.int().min(1)).max(GROUP_BOUNDS.posts),
    /** Whether the gate let the entity see the group's store: without that, news of items is not for it. */
    sees: z.boolean(),
    dropped: count,
  }),
  /** A verdict of this entity on an item of an agent. */
  'society/Assessed@1': z.strictObject({
    item_id: itemId,
    agent_id: id,
    verdict: z.enum(VERDICTS),
    basis: z.enum(BASES),
    evidence_ref: z.nullable(ref()),
    by: actor,
  }),
  'society/TrustChanged@1': z.strictObject({
    agent_id: id,
    old_ppm: count,
    ppm: count,
    tier: z.enum(TIERS),
    observations: count,
  }),
  /** A copy was made of an item. */
  'society/Shared@1': z.strictObject({ item_id: itemId, copy_id: itemId, author: z.string().max(360) }),
  /** An item was validated by an entity other than its author: it is found from now on. */
  'society/Validated@1': z.strictObject({ item_id: itemId, by: actor }),
  /** A member left a group, and what it does not keep was archived. */
  'society/CopiesArchived@1': z.strictObject({ group_id: id, copies: z.array(itemId).max(256) }),
} as const;
