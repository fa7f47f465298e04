/**
 * News that groups publish to their members, each at once. News of an item is taken when the gate lets the entity read the
 * store at that moment.
 */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, type InputPart, present, type Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  type EntityState,
  type ItemNews,
  publishedNews,
  type Seen,
  SOCIETY_BOUNDS,
  type SocietyEvent,
} from '../contracts/index.js';
import { isHeard } from './board-reading.js';
import { idOf, tableOf } from './entity-context.js';
import { agentOf, hears, ITEM_WRITTEN, isOfOwnAgent, keepNotice, notice } from './inbox.js';
import { mayOperate } from './may-ask.js';
import { countsOf } from './member-context.js';
import { isLater, isOwnNews, newsItem, wordsOf } from './news.js';
import { see } from './seeing.js';
import { sessionKey } from './session-rights.js';

/** An event that a group of this entity has published. */
export function published(draft: EntityState, group: string, name: string, value: Value, ctx: ReducerContext): void {
  const parsed = publishedNews.safeParse(value);
  if (!parsed.success || !isEvent(name)) return;
  if (!isHeard(draft, group, parsed.data.n, ctx)) return;
  const { payload, deliver, push, by, merged_by } = parsed.data;
  if (isOwnNews(parsed.data, idOf(ctx))) return;
  if (isOfOwnAgent(name, payload, ctx)) return;
  if (name !== ITEM_WRITTEN) return notice({ event: name, payload, push, group, ...agentOf(payload) }, ctx);
  const item = newsItem(payload);
  if (item === undefined || item.group !== group || !hears(ctx, name, group, undefined)) return;
  const ids = deliver === 'steer' ? [item.id] : [];
  const news = { group, payload, push, by, ...present({ merged_by }), steer: deliver === 'steer' };
  see(draft, [{ store: item.store, ids }], { for: 'news', news }, ctx);
}

/** Takes the news of an item that the entity may see. Its first words go to the sessions that run, or wait for the next run. */
export function takeItemNews(draft: EntityState, news: ItemNews, seen: readonly Seen[], ctx: ReducerContext): void {
  if (!seen.some(({ verdict }) => verdict !== 'denied')) return;
  const { payload, push, steer } = news;
  const bringing = { by: news.by, ...present({ merged_by: news.merged_by }) };
  const running = mayOperate(draft) && !isLater(payload, seen) ? runningSessions(ctx) : [];
  keepNotice(
    { event: ITEM_WRITTEN, payload, at: ctx.now, show: steer && running.length === 0, ...bringing },
    push,
    ctx,
  );
  if (steer) for (const name of running) steerInto(name, wordsOf({ payload, ...bringing }, seen), ctx);
}

function runningSessions(ctx: ReducerContext): readonly string[] {
  const sessions = tableOf(ctx, 'sessions').range({ limit: SOCIETY_BOUNDS.sessions });
  return sessions.flatMap(([name, { open, running }]) => (open && running ? [name] : []));
}

/** Shows the first words of an item to a session at its next step. A session takes 16 such messages at most. */
function steerInto(name: string, parts: readonly InputPart[], ctx: ReducerContext): void {
  if (parts.length === 0) return;
  const command_id = ctx.id(`news ${name} ${countsOf(ctx).next}`);
  const to: Address = [SESSION_REDUCER, sessionKey(idOf(ctx), name)];
  const value = { command_id, command: { type: 'Steer', parts } };
  ctx.send(to, { name: 'aos.agent/HostCommand@1', value });
}

function isEvent(name: string): name is SocietyEvent {
  return name in EVENT_NAMES;
}

const EVENT_NAMES: Readonly<Record<SocietyEvent, true>> = {
  'memory.written': true,
  'group.member_joined': true,
  'group.member_left': true,
  'swarm.task_complete': true,
  'trust.score_changed': true,
  'agent.status_changed': true,
};
