/** The items of the stores of a world after a frame, a page at a time. */
import type { WorldAt } from '@reprise/kernel';
import { key as itemKey, type MemoryItem, storeAt } from '@reprise/org/contracts';
import { LIMIT_DEFAULT, noSuchCursor, type PageOptions } from '../page/page.js';

/** An item, with its store and its number. */
export interface StoredItem {
  readonly name: string;
  readonly store: string;
  readonly id: number;
  readonly item: MemoryItem;
}

/** The name of an item, by its store and its number. */
export function itemName(store: string, id: number): string {
  return `${store}#${id}`;
}

/** The items of stores, in the order of the stores. @throws RepriseError `invalid_argument` when no item has the cursor */
export async function itemsIn(
  then: WorldAt,
  stores: readonly string[],
  { limit = LIMIT_DEFAULT, after }: PageOptions,
): Promise<{ readonly items: readonly StoredItem[]; readonly next: string | null }> {
  const begin = after === undefined ? undefined : await placeOf(then, stores, after);
  const items: StoredItem[] = [];
  for (const store of begin === undefined ? stores : stores.slice(stores.indexOf(begin.store))) {
    let last = store === begin?.store ? itemKey(begin.id) : undefined;
    for (; items.length <= limit; ) {
      const page = await then.table(storeAt(store), 'items', last === undefined ? {} : { after: last });
      if (page.length === 0) break;
      for (const [key, item] of page) {
        const id = Number(key);
        items.push({ name: itemName(store, id), store, id, item: item as unknown as MemoryItem });
      }
      last = page.at(-1)?.[0];
    }
    if (items.length > limit) break;
  }
  const shown = items.slice(0, limit);
  return { items: shown, next: items.length > limit ? (shown.at(-1)?.name ?? null) : null };
}

/** The place behind which a page begins. */
async function placeOf(
  then: WorldAt,
  stores: readonly string[],
  cursor: string,
): Promise<{ readonly store: string; readonly id: number }> {
  const [, store = '', digits = ''] = /^(.+)#(\d{1,12})$/.exec(cursor) ?? [];
  const id = Number(digits);
  const from = digits === '' ? '' : itemKey(id);
  const [entry] = stores.includes(store) ? await then.table(storeAt(store), 'items', { from, limit: 1 }) : [];
  if (entry === undefined || entry[0] !== from) throw noSuchCursor(cursor);
  return { store, id };
}
