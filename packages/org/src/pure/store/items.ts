/** The items of a store during a delivery: every change keeps the tables of places in step. */
import type { ReducerContext } from '@reprise/kernel/define';
import { key, timeKey, timeOf } from '../kit/keys.js';
import type { MemoryItem } from './item.js';
import { type ItemState, SCORE_MIN } from './names.js';
import type { StoreState, storeTables } from './store-contract.js';

/** The items of a store. */
export interface Items {
  readonly now: number;
  get(id: number): MemoryItem | undefined;
  /** The item of a write that was made before. */
  known(name: string): number | undefined;
  /** Adds an item. @returns its number */
  add(name: string, item: MemoryItem): number;
  /** Writes an item with other words, tags or time of expiry. */
  put(id: number, old: MemoryItem, item: MemoryItem): void;
  /** Writes an item with another score or use. */
  score(id: number, old: MemoryItem, item: MemoryItem): void;
  /** Moves an item to another state. */
  move(id: number, state: ItemState): void;
  /** The live item with the lowest score, last use and number. */
  lowest(): number | undefined;
  /** A live item that has expired. */
  expired(): number | undefined;
  /** Wakes the store when the next item expires. */
  awaitExpiry(): void;
}

const EXPIRY = 'expiry';

/** What the reducer may do, with the tables of a store. */
export type StoreContext = ReducerContext<typeof storeTables>;

/** The items of the store that is being reduced. */
export function itemsOf(draft: StoreState, ctx: StoreContext): Items {
  const items = ctx.table('items');
  const keys = ctx.table('keys');
  const order = ctx.table('order');
  const expiry = ctx.table('expiry');

  const enter = (id: number, item: MemoryItem): void => {
    if (item.state !== 'live') return;
    draft.live++;
    order.set(placeOf(id, item), id);
    if (item.expires_at !== null) expiry.set(dueOf(id, item.expires_at), id);
  };
  const leave = (id: number, item: MemoryItem): void => {
    if (item.state !== 'live') return;
    draft.live--;
    order.delete(placeOf(id, item));
    if (item.expires_at !== null) expiry.delete(dueOf(id, item.expires_at));
  };
  const write = (id: number, old: MemoryItem, item: MemoryItem): void => {
    leave(id, old);
    enter(id, item);
    items.set(key(id), item);
  };
  const tell = (id: number, item: MemoryItem): void => {
    const { content_ref, summary_ref, tags, state, score, revision, last_used_at, expires_at, author, origin } = item;
    const about = { content_ref, summary_ref, tags, state, score, revision, last_used_at, expires_at, author, origin };
    ctx.record('memory/Written@1', { id, ...about });
  };
  const put = (id: number, old: MemoryItem, item: MemoryItem): void => {
    write(id, old, item);
    tell(id, item);
  };
  const get = (id: number) => items.get(key(id));
  return {
    now: ctx.now,
    get,
    known: (name) => keys.get(ctx.hash(name)),
    add(name, item) {
      const id = draft.next++;
      keys.set(ctx.hash(name), id);
      enter(id, item);
      items.set(key(id), item);
      tell(id, item);
      return id;
    },
    put,
    score(id, old, item) {
      write(id, old, item);
      ctx.record('memory/Scored@1', { id, score: item.score, last_used_at: item.last_used_at });
    },
    move(id, state) {
      const item = get(id);
      if (item !== undefined && item.state !== state) put(id, item, { ...item, state });
    },
    lowest: () => order.first()?.[1],
    expired() {
      const first = expiry.first();
      return first !== undefined && timeOf(first[0]) <= ctx.now ? first[1] : undefined;
    },
    awaitExpiry() {
      const first = expiry.first();
      if (first === undefined) ctx.clearTimer(EXPIRY);
      else ctx.timer(EXPIRY, timeOf(first[0]));
    },
  };
}

function placeOf(id: number, { score, last_used_at }: MemoryItem): string {
  return `${key(score - SCORE_MIN)}.${timeKey(last_used_at)}.${key(id)}`;
}

function dueOf(id: number, expires_at: number): string {
  return `${timeKey(expires_at)}.${key(id)}`;
}
