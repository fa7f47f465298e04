/**
 * Events that reach an entity: from the topics of its groups, from its agents, and about itself.
 *
 * Membership is asked when the group subscribes the entity, and once more when an event arrives: what was under way when
 * it left is not taken. News of an item is taken when the gate lets the entity read the store at that moment.
 */

import { isKeyText, type Patterns, type Value } from '@reprise/contracts';
import { matchesAny } from '@reprise/kernel/authority';
import { allRows } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import { SOCIETY_BOUNDS } from '../../contracts/cell/names.js';
import type { Subscription } from '../../contracts/entity/agent-tools.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { Row, SocietyCallOf } from '../../contracts/entity-parts.js';
import type { SocietyEvent } from '../../contracts/group/member.js';
import { MEMORY_BOUNDS } from '../../contracts/memory/tools.js';
import { fitting, roomFor } from '../call/answers.js';
import type { Answer } from '../call/operations.js';
import { countsOf, type EntityContext, idOf, setCounts } from '../context/entity.js';
import { compiledOf } from '../rights/rights.js';

/** An event on its way to the inbox. */
interface News {
  readonly event: SocietyEvent;
  readonly payload: Value;
  readonly push: boolean;
  readonly group: string | null;
  readonly agent?: string;
}

/** The event whose content a store has. */
export const ITEM_WRITTEN: SocietyEvent = 'memory.written';

/** Whether news is about an item: it is for those alone who may read the store. */
export function isOfItem({ event }: Pick<Row<'inbox'>, 'event'>): boolean {
  return event === ITEM_WRITTEN;
}

/** Puts an event into the inbox, if the entity hears of it. The oldest event leaves a full inbox, and is counted. */
export function notice({ event, payload, push, group, agent }: News, ctx: EntityContext): void {
  if (!hears(ctx, event, group, agent)) return;
  keepNotice({ event, payload, at: ctx.now, show: false, by: null }, push, ctx);
}

/** Puts an event into the inbox, and says so. @param push whether clients that are connected are told */
export function keepNotice(row: Row<'inbox'>, push: boolean, ctx: EntityContext): void {
  const { event, payload } = row;
  ctx.record('society/Noticed@1', { ...keepInInbox(row, ctx), event, payload, push });
}

/** Puts an event into the inbox. @returns its number, and how many events the inbox has dropped */
export function keepInInbox(row: Row<'inbox'>, ctx: EntityContext): { readonly n: number; readonly dropped: number } {
  const inbox = ctx.table('inbox');
  let { next: n, dropped } = countsOf(ctx);
  inbox.set(key(n), row);
  if (inbox.size > SOCIETY_BOUNDS.inbox) {
    inbox.delete(inbox.first()?.[0] ?? '');
    dropped++;
  }
  setCounts({ next: n + 1, dropped }, ctx);
  return { n, dropped };
}

/** Whether news is the status of an agent that this entity made: of its own agents it hears at once, from them. */
export function isOfOwnAgent(name: string, payload: Value, ctx: EntityContext): boolean {
  if (name !== 'agent.status_changed') return false;
  return ctx.table('children').get(agentOf(payload).agent ?? '-') !== undefined;
}

/** An entity without subscriptions hears of all that reaches it; others of what they subscribed to. */
export function hears(ctx: EntityContext, event: string, group: string | null, agent: string | undefined): boolean {
  const subscriptions = ctx.table('subscriptions').range({ limit: SOCIETY_BOUNDS.subscriptions });
  const selects = ({ event: of, group_id = group ?? '', agent_id = agent }: Subscription): boolean =>
    of === event && group_id === (group ?? '') && agent_id === agent;
  return subscriptions.length === 0 || subscriptions.some(([, one]) => selects(one));
}

/**
 * Replaces the subscriptions of the entity.
 *
 * @returns those that are out of its reach: of a group that it may not join, of an agent that it did not make
 */
export function subscribe(draft: EntityState, wanted: readonly Subscription[], ctx: EntityContext): Subscription[] {
  const table = ctx.table('subscriptions');
  for (const [key] of allRows(table)) table.delete(key);
  const reach: Reach = {
    id: idOf(ctx),
    groups: compiledOf(draft, ctx).exercise.may.group,
    made: (agent) => ctx.table('children').get(agent) !== undefined,
  };
  const refused = wanted.filter((one) => !inReach(one, reach));
  for (const one of wanted) if (!refused.includes(one)) table.set(subscriptionKey(one), one);
  return refused;
}

export function refusedSubscriptions(refused: readonly Subscription[]) {
  return { refused_subscriptions: refused as unknown as Value };
}

/** Drops the subscriptions to a group that the entity has left. */
export function unsubscribe(group: string, ctx: EntityContext): void {
  const table = ctx.table('subscriptions');
  for (const [key, { group_id }] of allRows(table)) if (group_id === group) table.delete(key);
}

/** What an entity may hear of: the groups that it may join, itself, and the agents that it made. */
interface Reach {
  readonly id: string;
  readonly groups: Patterns | undefined;
  made(agent: string): boolean;
}

/** A group is in reach when the entity may join it. What is heard of it is decided by membership. */
export function inReach({ group_id, agent_id }: Subscription, { id, groups, made }: Reach): boolean {
  if (group_id !== undefined && !matchesAny(groups ?? ['*'], group_id)) return false;
  return agent_id === undefined || agent_id === id || made(agent_id);
}

function subscriptionKey({ event, group_id = '', agent_id = '' }: Subscription): string {
  return `${event} ${agent_id || group_id}`.slice(0, 256);
}

export function agentOf(payload: Value): { readonly agent?: string } {
  const agent = typeof payload === 'object' && payload !== null ? Reflect.get(payload, 'agent_id') : undefined;
  return typeof agent === 'string' && isKeyText(agent) ? { agent } : {};
}

/** The events of the inbox after a number, the oldest first. */
export function eventsAfter(after: number, limit: number, ctx: EntityContext): readonly Value[] {
  return ctx
    .table('inbox')
    .range({ after: key(after), limit })
    .map(([key, { event, payload, at }]) => ({ n: Number(key), event, payload, at }));
}

/** What `events_poll` answers: the events behind a place, up to a page. */
export function polled(args: SocietyCallOf<'events_poll'>, call: string, ctx: EntityContext): Answer {
  const { after = 0, limit = MEMORY_BOUNDS.polled } = args;
  const { dropped, next } = countsOf(ctx);
  const events = fitting(eventsAfter(after, limit, ctx), roomFor(call, ctx));
  const last = events.at(-1) as { readonly n: number } | undefined;
  return { value: { events, next: last?.n ?? Math.max(after, next - 1), dropped } };
}
