/**
 * `society/Group@1`: members with roles, a store, and their news: on a topic that brings each to all members in a chatty
 * group, else on a board where members read it.
 *
 * Invariants
 * G1  An entity is a member once it has taken its membership, which it takes from itself, those above it, and the app alone;
 *     the group hears of that, and only then is it told the rules, subscribed and announced.
 * G2  A member that leaves is unsubscribed in the same delivery.
 * G3  News comes from members, about themselves, and from the owner. It names items and carries none.
 * G4  The group emits no effect: it writes to no store, neither its own nor that of an entity.
 * G5  News on the board is told to members only, and membership is asked at each reading.
 * G6  A change that all members hear of is told some at a time, by events of the group to itself, before any other input.
 */

import { type Address, NOTICES } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { defineReducer, type EventHandlers, handledBy, reducerOnUse } from '@reprise/kernel/define';
import { actorIn, beginRound, nextRound, openStore, REST, resumeRounds, someRows, TOPIC } from '@reprise/org/contracts';
import { ENTITY, entityAt, GROUP, NAME_ID, type Role, storeOf } from '../../contracts/cell/names.js';
import type { Row } from '../../contracts/entity-parts.js';
import {
  type Culture,
  type CultureIn,
  GROUP_BOUNDS,
  type GroupState,
  groupCommands,
  groupFacts,
  groupNews,
  groupState,
  groupTables,
  type MemberRow,
  type publishedNews,
} from '../../contracts/group/group.js';
import type { SocietyEvent } from '../../contracts/group/member.js';
import { commander } from '../call/answers.js';
import { isOfFailedCell } from '../call/operations.js';
import { rowKeyOf } from '../context/entity.js';
import { type GroupContext, keepPost, putOnBoard, tellNews } from './board.js';

const EVENTS = { ...groupCommands, ...groupNews, 'sys/Reply@1': NOTICES['sys/Reply@1'] } as const;

const HANDLERS: EventHandlers<GroupState, typeof EVENTS, typeof groupTables> = {
  'society/OpenGroup@1': (draft, { kind, owner, culture }, ctx) => {
    if (draft.standing !== 'new') return;
    if (!NAME_ID.test(ctx.address[1])) ctx.reject('invalid_name');
    draft.kind = kind;
    draft.owner = ctx.caller ?? owner ?? null; // a cell opens a group for itself alone
    draft.culture = cultureOf(culture);
    draft.standing = 'open';
    draft.has_board = !mayBeChatty(draft);
    openStore(ctx, storeOf.group(ctx.address[1]));
    if (mayBeChatty(draft)) ctx.send(topicOf(ctx), { name: 'flow/OpenTopic@1', value: {} });
    ctx.record('society/GroupOpened@1', { kind, owner: draft.owner, culture: draft.culture, by: actorIn(ctx) });
  },
  'society/Join@1': (draft, { entity, role }, ctx, row) => {
    requireOpen(draft, ctx);
    const rank = rankOf(row, ctx);
    const known = ctx.table('members').get(entity);
    if (rank !== 'owner' && (isHigh(role) || isHigh(known?.role))) ctx.reject('not_authorized');
    if (known === undefined && ctx.table('members').size >= GROUP_BOUNDS.members) ctx.reject('group_full');
    const joining = ++draft.joinings;
    const { since = ctx.now, tier = null, stands = false, posted = draft.posted } = known ?? {};
    ctx.table('members').set(entity, { role, stands, joining, since, tier, posted });
    const tag = `${joining} ${entity}`;
    ctx.send(entityAt(entity), membership(ctx, role), { reply: true, tag });
  },
  'society/Leave@1': (draft, { entity }, ctx, row) => {
    const known = ctx.table('members').get(entity);
    if (known === undefined) return;
    if (ctx.rowKey !== entity) {
      const rank = rankOf(row, ctx);
      if (rank !== 'owner' && isHigh(known.role)) ctx.reject('not_authorized');
    }
    leave(draft, entity, ctx);
  },
  'society/Emcon@1': (draft, { on, actor }, ctx, row) => {
    requireOpen(draft, ctx);
    requireOwner(row, ctx);
    if (draft.emcon === on) return;
    draft.emcon = on;
    ctx.record('society/EmconSet@1', { group_id: ctx.address[1], emcon: on, by: commander(actor, ctx) });
    tellAll(draft, 'terms', ctx);
  },
  'society/EndGroup@1': (draft, { mode, actor }, ctx, row) => {
    requireOwner(row, ctx);
    const standing = mode === 'archive' ? 'archived' : 'deleted';
    if (draft.standing === standing || draft.standing === 'deleted') return;
    draft.standing = standing;
    ctx.record('society/GroupEnded@1', { group_id: ctx.address[1], mode, by: commander(actor, ctx) });
    tellAll(draft, mode === 'archive' ? 'terms' : 'end', ctx);
  },
  'society/Wrote@1': (draft, { item_id, type, of }, ctx, row) => {
    const { by, role } = standingMember(row, ctx);
    if (role === 'viewer' || draft.emcon || draft.standing !== 'open') ctx.reject('not_authorized');
    if (!item_id.startsWith(`${storeOf.group(ctx.address[1])}#`)) ctx.reject('other_store');
    const payload = { item_id, type, group_id: ctx.address[1] };
    const bringing = of === undefined ? { by } : { by: of, merged_by: by };
    publish(draft, 'memory.written', { payload, ...bringing, hasWords: true }, ctx);
  },
  'society/GroupNews@1': (draft, { event, payload }, ctx, row) => {
    if (draft.standing !== 'open' && event === 'agent.status_changed') return; // a swarm's end is told once
    const by = row === undefined ? null : standingMember(row, ctx).by;
    if (by !== null && (event !== 'agent.status_changed' || fieldIn(payload, 'agent_id') !== by))
      ctx.reject('not_yours');
    if (by !== null && fieldIn(payload, 'new_status') === 'deactivated')
      tellOwner(draft, 'society/MemberOver@1', { group: ctx.address[1], entity: by }, ctx);
    publish(draft, event, { payload, by, hasWords: false }, ctx);
  },
  'society/Verdict@1': (draft, { about, payload, tier, told }, ctx, member) => {
    const { by, role } = standingMember(member, ctx);
    const row = ctx.table('members').get(about);
    if (row?.stands !== true) return;
    const value = { event: 'trust.score_changed', group: ctx.address[1], payload };
    if (!told) ctx.send(entityAt(about), { name: 'society/Notice@1', value });
    const [reducer, id] = draft.owner ?? [];
    const owns = role === 'owner' || (reducer === ENTITY && id === by);
    if (!owns || row.tier === tier) return;
    ctx.table('members').set(about, { ...row, tier });
    tellMember(draft, about, ctx);
  },
  'society/ReadNews@1': (draft, { after, sees }, ctx, row) => {
    const { by } = standingMember(row, ctx); // G5
    tellNews(draft, by, row, { after, sees }, ctx);
  },
  [REST]: (draft, _, ctx) => nextRound(ctx, (what) => (after) => tellSome(draft, what as Told, after, ctx)),
  'society/MemberRevived@1': (draft, _, ctx, row) => {
    if (row?.stands === true) tellStanding(draft, rowKeyOf(ctx), row, ctx);
  },
  'flow/TopicRevived@1': (draft, _, ctx) => tellAll(draft, 'topic', ctx),
  'sys/Revived@1': (draft, _, ctx) => {
    resumeRounds(ctx);
    if (draft.standing !== 'new') tellAll(draft, draft.standing === 'deleted' ? 'end' : 'again', ctx);
  },
  'sys/Reply@1': (draft, { tag = '', outcome, code = '' }, ctx) => {
    if (tag === TOPIC_TAG || tag === NEWS_TAG) return refusedByTopic(draft, tag, code, ctx);
    joined(draft, tag, outcome === 'accepted' ? null : code, ctx);
  },
};

/** The reducer of groups: members, board, and news. */
export const groupReducer = reducerOnUse(GROUP, () =>
  defineReducer({
    name: GROUP,
    state: groupState,
    events: EVENTS,
    facts: groupFacts,
    tables: groupTables,
    init: (): GroupState => ({
      kind: 'group',
      owner: null,
      culture: cultureOf({}),
      emcon: false,
      standing: 'new',
      joinings: 0,
      has_board: false,
      posted: 0,
    }),
    reduce: handledBy(HANDLERS),
  }),
);

/** The tags of what is sent to the topic, by which its refusals come back: news, and subscriptions. */
const NEWS_TAG = 'news';
const TOPIC_TAG = 'topic';

/** The topic did not take what it was sent. While its cell has failed, members read the news of the group. */
function refusedByTopic(draft: GroupState, tag: string, code: string, ctx: GroupContext): void {
  if (tag === NEWS_TAG) ctx.record('society/NewsLost@1', { group_id: ctx.address[1], code });
  if (isOfFailedCell(code)) openBoard(draft, ctx);
}

const DAY_S = 86_400;

function cultureOf(stated: CultureIn): Culture {
  return {
    broadcast_eagerness: stated.broadcast_eagerness ?? null,
    ttl_default: stated.ttl_default ?? DAY_S,
    notification_policy: stated.notification_policy ?? 'push',
    departure_policy: stated.departure_policy ?? 'permissive',
  };
}

/** The entity has answered: it is a member, or it is not. */
function joined(draft: GroupState, tag: string, answered: string | null, ctx: GroupContext): void {
  const [joining = '', entity = ''] = tag.split(' ');
  const row = ctx.table('members').get(entity);
  if (row === undefined || row.joining !== Number(joining)) return;
  const { role, stands } = row;
  // The role of a member whose cell has failed is changed: it asks for it once it is revived (SOC-115).
  const code = stands && answered !== null && isOfFailedCell(answered) ? null : answered;
  const group_id = ctx.address[1];
  tellOwner(draft, 'society/Joined@1', { group: group_id, entity, role, code }, ctx);
  ctx.record('society/JoinAnswered@1', { group_id, entity_id: entity, role, code });
  if (code !== null) {
    ctx.table('members').delete(entity);
    unsubscribe(draft, entity, ctx);
    return;
  }
  if (stands) return;
  ctx.table('members').set(entity, { ...row, stands: true, posted: draft.posted });
  tellMember(draft, entity, ctx);
  subscribe(draft, entity, ctx);
  const payload = { group_id, entity_id: entity, role };
  ctx.record('society/MemberJoined@1', payload);
  publish(draft, 'group.member_joined', { payload, by: entity, hasWords: false }, ctx);
}

function leave(draft: GroupState, entity: string, ctx: GroupContext): void {
  const group = ctx.address[1];
  ctx.table('members').delete(entity);
  unsubscribe(draft, entity, ctx);
  ctx.send(entityAt(entity), membership(ctx, null));
  const { departure_policy: departure } = draft.culture;
  ctx.send(entityAt(entity), { name: 'society/GroupTerms@1', value: { group, terms: null, departure } });
  const payload = { group_id: group, entity_id: entity };
  ctx.record('society/MemberLeft@1', { ...payload, by: actorIn(ctx) });
  publish(draft, 'group.member_left', { payload, by: entity, hasWords: false }, ctx);
}

function subscribe(draft: GroupState, entity: string, ctx: GroupContext): void {
  if (!mayBeChatty(draft)) return;
  const value = { subscriber: entityAt(entity) };
  ctx.send(topicOf(ctx), { name: 'flow/Subscribe@1', value }, { reply: 'refusal', tag: TOPIC_TAG });
}

function unsubscribe(draft: GroupState, entity: string, ctx: GroupContext): void {
  if (!mayBeChatty(draft)) return;
  ctx.send(topicOf(ctx), { name: 'flow/Unsubscribe@1', value: { subscriber: entityAt(entity) } });
}

function membership({ address: [, group], caller }: GroupContext, role: Role | null) {
  return { name: 'society/Membership@1', value: { group, role, by: caller } };
}

/** Tells a member again that it is one, and the rules: it or the group was revived, and may have missed what was told. */
function tellStanding(draft: GroupState, entity: string, { role }: MemberRow, ctx: GroupContext): void {
  const value = { group: ctx.address[1], role, by: null };
  ctx.send(entityAt(entity), { name: 'society/Membership@1', value });
  tellMember(draft, entity, ctx);
}

function tellMember(draft: GroupState, entity: string, ctx: GroupContext): void {
  const { ttl_default, departure_policy } = draft.culture;
  const owner_tier = ctx.table('members').get(entity)?.tier ?? null;
  const emcon = draft.emcon || draft.standing !== 'open';
  const terms: Row<'terms'> = { emcon, ttl_default, departure_policy, owner_tier, board: draft.has_board };
  const value = { group: ctx.address[1], terms, departure: departure_policy };
  ctx.send(entityAt(entity), { name: 'society/GroupTerms@1', value });
}

function tellOwner({ owner }: GroupState, name: string, value: object, ctx: GroupContext): void {
  if (owner !== null && ctx.takes(owner, name)) ctx.send(owner, { name, value });
}

/** What all members hear, some in one delivery (G6). */
type Told = 'terms' | 'again' | 'topic' | 'end';

function tellAll(draft: GroupState, what: Told, ctx: GroupContext): void {
  beginRound(ctx, what, (after) => tellSome(draft, what, after, ctx));
}

function tellSome(draft: GroupState, what: Told, after: string, ctx: GroupContext): string | undefined {
  return someRows(ctx.table('members'), { after, limit: GROUP_BOUNDS.told_at_once }, (entity, row) => {
    if (what === 'end') leave(draft, entity, ctx);
    else if (what === 'terms') tellMember(draft, entity, ctx);
    else if (row.stands && what === 'topic') subscribe(draft, entity, ctx);
    else if (row.stands) tellStanding(draft, entity, row, ctx);
  });
}

type PublishedNews = z.infer<typeof publishedNews>;

interface News extends Pick<PublishedNews, 'payload' | 'by' | 'merged_by'> {
  /** Whether it is about an item, whose first words members are shown as the culture says. */
  readonly hasWords: boolean;
}

/** Brings news to all members in a chatty group; else it stands on the board, once for all. */
function publish(draft: GroupState, event: SocietyEvent, { hasWords, ...news }: News, ctx: GroupContext): void {
  if (draft.standing === 'deleted') return;
  const { notification_policy: policy } = draft.culture;
  const push = policy === 'push';
  const isShown = hasWords && policy !== 'silent';
  const eagerness = eagernessOf(draft, ctx);
  const post = { event, ...news, show: isShown && eagerness !== 'taciturn', at: ctx.now };
  if (eagerness !== 'chatty') {
    openBoard(draft, ctx);
    return putOnBoard(draft, post, push, ctx);
  }
  const deliver = isShown ? 'steer' : 'poll';
  const value: PublishedNews = { ...news, deliver, push, n: keepPost(draft, post, ctx) };
  ctx.send(
    topicOf(ctx),
    { name: 'flow/Publish@1', value: { name: event, value } },
    { reply: 'refusal', tag: NEWS_TAG },
  );
}

/** A group that has grown out of chatty news: its members hear once that there is a board. */
function openBoard(draft: GroupState, ctx: GroupContext): void {
  if (draft.has_board) return;
  draft.has_board = true;
  tellAll(draft, 'terms', ctx);
}

/** SOC-22: an eagerness that was not stated is chatty in a small group only. */
function eagernessOf({ culture: { broadcast_eagerness: stated } }: GroupState, ctx: GroupContext) {
  return stated ?? (ctx.table('members').size > GROUP_BOUNDS.chatty ? 'moderate' : 'chatty');
}

/** Whether news may go to all members at once: the group has a topic for that. */
function mayBeChatty({ culture: { broadcast_eagerness: stated } }: GroupState): boolean {
  return stated === null || stated === 'chatty';
}

/**
 * The authority of who commands: that of the owner, or of an admin.
 *
 * @param row that of a member; undefined for the owner and for what comes from outside, which the gate has judged
 */
function rankOf(row: MemberRow | undefined, ctx: GroupContext): 'owner' | 'admin' {
  if (row === undefined) return 'owner';
  const { stands, role } = row;
  return stands && (role === 'owner' || role === 'admin') ? role : ctx.reject('not_authorized');
}

function isHigh(role: Role | undefined): boolean {
  return role === 'owner' || role === 'admin';
}

/** Refuses all but the owner, the members with its role, and what comes from outside. */
function requireOwner(row: MemberRow | undefined, ctx: GroupContext): void {
  if (rankOf(row, ctx) !== 'owner') ctx.reject('not_authorized');
}

function requireOpen({ standing }: GroupState, ctx: GroupContext): void {
  if (standing !== 'open') ctx.reject('group_ended');
}

/** The member that sends the event, when its entity has taken the membership (G1). */
function standingMember(row: MemberRow | undefined, ctx: GroupContext): { readonly by: string; readonly role: Role } {
  return row?.stands === true ? { by: rowKeyOf(ctx), role: row.role } : ctx.reject('not_a_member');
}

function fieldIn(payload: unknown, name: string): unknown {
  return typeof payload === 'object' && payload !== null ? Reflect.get(payload, name) : undefined;
}

function topicOf({ address: [, group] }: GroupContext): Address {
  return [TOPIC, `society/${group}`];
}
