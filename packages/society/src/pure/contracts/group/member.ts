/** What an entity keeps as a member of a society: its inbox, its verdicts, the rules of its groups, and its copies. */

import { actor, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { topicEvents } from '@reprise/org/contracts';
import { AGENT_STATUSES, NAME_ID, SOCIETY_BOUNDS, TIERS } from '../cell/names.js';
import { groupTopic, makerCell } from '../cell/senders.js';
import { subscription } from '../entity/agent-tools.js';
import { memoryEnded } from '../memory/acts.js';
import { l1Tells } from '../memory/l1.js';
import { BASES, itemId, SOCIETY_EVENTS, VERDICTS } from '../memory/tools.js';
import { GROUP_BOUNDS, groupTells, groupTerms, post } from './group.js';

const count = z.int().min(0);
const id = z.string().regex(NAME_ID);

/** An event of a society. */
export type SocietyEvent = (typeof SOCIETY_EVENTS)[number];

/** The tables of an entity as a member. */
export const memberTables = {
  /** Its inbox: events by their numbers. */
  inbox: post,
  /** The numbers of the inbox and of the entity's writes, as the only entry. */
  counts: z.strictObject({
    /** The number of the next event. */
    next: z.int().min(1),
    /** The events that are no longer in the inbox. */
    dropped: count,
    /** The number of the next write, which an item's origin names. */
    write: z.int().min(1),
  }),
  /** Of an entity that hears of some events only: which. */
  subscriptions: subscription,
  /** The verdicts of the entity on an agent, by its id. */
  trust: z.strictObject({
    /** The last verdicts, the oldest first: a digest of the item, whether it was right, and when it was given. */
    verdicts: z.array(z.tuple([z.string().max(24), z.boolean(), count])).max(256),
    updated_at: count,
  }),
  /** The rules of its groups, by group. */
  terms: groupTerms,
  /** The groups that have a board: the number of the last news that was read there. */
  boards: count,
  /** The groups without a board: the number of the last news that was heard. */
  heard: count,
  /** The copies that it made, by group and id of the copied item. */
  copies: z.strictObject({ copy: itemId, own: z.boolean() }),
  /** What its groups did not take because their cells had failed: the number of the last by group, and each by both. */
  untold: z.strictObject({ n: count, note: z.string().max(256) }),
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
  /** An app that follows the inbox has the boards of all groups read. */
  'society/TakeNews@1': from(z.strictObject({}), by.outside),
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
