/**
 * How a member reads the boards of its groups: before a call shows its inbox, and before an input starts a run.
 *
 * The groups answer in the order in which they are asked, and deliveries are made in the order in which they were sent: an
 * event that the entity sends to itself when it has asked, and once more when that arrives, comes after all answers.
 */
import type { ReducerContext } from '@reprise/kernel/define';
import { type BoardNews, GROUP, SOCIETY_BOUNDS } from '../contracts/index.js';
import { idOf, tableOf } from './entity-context.js';
import { agentOf, hears, isOfOwnAgent, keepInInbox } from './inbox.js';
import { countsOf, memberTable, setCounts } from './member-context.js';

/** Asks every group with a board for its news. @returns whether there is one */
export function askBoards(ctx: ReducerContext): boolean {
  const boards = memberTable(ctx, 'boards').range({ limit: SOCIETY_BOUNDS.memberships });
  for (const [group, after] of boards) ctx.send([GROUP, group], { name: 'society/ReadNews@1', value: { after } });
  return boards.length > 0;
}

/** Has a call wait for the news of all boards. @returns whether it waits; without a board there is nothing to wait for */
export function waitsForNews(call: string, ctx: ReducerContext): boolean {
  if (!askBoards(ctx)) return false;
  ctx.send(ctx.address, { name: 'society/NewsAsked@1', value: { call, answered: false } });
  return true;
}

/** Follows the board of a group, or no longer. What was posted before the entity became a member is not for it. */
export function followBoard(group: string, board: boolean, ctx: ReducerContext): void {
  const boards = memberTable(ctx, 'boards');
  if (!board) boards.delete(group);
  else if (boards.get(group) === undefined) boards.set(group, 0);
}

/** The news of a group: taken while the entity is a member, each once, and what left the board unread is counted. */
export function takeNews({ group, missed, missed_to, posts }: BoardNews, ctx: ReducerContext): void {
  const boards = memberTable(ctx, 'boards');
  const after = boards.get(group);
  if (after === undefined || tableOf(ctx, 'memberships').get(group) === undefined) return;
  const lost = missed_to > after ? missed : 0;
  const { next: n, dropped } = countsOf(ctx);
  if (lost > 0) setCounts({ next: n + lost, dropped: dropped + lost }, ctx);
  const fresh = posts.filter(([at]) => at > after);
  const taken = fresh.filter(([, { event, payload, by }]) => {
    if (by === idOf(ctx) || isOfOwnAgent(event, payload, ctx)) return false;
    return hears(ctx, event, group, agentOf(payload).agent);
  });
  for (const [, post] of taken) keepInInbox(post, ctx);
  boards.set(group, Math.max(after, missed_to, fresh.at(-1)?.[0] ?? 0));
  if (lost === 0 && taken.length === 0) return;
  const numbers = { missed: lost, missed_to: lost > 0 ? missed_to : 0, posts: taken.map(([at]) => at) };
  ctx.record('society/NewsRead@1', { group_id: group, n, ...numbers, dropped: countsOf(ctx).dropped });
}
