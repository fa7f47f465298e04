/** The inbox of an entity as a resource: clients that follow it are told when something arrives. */
import type { AgentWorld, ServedResource } from '@reprise/agent';
import type { JournalRecord, Value, ValueMap } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { ENTITY, GROUP, type MemberRow, type Post, type Subscription } from '../pure/index.js';
import { agentOf, isSubscribed } from '../pure/reducer/inbox.js';
import { numberKey } from '../pure/reducer/member-context.js';
import { eventOf } from './shown.js';

const URI = 'society://inbox/';

/** The rows of a page of a table: all that an inbox may hold. */
const ROWS = 256;

/**
 * `society://inbox/{id}`: the events that wait for an entity, the oldest first, and under `unread` those on the boards of
 * its groups, which have no number until `events_poll` has read them. Only that entity reads them.
 */
export function inboxResource({ kernel }: AgentWorld): ServedResource {
  return {
    uri: `${URI}{id}`,
    name: 'The inbox of an entity',
    mediaType: 'application/json',
    async read(view, uri) {
      const id = uri.slice(URI.length);
      const own = view.principal === `human:${id}` || view.principal === `cell:${ENTITY}/${id}`;
      if (!own || (await view.state([ENTITY, id])) === undefined) return undefined;
      const rows = await view.table([ENTITY, id], 'inbox', { limit: ROWS });
      const events = rows.map(([n, row]) => eventOf({ ...(row as ValueMap), n: Number(n) }));
      const unread = await unreadOf(kernel, id);
      return new TextEncoder().encode(JSON.stringify({ events, unread }));
    },
    changed: async ({ records }) => {
      const found = await Promise.all(records.map((record) => changedBy(kernel, record)));
      return [...new Set(found.flat())];
    },
  };
}

/** The inboxes that a record changes for clients that are connected: one, or those of all members of a group. */
async function changedBy(kernel: World, record: JournalRecord): Promise<readonly string[]> {
  if (record.kind !== 'fact' || (record.value as { readonly push?: boolean }).push !== true) return [];
  const { name, from, value } = record;
  if (name === 'society/Noticed@1' && from?.[0] === ENTITY) return [`${URI}${from[1]}`];
  if (name !== 'society/Posted@1' || from?.[0] !== GROUP) return [];
  const { by } = value as { readonly by?: string | null };
  const uris: string[] = [];
  for (let after = '', isLast = false; !isLast; ) {
    const page = await kernel.table([GROUP, from[1]], 'members', after === '' ? {} : { after });
    for (const [id, row] of page) if (isMember(row) && id !== by) uris.push(`${URI}${id}`);
    after = page.at(-1)?.[0] ?? '';
    isLast = page.length < ROWS;
  }
  return uris;
}

/** What stands on the boards of an entity's groups and was not read; membership is asked at each group. */
async function unreadOf(kernel: World, id: string): Promise<readonly Value[]> {
  const boards = await kernel.table([ENTITY, id], 'boards');
  if (boards.length === 0) return [];
  const subscriptions = (await kernel.table([ENTITY, id], 'subscriptions')).map(
    ([, one]) => one as unknown as Subscription,
  );
  const unread: Value[] = [];
  for (const [group, read] of boards) {
    const [entity, row] = (await kernel.table([GROUP, group], 'members', { from: id, limit: 1 }))[0] ?? [];
    if (entity !== id || !isMember(row)) continue;
    const after = numberKey(Math.max(read as number, row.posted));
    for (const [, value] of await kernel.table([GROUP, group], 'board', { after })) {
      const { by, ...post } = value as unknown as Post;
      const { agent } = agentOf(post.payload);
      if (by === id || !isSubscribed(subscriptions, { event: post.event, group, agent })) continue;
      const { n: _, ...event } = eventOf({ ...post, n: 0 } as unknown as ValueMap) as ValueMap;
      unread.push(event);
    }
  }
  return unread;
}

function isMember(row: Value | undefined): row is Value & MemberRow {
  return (row as MemberRow | undefined)?.stands === true;
}
