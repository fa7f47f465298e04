/**
 * News that groups publish to their members, each at once. News of an item is taken when the gate lets the entity read the
 * store at that moment.
 */

import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, type InputPart, present, type Value } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import type { EntityState } from '../../contracts/entity/entity.js';
import { publishedNews } from '../../contracts/group/group.js';
import type { SeeingFor, Seen } from '../../contracts/group/seeing.js';
import { SOCIETY_EVENTS } from '../../contracts/memory/tools.js';
import { countsOf, type EntityContext, idOf } from '../context/entity.js';
import { mayOperate } from '../rights/may-ask.js';
import { sessionKey } from '../rights/session.js';
import { isHeard } from './board-reading.js';
import { agentOf, hears, ITEM_WRITTEN, isOfOwnAgent, keepNotice, notice } from './inbox.js';
import { isLater, isOwnNews, newsItem, see, wordsOf } from './news.js';

export function published(draft: EntityState, group: string, name: string, value: Value, ctx: EntityContext): void {
  const parsed = publishedNews.safeParse(value);
  const event = SOCIETY_EVENTS.find((one) => one === name);
  if (!parsed.success || event === undefined) return;
  if (!isHeard(draft, group, parsed.data.n, ctx)) return;
  const { payload, deliver, push, by, merged_by } = parsed.data;
  if (isOwnNews(parsed.data, idOf(ctx))) return;
  if (isOfOwnAgent(name, payload, ctx)) return;
  if (event !== ITEM_WRITTEN) return notice({ event, payload, push, group, ...agentOf(payload) }, ctx);
  const item = newsItem(payload);
  if (item === undefined || item.group !== group || !hears(ctx, name, group, undefined)) return;
  const ids = deliver === 'steer' ? [item.id] : [];
  const news = { group, payload, push, by, ...present({ merged_by }), steer: deliver === 'steer' };
  see(draft, [{ store: item.store, ids }], { for: 'news', news }, ctx);
}

/** Takes the news of an item that the entity may see. Its first words go to the sessions that run, or wait for the next run. */
export function takeItemNews(
  draft: EntityState,
  { payload, push, steer, ...news }: Extract<SeeingFor, { for: 'news' }>['news'],
  seen: readonly Seen[],
  ctx: EntityContext,
): void {
  if (!seen.some(({ verdict }) => verdict !== 'denied')) return;
  const bringing = { by: news.by, ...present({ merged_by: news.merged_by }) };
  const mayShow = mayOperate(draft) && !isLater(payload, seen);
  const sessions = mayShow ? [...allRows(ctx.table('sessions'))] : [];
  const running = sessions.flatMap(([name, { open, running }]) => (open && running ? [name] : []));
  keepNotice(
    { event: ITEM_WRITTEN, payload, at: ctx.now, show: steer && running.length === 0, ...bringing },
    push,
    ctx,
  );
  if (steer) for (const name of running) steerInto(name, wordsOf({ payload, ...bringing }, seen), ctx);
}

/** Shows the first words of an item to a session at its next step. A session takes 16 such messages at most. */
function steerInto(name: string, parts: readonly InputPart[], ctx: EntityContext): void {
  if (parts.length === 0) return;
  const command_id = ctx.id(`news ${name} ${countsOf(ctx).next}`);
  const to: Address = [SESSION_REDUCER, sessionKey(idOf(ctx), name)];
  const value = { command_id, command: { type: 'Steer', parts } };
  ctx.send(to, { name: 'aos.agent/HostCommand@1', value });
}
