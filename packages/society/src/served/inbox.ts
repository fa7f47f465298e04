/** The inbox of an entity as a resource: clients that follow it are told when something arrives. */

import type { AgentWorld, ServedResource } from '@reprise/agent';
import { isRepriseError, type JournalRecord, type ValueMap } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { isExpired, permits } from '@reprise/kernel/authority';
import { CellReader, factIn } from '@reprise/org';
import { eventOf } from '../answers/shown.js';
import { readBoardsOf } from '../api/entity-inbox.js';
import { ENTITY, GROUP, type GroupState, groupAt, groupFacts, type groupTables, storeOf } from '../pure/index.js';
import { isOfItem } from '../pure/reducer/inbox/inbox.js';
import { isOwnNews } from '../pure/reducer/inbox/news.js';

const URI = 'society://inbox/';

/** The rows of a page of a table: all that an inbox may hold. */
const ROWS = 256;

/**
 * `society://inbox/{id}`: the events that wait for an entity, the oldest first. What stands on the boards of its groups is
 * read first, as by `events_poll`. Only that entity reads them.
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
      const unread = await unreadOf(kernel, id);
      if (unread !== undefined) await readBoardsOf(kernel, [ENTITY, id], unread).catch(unlessFailed);
      const rows = await view.table([ENTITY, id], 'inbox', { limit: ROWS });
      const events = rows.map(([n, row]) => eventOf({ ...(row as ValueMap), n: Number(n) }));
      return new TextEncoder().encode(JSON.stringify({ events }));
    },
    changed: async ({ records }) => {
      const found = await Promise.all(records.map((record) => changedBy(kernel, record)));
      return [...new Set(found.flat())];
    },
  };
}

/** The inboxes that a record changes for clients that are connected: one, or those of the members of a group. */
async function changedBy(kernel: World, record: JournalRecord): Promise<readonly string[]> {
  if (record.kind !== 'fact' || (record.value as { readonly push?: boolean }).push !== true) return [];
  const { name, from } = record;
  if (name === 'society/Noticed@1' && from?.[0] === ENTITY) return [`${URI}${from[1]}`];
  const post = factIn(record, [groupFacts, 'society/Posted@1']);
  if (post === undefined || from?.[0] !== GROUP) return [];
  const store = isOfItem(post) ? storeOf.group(from[1]) : undefined;
  const uris: string[] = [];
  const group = new CellReader<GroupState, typeof groupTables>(kernel, groupAt(from[1]));
  for await (const [id, { stands }] of group.each('members'))
    if (stands && !isOwnNews(post, id) && (store === undefined || (await reaches(kernel, id, store))))
      uris.push(`${URI}${id}`);
  return uris;
}

/** A cell that has failed reads no board: its inbox is shown as it stands. */
function unlessFailed(error: unknown): void {
  if (!isRepriseError(error, 'cell_failed')) throw error;
}

/** Whether the rights of an entity reach a store now: who may not read it is not told that something is there. */
async function reaches(kernel: World, id: string, store: string): Promise<boolean> {
  const exercise = (await kernel.rights(`cell:${ENTITY}/${id}`)).effective?.exercise;
  return exercise !== undefined && permits(exercise, 'mem_read', store) && !isExpired(exercise, kernel.now);
}

/** The boards with news that an entity has not read, as a text that changes with them; undefined without any. */
async function unreadOf(kernel: World, id: string): Promise<string | undefined> {
  const unread: string[] = [];
  for (const [group, read] of await kernel.table([ENTITY, id], 'boards')) {
    const { posted = 0 } = ((await kernel.state([GROUP, group])) ?? {}) as { readonly posted?: number };
    if (posted > (read as number)) unread.push(`${group} ${posted}`);
  }
  return unread.length === 0 ? undefined : `unread ${unread.join(' ')}`;
}
