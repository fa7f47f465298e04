/** Groups: their members, their culture, and what they tell members. A group's items stand in the store `group:<id>`. */

import { actor, address, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from, fromAll } from '@reprise/kernel/define';
import { checkedAs, keptSchema, restEvent, restTables, topicOwnerEvents } from '@reprise/org/contracts';
import { revivedNewsOfGroup } from '../agent/failed.js';
import { NAME_ID, ROLES, TIERS } from '../cell/names.js';
import { groupMember, groupOwner, makerCell, memberHot, namedGroup, ownTopic } from '../cell/senders.js';
import { noted } from '../cell/statement.js';
import { SOCIETY_EVENTS } from '../memory/tools.js';

/** How eagerly members hear of what is written: at their next step, at their next run, or when they ask. */
export const EAGERNESS = ['chatty', 'moderate', 'taciturn'] as const;

/** How eagerly members hear of what is written. */
export type Eagerness = (typeof EAGERNESS)[number];

/** What a member that leaves keeps of its copies: all, those of its own items, or none. */
export const DEPARTURE_POLICIES = ['permissive', 'standard', 'restrictive'] as const;

/** Whether news is also pushed to clients, is a line at the next run, or waits in the inbox alone. */
export const notification = z.enum(['push', 'notify', 'silent']);

/** A culture as callers state it: what they leave out has these values. */
export const cultureShown = noted(
  z.strictObject({
    broadcast_eagerness: z.enum(EAGERNESS).default('chatty'),
    /** The seconds after which items expire; 0 for items that stay. */
    ttl_default: checkedAs(z.int().min(0), z.int().min(0).max(315_360_000)).default(86_400),
    notification_policy: notification.default('push'),
    departure_policy: z.enum(DEPARTURE_POLICIES).default('permissive'),
  }),
  { id: 'Culture' },
);

/** A culture as it is stated: a group has values of its own for what is left out. */
export const cultureIn = keptSchema(cultureShown);

/** A culture as it is stated. */
export type CultureIn = z.infer<typeof cultureIn>;

const count = z.int().min(0);
const id = z.string().regex(NAME_ID);
const role = z.enum(ROLES);
const code = z.string().max(96);

/** How large groups and their boards grow. */
export const GROUP_BOUNDS = {
  members: 1_024,
  /** The members to which an unstated eagerness is `chatty`: news costs the square of the members. */
  chatty: 16,
  /** The members that one delivery tells of a change of terms. */
  told_at_once: 64,
  /** The news that a board keeps: as many as an inbox has room for. */
  posts: 256,
  /** The bytes of the news that one event brings to a reader. */
  news_bytes: 48_000,
} as const;

/** A culture as it is kept. `broadcast_eagerness` is null where none was stated: it follows from the number of members. */
export const culture = z.strictObject({
  broadcast_eagerness: z.nullable(z.enum(EAGERNESS)),
  ttl_default: count,
  notification_policy: notification,
  departure_policy: z.enum(DEPARTURE_POLICIES),
});

/** A culture as it is kept. */
export type Culture = z.infer<typeof culture>;

/** The kinds of groups: one of its own, or that of a swarm. */
const groupKind = z.enum(['group', 'swarm']);

/** The state of a group. */
export const groupState = z.strictObject({
  kind: groupKind,
  /** The cell that commands it; null for the app and its people alone. */
  owner: z.nullable(address),
  culture,
  emcon: z.boolean(),
  standing: z.enum(['new', 'open', 'archived', 'deleted']),
  /** Counts the joinings that were asked for: an answer to an earlier one means nothing. */
  joinings: count,
  /** Whether its news stands, or once stood, on the board: members ask there. It stays so. */
  has_board: z.boolean(),
  /** The number of its last news. */
  posted: count,
});

/** The state of a group. */
export type GroupState = z.infer<typeof groupState>;

/** A member, in the table `members` under its entity's id. */
export const memberRow = z.strictObject({
  role,
  /** Whether the entity has taken its membership. */
  stands: z.boolean(),
  /** The number of the joining, or change of role, that the entity was last told of. */
  joining: count,
  since: count,
  /** The tier that the owner's verdicts give. */
  tier: z.nullable(z.enum(TIERS)),
  /** The number of the last news that it does not hear, because it was no member yet. */
  posted: count,
});

/** A member of a group. */
export type MemberRow = z.infer<typeof memberRow>;

/** What news is about, and who brings it. */
export const newsShape = {
  payload: value(),
  /** The member that it comes from, which is not told of it; null for the group itself. */
  by: z.nullable(id),
  /** The member that took the item over from it without a review. */
  merged_by: z.exactOptional(id),
};

/**
 * News that a group keeps once, for its members to read: an entry of the table `board`, by its number. Of chatty
 * news, members read there what they could not hear.
 */
export const post = z.strictObject({
  ...newsShape,
  event: z.enum(SOCIETY_EVENTS),
  /** Whether the next run of a member is shown the first words of the item that this is about. */
  show: z.boolean(),
  at: count,
});

/** News on the board of a group. */
export type Post = z.infer<typeof post>;

/** The tables of a group. */
export const groupTables = { members: memberRow, board: post, ...restTables } as const;

/** What members hear at once about a group: its rules, as far as they change what an entity does. */
export const groupTerms = z.strictObject({
  /** Whether writes are refused: in emergency mode, and in a group that was archived. */
  emcon: z.boolean(),
  ttl_default: count,
  departure_policy: z.enum(DEPARTURE_POLICIES),
  /** The tier that the verdicts of the group's owner give this member; null without any. */
  owner_tier: z.nullable(z.enum(TIERS)),
  /** Whether the group has a board, which the entity asks for news. */
  board: z.boolean(),
});

/** For whom a cell commands; what comes from outside is the act of its sender. */
const commanding = { actor: z.exactOptional(actor) } as const;

/** The commands of a group, from its owner, its admins, and from outside. */
export const groupCommands = {
  /**
   * Opens the group, with its store and its topic. A cell that opens it is its owner, whatever it names; a request from
   * outside may name one.
   */
  'society/OpenGroup@1': creates(
    from(
      z.strictObject({ kind: groupKind, owner: z.exactOptional(address), culture: cultureIn }),
      by.outside,
      by.maker,
    ),
  ),
  ...fromAll(
    {
      /** Adds a member, or changes its role. */
      'society/Join@1': z.strictObject({ entity: id, role }),
      /** Begins or ends emergency mode: writes are refused, reads go on. */
      'society/Emcon@1': z.strictObject({ on: z.boolean(), ...commanding }),
      /** Ends the group: archived, its members still read; deleted, it has none. */
      'society/EndGroup@1': z.strictObject({ mode: z.enum(['archive', 'delete']), ...commanding }),
    },
    by.outside,
    groupOwner,
    groupMember,
  ),
  /** Removes a member. A member may remove itself. */
  'society/Leave@1': from(z.strictObject({ entity: id }), by.outside, groupOwner, groupMember, memberHot),
} as const;

/** The events that members send, and those that the group sends itself. */
export const groupNews = {
  /** A member has written an item to the group's store. Its words stay there. */
  'society/Wrote@1': from(
    z.strictObject({
      item_id: z.string().max(200),
      type: z.string().min(1).max(32),
      /** Whose item it is, where the member took it over without a review. */
      of: z.exactOptional(id),
    }),
    groupMember,
  ),
  /** A member tells of its status, or a swarm of a task: the group passes it on. */
  'society/GroupNews@1': from(
    z.strictObject({ event: z.enum(['swarm.task_complete', 'agent.status_changed']), payload: value() }),
    groupOwner,
    groupMember,
    memberHot,
  ),
  /** A verdict of a member on another: for that one alone. */
  'society/Verdict@1': from(
    z.strictObject({
      about: id,
      payload: value(),
      /** The tier that the verdicts of this member give: it counts where the member owns the group. */
      tier: z.enum(TIERS),
      /** Whether the member has told the agent itself. */
      told: z.boolean(),
    }),
    groupMember,
  ),
  /** A member asks for the news after a number; `sees`: the gate lets it read the group's store at that moment. */
  'society/ReadNews@1': from(z.strictObject({ after: count, sees: z.boolean() }), groupMember),
  ...restEvent,
  /** The topic was revived: what the group told it meanwhile is lost. */
  ...fromAll(topicOwnerEvents, ownTopic),
  ...revivedNewsOfGroup,
} as const;

/** `society/News@1`: the news that a member asked its group for. */
export const boardNews = z.strictObject({
  group: id,
  /** How many left the board before they were read, and the number of the last one of them. */
  missed: count,
  missed_to: count,
  posts: z.array(z.tuple([z.int().min(1), post])).max(GROUP_BOUNDS.posts),
  /** Whether the member saw the group's store when it asked: without that, news of items is not for it. */
  sees: z.boolean(),
});

/** The events that a group sends to the entities of its members, besides `society/Membership@1`. */
export const groupTells = {
  /** The rules of the group; null when the entity is no member any more, with what it keeps of its copies. */
  'society/GroupTerms@1': from(
    z.strictObject({ group: id, terms: z.nullable(groupTerms), departure: z.enum(DEPARTURE_POLICIES) }),
    namedGroup,
  ),
  'society/News@1': from(boardNews, namedGroup),
  /** An event for this entity alone: of a group, or of its maker, which names none. */
  'society/Notice@1': from(
    z.strictObject({ event: z.literal('trust.score_changed'), group: z.nullable(id), payload: value() }),
    namedGroup,
    makerCell,
  ),
} as const;

/** What the group tells its owner, where the owner takes it: whether an entity has become a member, and that one is over. */
export const ownerTells = {
  'society/Joined@1': z.strictObject({ group: id, entity: id, role, code: z.nullable(code) }),
  /** A member of the open group was deactivated. */
  'society/MemberOver@1': z.strictObject({ group: id, entity: id }),
} as const;

/** A publication of the group: how it reaches the runs of members, and what it is about. */
export const publishedNews = z.strictObject({
  ...newsShape,
  /** `steer`: at the next step; `poll`: when the member asks. */
  deliver: z.enum(['steer', 'poll']),
  push: z.boolean(),
  /** Its number among all news of the group: a member that missed some reads them. */
  n: z.int().min(1),
});

/** The facts of a group. */
export const groupFacts = {
  'society/GroupOpened@1': z.strictObject({
    kind: groupKind,
    owner: z.nullable(address),
    culture,
    by: actor,
  }),
  'society/MemberJoined@1': z.strictObject({ group_id: id, entity_id: id, role }),
  'society/MemberLeft@1': z.strictObject({ group_id: id, entity_id: id, by: actor }),
  /** The entity's answer to a joining, or to a change of its role. */
  'society/JoinAnswered@1': z.strictObject({ group_id: id, entity_id: id, role, code: z.nullable(code) }),
  'society/EmconSet@1': z.strictObject({ group_id: id, emcon: z.boolean(), by: actor }),
  'society/GroupEnded@1': z.strictObject({ group_id: id, mode: z.enum(['archive', 'delete']), by: actor }),
  /** News stands on the board. */
  'society/Posted@1': z.strictObject({
    ...newsShape,
    group_id: id,
    n: z.int().min(1),
    event: z.enum(SOCIETY_EVENTS),
    /** Whether clients that are connected are told. */
    push: z.boolean(),
  }),
  /** The topic took no news: it has failed, or had too many publications under way. Members read it from the group. */
  'society/NewsLost@1': z.strictObject({ group_id: id, code }),
} as const;
