/**
 * How a member reads the boards of its groups: before a call shows its inbox, and before an input starts a run.
 *
 * The groups answer in the order in which they are asked, and deliveries are made in the order in which they were sent: an
 * event that the entity sends to itself when it has asked, and once more when that arrives, comes after all answers.
 */
import type { ReducerContext } from '@reprise/kernel/define';
import {
  type BoardNews,
  type EntityState,
  GROUP,
  groupOfStore,
  type SeeingFor,
  type Seen,
  SOCIETY_BOUNDS,
  storeOf,
} from '../contracts/index.js';
import { idOf, tableOf } from './entity-context.js';
import { agentOf, hears, isOfItem, isOfOwnAgent, keepInInbox } from './inbox.js';
import { countsOf, memberTable, setCounts } from './member-context.js';
import { isOwnNews } from './news.js';
import { see } from './seeing.js';

/**
 * Looks at the stores of the groups with a board, and then asks those for their news.
 *
 * @param purpose what waits for it
 * @returns whether there is one
 */
export function askBoards(draft: EntityState, purpose: SeeingFor, ctx: ReducerContext): boolean {
  const boards = memberTable(ctx, 'boards').range({ limit: SOCIETY_BOUNDS.memberships });
  const stores = boards.map(([group]) => ({ store: storeOf.group(group), ids: [] }));
  if (stores.length > 0) see(draft, stores, purpose, ctx);
  return stores.length > 0;
}

/** Asks boards for their news, and says of each whether the gate lets the store be seen. */
export function readBoards(seen: readonly Seen[], ctx: ReducerContext): void {
  for (const { store, verdict } of seen) {
    const group = groupOfStore(store);
    const after = group === undefined ? undefined : memberTable(ctx, 'boards').get(group);
    if (group === undefined || after === undefined) continue;
    ctx.send([GROUP, group], { name: 'society/ReadNews@1', value: { after, sees: verdict !== 'denied' } });
  }
}

/** Has a call wait for the news of all boards. @returns whether it waits; without a board there is nothing to wait for */
export function waitsForNews(draft: EntityState, call: string, ctx: ReducerContext): boolean {
  return askBoards(draft, { for: 'boards', call }, ctx);
}

/** Follows the board of a group, or no longer. What was posted before the entity became a member is not for it. */
export function followBoard(group: string, board: boolean, ctx: ReducerContext): void {
  const boards = memberTable(ctx, 'boards');
  if (!board) boards.delete(group);
  else if (boards.get(group) === undefined) boards.set(group, 0);
}

/** The news of a group: taken while the entity is a member, each once, and what left the board unread is counted. */
export function takeNews({ group, missed, missed_to, posts, sees }: BoardNews, ctx: ReducerContext): void {
  const boards = memberTable(ctx, 'boards');
  const after = boards.get(group);
  if (after === undefined || tableOf(ctx, 'memberships').get(group) === undefined) return;
  const lost = missed_to > after ? missed : 0;
  const { next: n, dropped } = countsOf(ctx);
  if (lost > 0) setCounts({ next: n + lost, dropped: dropped + lost }, ctx);
  const fresh = posts.filter(([at]) => at > after);
  const taken = fresh.filter(([, post]) => {
    const { event, payload } = post;
    if (isOfItem({ event }) && !sees) return false;
    if (isOwnNews(post, idOf(ctx)) || isOfOwnAgent(event, payload, ctx)) return false;
    return hears(ctx, event, group, agentOf(payload).agent);
  });
  for (const [, post] of taken) keepInInbox(post, ctx);
  boards.set(group, Math.max(after, missed_to, fresh.at(-1)?.[0] ?? 0));
  if (lost === 0 && taken.length === 0) return;
  const numbers = { missed: lost, missed_to: lost > 0 ? missed_to : 0, posts: taken.map(([at]) => at), sees };
  ctx.record('society/NewsRead@1', { group_id: group, n, ...numbers, dropped: countsOf(ctx).dropped });
}
