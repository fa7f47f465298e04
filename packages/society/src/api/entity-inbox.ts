/**
 * The inbox of an entity as an app follows it. An inbox keeps 256 events; what it has dropped stands in the journal, from
 * which it is read where the app asks for it.
 */
import type { Address, Value, ValueMap } from '@reprise/contracts';
import type { World, WorldFrame } from '@reprise/kernel';
import { numberKey } from '../pure/reducer/member-context.js';
import { eventOf } from '../served/shown.js';
import type { ToolAnswer } from '../wire/index.js';

/** An event as an inbox has it. `n` counts the events of this inbox from 1. */
export type InboxEvent = ToolAnswer<'events_poll'>['events'][number];

/**
 * The events of an entity after the one with a number, the oldest first, and those that arrive; until the world closes.
 *
 * @param after the number of the last event that was seen; 0 for all
 */
export async function* inboxOf(world: World, entity: Address, after: number): AsyncGenerator<InboxEvent> {
  let last = after;
  const { seq } = world.head;
  const rows = await world.table(entity, 'inbox', { after: numberKey(after) });
  const isWhole = rows[0] === undefined || Number(rows[0][0]) === after + 1;
  for (const [n, row] of isWhole ? rows : []) {
    last = Number(n);
    yield shown({ ...(row as ValueMap), n: last });
  }
  for await (const frame of world.frames(isWhole ? seq : 0)) {
    for (const event of noticedIn(frame, entity)) {
      if (event.n <= last) continue;
      last = event.n;
      yield event;
    }
  }
}

function noticedIn({ records, at }: WorldFrame, [reducer, key]: Address): readonly InboxEvent[] {
  return records.flatMap((record) => {
    if (record.kind !== 'fact' || record.name !== 'society/Noticed@1') return [];
    if (record.from?.[0] !== reducer || record.from[1] !== key) return [];
    const { n, event, payload } = record.value as ValueMap;
    return [shown({ n, event, payload, at } as ValueMap)];
  });
}

function shown(row: ValueMap): InboxEvent {
  return eventOf(row) as Value as unknown as InboxEvent;
}
