/** The items of a store during a delivery: every change keeps the tables of places in step. */
import type { ReducerContext } from '@reprise/kernel/define';
import { key, timeKey, timeOf } from '../kit/keys.js';
import type { MemoryItem } from './item.js';
import { type ItemState, SCORE_MIN } from './names.js';
import type { StoreState, storeTables } from './store-contract.js';

const EXPIRY = 'expiry';

/** What the reducer may do, with the tables of a store. */
export type StoreContext = ReducerContext<typeof storeTables>;

/** The items of the store that is being reduced. */
export class Items {
  constructor(
    private readonly draft: StoreState,
    private readonly ctx: StoreContext,
  ) {}

  get now(): number {
    return this.ctx.now;
  }

  get(id: number): MemoryItem | undefined {
    return this.ctx.table('items').get(key(id));
  }

  /** The item of a write that was made before. */
  known(name: string): number | undefined {
    return this.ctx.table('keys').get(this.ctx.hash(name));
  }

  /** Adds an item. @returns its number */
  add(name: string, item: MemoryItem): number {
    const id = this.draft.next++;
    this.ctx.table('keys').set(this.ctx.hash(name), id);
    this.#write(id, undefined, item);
    this.#tell(id, item);
    return id;
  }

  /** Writes an item with other words, tags or time of expiry. */
  put(id: number, old: MemoryItem, item: MemoryItem): void {
    this.#write(id, old, item);
    this.#tell(id, item);
  }

  /** Writes an item with another score or use. */
  score(id: number, old: MemoryItem, item: MemoryItem): void {
    this.#write(id, old, item);
    this.ctx.record('memory/Scored@1', { id, score: item.score, last_used_at: item.last_used_at });
  }

  /** Moves an item to another state. */
  move(id: number, state: ItemState): void {
    const item = this.get(id);
    if (item !== undefined && item.state !== state) this.put(id, item, { ...item, state });
  }

  /** The live item with the lowest score, last use and number. */
  lowest(): number | undefined {
    return this.ctx.table('order').first()?.[1];
  }

  /** A live item that has expired. */
  expired(): number | undefined {
    const first = this.ctx.table('expiry').first();
    return first !== undefined && timeOf(first[0]) <= this.now ? first[1] : undefined;
  }

  /** Wakes the store when the next item expires. */
  awaitExpiry(): void {
    const first = this.ctx.table('expiry').first();
    if (first === undefined) this.ctx.clearTimer(EXPIRY);
    else this.ctx.timer(EXPIRY, timeOf(first[0]));
  }

  #write(id: number, old: MemoryItem | undefined, item: MemoryItem): void {
    const [order, expiry] = [this.ctx.table('order'), this.ctx.table('expiry')];
    if (old?.state === 'live') {
      this.draft.live--;
      order.delete(placeOf(id, old));
      if (old.expires_at !== null) expiry.delete(dueOf(id, old.expires_at));
    }
    if (item.state === 'live') {
      this.draft.live++;
      order.set(placeOf(id, item), id);
      if (item.expires_at !== null) expiry.set(dueOf(id, item.expires_at), id);
    }
    this.ctx.table('items').set(key(id), item);
  }

  #tell(id: number, item: MemoryItem): void {
    const { content_ref, summary_ref, tags, state, score, revision, last_used_at, expires_at, author, origin } = item;
    const about = { content_ref, summary_ref, tags, state, score, revision, last_used_at, expires_at, author, origin };
    this.ctx.record('memory/Written@1', { id, ...about });
  }
}

function placeOf(id: number, { score, last_used_at }: MemoryItem): string {
  return `${key(score - SCORE_MIN)}.${timeKey(last_used_at)}.${key(id)}`;
}

function dueOf(id: number, expires_at: number): string {
  return `${timeKey(expires_at)}.${key(id)}`;
}
