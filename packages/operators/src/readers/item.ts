/** Which item of a memory is meant, and what the store says of it. */
import { isWhole, RepriseError } from '@reprise/contracts';
import type { WorldAt } from '@reprise/kernel';
import { key as itemKey, type MemoryItem, storeAt } from '@reprise/org/contracts';

/** A store, and an item in it. */
interface NamedItem {
  readonly scope: string;
  readonly id: number | null;
}

/** The store and the item that are meant. @throws RepriseError `invalid_argument` */
export function parseItem(text: unknown): NamedItem {
  const [, scope, id] = (typeof text === 'string' && /^([^#]+)(?:#(\d{1,12}))?$/.exec(text)) || [];
  const number = id === undefined ? null : Number(id);
  if (scope !== undefined && (number === null || isWhole(number, 1))) return { scope, id: number };
  throw new RepriseError('invalid_argument', 'this names no item of a memory', {
    where: 'item',
    expected: 'the scope of a store, or a scope and a number: group:research#7',
    actual: typeof text === 'string' ? text : typeof text,
  });
}

/** An item, with its number. */
interface FoundItem extends MemoryItem {
  readonly id: number;
}

/** The item after a frame; null when only a store was named. @throws RepriseError `invalid_argument` when it is not there */
export async function itemIn(then: WorldAt, { scope, id }: NamedItem): Promise<FoundItem | null> {
  const state = (await then.state(storeAt(scope))) as { readonly next: number } | undefined;
  if (state === undefined) throw absent('there is no such store at this frame', scope, 'the scope of a store');
  if (id === null) return null;
  const [entry] = await then.table(storeAt(scope), 'items', { from: itemKey(id), limit: 1 });
  if (entry?.[0] === itemKey(id)) return { id, ...(entry[1] as unknown as MemoryItem) };
  throw absent('the store has no such item at this frame', `${scope}#${id}`, `a number below ${state.next}`);
}

function absent(message: string, actual: string, expected: string): RepriseError {
  return new RepriseError('invalid_argument', message, { where: 'item', expected, actual });
}
