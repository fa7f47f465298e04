/** Which item of a memory is meant, and what the store says of it. */
import { isWhole, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore, WorldAt } from '@reprise/kernel';
import { key as itemKey, type MemoryItem, SCOPE, storeAt } from '@reprise/org/contracts';
import { cellsAt } from '../cells/cells-at.js';
import { REDUCERS } from '../names/reducers.js';

/** An item, with its number. */
interface FoundItem extends MemoryItem {
  readonly id: number;
}

/** A store, and an item in it. */
interface Named {
  readonly scope: string;
  /** The item; null when only a store was named. */
  readonly item: FoundItem | null;
}

/** Refuses what names neither a store nor an item. @throws RepriseError `invalid_argument` */
export function requireItemName(text: unknown): asserts text is string {
  if (typeof text === 'string' && /^[!-~]{1,213}$/.test(text) && !/^#|#0*$/.test(text)) return;
  throw new RepriseError('invalid_argument', 'this names no item of a memory', {
    where: 'item',
    expected: 'the scope of a store, or a scope and a number: group:research#7',
    actual: typeof text === 'string' ? text : typeof text,
  });
}

/**
 * The store or the item after a frame. A scope may have a `#` of its own: the item is meant where there is one, and the store
 * of that name otherwise.
 *
 * @param scopes finds the scopes of all stores, for a refusal
 * @throws RepriseError `invalid_argument` when it is not there
 */
export async function namedIn(then: WorldAt, text: string, scopes: () => Promise<readonly string[]>): Promise<Named> {
  const [, scope = '', digits = ''] = /^(.+)#(\d{1,12})$/.exec(text) ?? [];
  const id = Number(digits);
  const isItem = digits !== '' && isWhole(id, 1);
  const store = isItem ? await nextIn(then, scope) : undefined;
  if (store !== undefined) {
    const [entry] = await then.table(storeAt(scope), 'items', { from: itemKey(id), limit: 1 });
    if (entry?.[0] === itemKey(id)) return { scope, item: { id, ...(entry[1] as unknown as MemoryItem) } };
  }
  if ((await nextIn(then, text)) !== undefined) return { scope: text, item: null };
  if (store === undefined)
    throw absent('there is no such store at this frame', isItem ? scope : text, knownOf(await scopes()));
  throw absent('the store has no such item at this frame', text, `a number below ${store}`);
}

/** The number of a store's next item; undefined when there is no such store. */
async function nextIn(then: WorldAt, scope: string): Promise<number | undefined> {
  if (!SCOPE.test(scope)) return undefined;
  return ((await then.state(storeAt(scope))) as { readonly next: number } | undefined)?.next;
}

/** The scopes of the stores that exist after a frame, in their order. */
export async function scopesAt(store: ReadonlyStore, frame: number, signal?: AbortSignal): Promise<readonly string[]> {
  return (await cellsAt(store, frame, [REDUCERS.store], signal)).map(([, scope]) => scope);
}

/** The most stores that a refusal names. */
const NAMED_MAX = 5;

function knownOf(scopes: readonly string[]): string {
  if (scopes.length === 0) return 'the scope of a store; the world has none at this frame: nobody keeps anything there';
  const more = scopes.length - NAMED_MAX;
  return `the scope of a store: ${scopes.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function absent(message: string, actual: string, expected: string): RepriseError {
  return new RepriseError('invalid_argument', message, { where: 'item', expected, actual });
}
