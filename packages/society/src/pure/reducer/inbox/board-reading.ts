/**
 * How a member reads the boards of its groups: before a call shows its inbox, and before an input starts a run.
 *
 * The groups answer in the order in which they are asked, and deliveries are made in the order in which they were sent: an
 * event that the entity sends to itself when it has asked, and once more when that arrives, comes after all answers.
 */

import { allRows } from '@reprise/kernel/define';
import { GROUP, groupOfStore, storeOf } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { News } from '../../contracts/entity-parts.js';
import type { SeeingFor, Seen } from '../../contracts/group/seeing.js';
import { countsOf, type EntityContext, idOf, setCounts } from '../context/entity.js';
import { agentOf, hears, isOfItem, isOfOwnAgent, keepInInbox } from './inbox.js';
import { isOwnNews, see } from './news.js';

/**
 * Looks at the stores of the groups with a board, and then asks those for their news.
 *
 * @param purpose what waits for it
 * @returns whether there is one
 */
export function askBoards(draft: EntityState, purpose: SeeingFor, ctx: EntityContext): boolean {
  const boards = [...allRows(ctx.table('boards'))];
  const stores = boards.map(([group]) => ({ store: storeOf.group(group), ids: [] }));
  if (stores.length > 0) see(draft, stores, purpose, ctx);
  return stores.length > 0;
}

/** Asks boards for their news, and says of each whether the gate lets the store be seen. */
export function readBoards(seen: readonly Seen[], ctx: EntityContext): void {
  for (const { store, verdict } of seen) {
    const group = groupOfStore(store);
    const after = group === undefined ? undefined : ctx.table('boards').get(group);
    if (group === undefined || after === undefined) continue;
    ctx.send([GROUP, group], { name: 'society/ReadNews@1', value: { after, sees: verdict !== 'denied' } });
  }
}

/** Has a call wait for the news of all boards. @returns whether it waits; without a board there is nothing to wait for */
export function waitsForNews(draft: EntityState, call: string, ctx: EntityContext): boolean {
  return askBoards(draft, { for: 'boards', call }, ctx);
}

/**
 * Follows the board of a group, or no longer. What was posted before the entity became a member is not for it.
 *
 * @param board whether the group has one; null where the entity is no member any more
 */
export function followBoard(group: string, board: boolean | null, ctx: EntityContext): void {
  if (board === true) readFrom(group, ctx);
  else if (board === null) for (const table of ['boards', 'heard'] as const) ctx.table(table).delete(group);
}

/**
 * Whether news that a group publishes is taken as it comes: what came before it was heard, too. Where the entity has missed
 * some, it reads them all, in their order.
 */
export function isHeard(draft: EntityState, group: string, n: number, ctx: EntityContext): boolean {
  const table = ctx.table(ctx.table('boards').get(group) === undefined ? 'heard' : 'boards');
  const last = table.get(group) ?? n - 1;
  if (n === last + 1) table.set(group, n);
  if (n <= last + 1) return n > last;
  readFrom(group, ctx);
  see(draft, [{ store: storeOf.group(group), ids: [] }], { for: 'boards', call: null }, ctx);
  return false;
}

/** Has what a group published since it was last heard be read as from a board. */
export function readFrom(group: string, ctx: EntityContext): void {
  const boards = ctx.table('boards');
  if (boards.get(group) === undefined) boards.set(group, ctx.table('heard').get(group) ?? 0);
}

/** The news of a group: taken while the entity is a member, each once, and what left the board unread is counted. */
export function takeNews({ group, missed, missed_to, posts, sees }: News<'society/News@1'>, ctx: EntityContext): void {
  const boards = ctx.table('boards');
  const after = boards.get(group);
  if (after === undefined || ctx.table('memberships').get(group) === undefined) return;
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
  const last = Math.max(after, missed_to, fresh.at(-1)?.[0] ?? 0);
  boards.set(group, last);
  if (ctx.table('terms').get(group)?.board === false) {
    // A group without a board has told what was missed: from now on its news is heard as it comes.
    boards.delete(group);
    ctx.table('heard').set(group, last);
  }
  if (lost === 0 && taken.length === 0) return;
  const numbers = { missed: lost, missed_to: lost > 0 ? missed_to : 0, posts: taken.map(([at]) => at), sees };
  ctx.record('society/NewsRead@1', { group_id: group, n, ...numbers, dropped: countsOf(ctx).dropped });
}
