/**
 * The inbox of an entity as an app follows it. An inbox keeps 256 events; what it has dropped stands in the journal, from
 * which it is read where the app asks for it.
 *
 * Groups that are not chatty keep their news on a board. Who follows the inbox has the boards read: at the beginning, and
 * when a group of the entity posts something.
 */

import { type Address, formatAddress, type Value, type ValueMap } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { World, WorldFrame } from '@reprise/kernel';
import { command, factIn, isFactOf, key } from '@reprise/org';
import { eventOf } from '../answers/shown.js';
import { entityFacts, GROUP, groupFacts, type Post, type Row } from '../pure/index.js';
import { isOfItem } from '../pure/reducer/inbox/inbox.js';
import { isOwnNews } from '../pure/reducer/inbox/news.js';
import type { ToolAnswer } from '../wire/index.js';
import { callIdOf, entityCell } from './requests.js';

/** An event as an inbox has it. `n` counts the events of this inbox from 1. */
export type InboxEvent = ToolAnswer<'events_poll'>['events'][number];

/**
 * The events of an entity after the one with a number, the oldest first, and those that arrive; until the world closes, or
 * `cell_failed` when the entity has failed.
 *
 * @param after the number of the last event that was seen; 0 for all
 */
export async function* inboxOf(world: World, entity: Address, after: number): AsyncGenerator<InboxEvent> {
  const inbox = new FollowedInbox(world, entity);
  const cell = entityCell(world, entity);
  if ((await cell.rows('boards', { limit: 1 })).length > 0)
    await readBoardsOf(world, entity, `begin ${world.head.seq}`);
  let last = after;
  const { seq } = world.head;
  const rows = await cell.rows('inbox', { after: key(after) });
  const isWhole = rows[0] === undefined || Number(rows[0][0]) === after + 1;
  for (const [n, row] of isWhole ? rows : []) {
    last = Number(n);
    yield shown(last, row);
  }
  for await (const frame of world.frames(isWhole ? seq : 0, undefined, [entity])) {
    for (const event of await inbox.take(frame)) {
      if (event.n <= last) continue;
      last = event.n;
      yield event;
    }
    await inbox.follow(frame);
  }
}

type NewsRead = z.infer<(typeof entityFacts)['society/NewsRead@1']>;

/** Has an entity read the boards of its groups, once for a cause: the gate is asked as when it polls. */
export async function readBoardsOf(world: World, entity: Address, cause: string): Promise<void> {
  await command(entityCell(world, entity), 'society/TakeNews@1', {}, { id: `news-${callIdOf([entity[1], cause])}` });
}

class FollowedInbox {
  /** The news that groups have told, and that was not read yet: by group and number. */
  readonly #told = new Map<string, Post>();

  constructor(
    private readonly world: World,
    private readonly entity: Address,
  ) {}

  /** The events that a frame brings to the inbox. */
  async take({ records, at }: WorldFrame): Promise<readonly InboxEvent[]> {
    const events: InboxEvent[] = [];
    for (const record of records) {
      if (
        record.kind === 'event' &&
        record.event.name === 'society/News@1' &&
        formatAddress(record.to) === formatAddress(this.entity)
      ) {
        const { group, posts } = record.event.value as unknown as {
          readonly group: string;
          readonly posts: [number, Post][];
        };
        for (const [n, post] of posts) this.#told.set(`${group} ${n}`, post);
      }
      if (!isFactOf(record, this.entity)) continue;
      const noticed = factIn(record, [entityFacts, 'society/Noticed@1']);
      if (noticed !== undefined) events.push(shown(noticed.n, { ...noticed, at }));
      const read = factIn(record, [entityFacts, 'society/NewsRead@1']);
      if (read !== undefined) events.push(...(await this.#read(read)));
    }
    return events;
  }

  /** Has the boards read when a group of the entity has posted what the entity has not read. */
  async follow({ seq, records }: WorldFrame): Promise<void> {
    for (const record of records) {
      const posted = factIn(record, [groupFacts, 'society/Posted@1']);
      if (posted === undefined || record.kind !== 'fact' || record.from?.[0] !== GROUP) continue;
      const { group_id, n } = posted;
      if (isOwnNews(posted, this.entity[1])) continue;
      const read = await entityCell(this.world, this.entity).row('boards', group_id);
      if (read !== undefined && read < n) return readBoardsOf(this.world, this.entity, `${seq} ${group_id} ${n}`);
    }
  }

  async #read({ group_id, n, missed, missed_to, posts, sees }: NewsRead): Promise<readonly InboxEvent[]> {
    const events =
      missed === 0 ? [] : await this.#missed(group_id, n, { first: missed_to - missed + 1, last: missed_to, sees });
    for (const [place, number] of posts.entries()) {
      const key = `${group_id} ${number}`;
      const post = this.#told.get(key);
      this.#told.delete(key);
      if (post !== undefined) events.push(shown(n + missed + place, post));
    }
    return events;
  }

  /**
   * What left the board before it was read stands in the journal. What the entity wrote itself is no event for it, nor news
   * of items that it might not read when it read the board.
   */
  async #missed(
    group: string,
    n: number,
    { first, last, sees }: { readonly first: number; readonly last: number; readonly sees: boolean },
  ): Promise<InboxEvent[]> {
    const events: InboxEvent[] = [];
    for await (const { seq, at, records } of this.world.frames(0)) {
      for (const record of records) {
        const posted = factIn(record, [groupFacts, 'society/Posted@1']);
        if (posted === undefined || posted.group_id !== group || posted.n < first || posted.n > last) continue;
        const isFor = !isOwnNews(posted, this.entity[1]) && (sees || !isOfItem(posted));
        if (isFor) events.push(shown(n + posted.n - first, { ...posted, at }));
        if (posted.n === last) return events;
      }
      if (seq >= this.world.head.seq) break;
    }
    return events;
  }
}

function shown(n: number, { event, payload, at }: Pick<Row<'inbox'>, 'event' | 'payload' | 'at'>): InboxEvent {
  return eventOf({ n, event, payload, at } as ValueMap) as Value as unknown as InboxEvent;
}
