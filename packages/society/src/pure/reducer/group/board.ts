/**
 * The board of a group: its news, kept once, which members read when their culture says. It has the last news; what left
 * it is counted for those that had not read it, and stands in the journal.
 */

import { present, type Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import type { ReducerContext } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import { entityAt } from '../../contracts/cell/names.js';
import type { News } from '../../contracts/entity-parts.js';
import {
  GROUP_BOUNDS,
  type GroupState,
  type groupTables,
  type MemberRow,
  type Post,
} from '../../contracts/group/group.js';

/** Keeps news for members that read it. @returns its number */
export function keepPost(draft: GroupState, post: Post, ctx: GroupContext): number {
  const board = ctx.table('board');
  const n = ++draft.posted;
  board.set(key(n), post);
  if (board.size > GROUP_BOUNDS.posts) board.delete(board.first()?.[0] ?? '');
  return n;
}

/** Puts news on the board. `push`: clients that follow the inbox of a member are told. */
export function putOnBoard(draft: GroupState, post: Post, push: boolean, ctx: GroupContext): void {
  const n = keepPost(draft, post, ctx);
  const { event, payload, by, merged_by } = post;
  const bringing = { by, ...present({ merged_by }) };
  ctx.record('society/Posted@1', { group_id: ctx.address[1], n, event, payload, ...bringing, push });
}

/**
 * Tells a member the news after a number, as far as it was a member then. Without any, nothing is told from a board; where the
 * group has none, the member hears that it has missed nothing.
 */
export function tellNews(
  draft: GroupState,
  by: string,
  row: MemberRow,
  { after, sees }: { readonly after: number; readonly sees: boolean },
  ctx: GroupContext,
): void {
  const from = Math.max(after, row.posted);
  if (from >= draft.posted) {
    const none: News<'society/News@1'> = { group: ctx.address[1], ...NONE_MISSED, posts: [], sees };
    if (!draft.has_board) ctx.send(entityAt(by), { name: 'society/News@1', value: none });
    return;
  }
  const posts = ctx
    .table('board')
    .range({ after: key(from), limit: GROUP_BOUNDS.posts })
    .map(([key, post]): [number, Post] => [Number(key), post]);
  const oldest = posts[0]?.[0] ?? draft.posted + 1;
  const missing = { missed: oldest - 1 - from, missed_to: oldest - 1 };
  for (const [at, page] of pagesOf(posts).entries()) {
    const missed = at === 0 ? missing : NONE_MISSED;
    const value: News<'society/News@1'> = { group: ctx.address[1], ...missed, posts: page, sees };
    ctx.send(entityAt(by), { name: 'society/News@1', value });
  }
}

const NONE_MISSED = { missed: 0, missed_to: 0 };

/** Pages that each fit into one event. */
function pagesOf(posts: readonly [number, Post][]): [number, Post][][] {
  const pages: [number, Post][][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const post of posts) {
    const size = encode(post as unknown as Value).length;
    bytes += size;
    if (bytes > GROUP_BOUNDS.news_bytes) {
      pages.push([]);
      bytes = size;
    }
    pages.at(-1)?.push(post);
  }
  return pages;
}

/** What the recipes of a group get: its tables have their types. */
export type GroupContext = ReducerContext<typeof groupTables>;
