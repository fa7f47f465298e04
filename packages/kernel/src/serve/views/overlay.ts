/**
 * What one view's fold reads and writes before it is committed.
 *
 * Invariants
 * O1  A record's writes stay when its fold ends well and are dropped otherwise, a frame's likewise: a commit is always
 *     is always the view after a whole frame.
 * O2  A fold is synchronous and the store is not. A missing entry is noted, the fold of that record is dropped, the
 *     entry loaded, and the record folded again: this is safe, since folding is pure.
 */

import type { OpenViewStore, ViewChange } from '../../ports/views/port.js';
import { binaryText } from './memory-views.js';

/** Entries cached between commits; beyond this all are dropped. */
const ENTRIES_AT_HAND_MAX = 20_000;

type Layer = Map<string, ViewChange>;

/** Thrown through a fold that reads an entry which is not loaded. */
const NOT_AT_HAND: unique symbol = Symbol('not at hand');

/** The entries of one view, with the changes that are not committed yet. */
export class Overlay {
  /** The changes of whole frames, not committed yet. */
  #batch: Layer = new Map();
  #frame: Layer = new Map();
  #record: Layer = new Map();
  /** Entries as the store has them. */
  #atHand = new Map<string, Uint8Array | null>();
  #missing: Uint8Array | undefined;
  #bytes = 0;

  constructor(
    private readonly store: OpenViewStore,
    private readonly view: string,
  ) {}

  /** How many entries a commit would change. */
  get changed(): number {
    return this.#batch.size;
  }

  /** About how many bytes a commit would write. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The entry that the last fold missed; cleared by reading. */
  takeMissing(): Uint8Array | undefined {
    const missing = this.#missing;
    this.#missing = undefined;
    return missing;
  }

  /**
   * An entry's value; null when there is no entry.
   *
   * @throws NOT_AT_HAND when it must be loaded first
   */
  read(key: Uint8Array): Uint8Array | null {
    const known = this.#find(binaryText(key));
    if (known !== undefined) return known;
    this.#missing = key;
    throw NOT_AT_HAND;
  }

  /** An entry's value if it is loaded, else undefined: avoids a promise for each entry. */
  atHand(key: Uint8Array): Uint8Array | null | undefined {
    return this.#find(binaryText(key));
  }

  /** An entry's value, loaded if necessary. */
  async load(key: Uint8Array): Promise<Uint8Array | null> {
    const id = binaryText(key);
    const known = this.#find(id);
    return known === undefined ? this.#loaded(id, key) : known; // null: it was deleted, whatever the store still has
  }

  /** An entry's value before this record was folded; undefined when it must be loaded. */
  beforeAtHand(key: Uint8Array): Uint8Array | null | undefined {
    const id = binaryText(key);
    const change = this.#frame.get(id) ?? this.#batch.get(id);
    return change === undefined ? this.#atHand.get(id) : change[1];
  }

  /** An entry's value before this record was folded, loaded if necessary. */
  async before(key: Uint8Array): Promise<Uint8Array | null> {
    const known = this.beforeAtHand(key);
    return known === undefined ? this.#loaded(binaryText(key), key) : known;
  }

  /** Writes an entry; null deletes it. */
  write(key: Uint8Array, value: Uint8Array | null): void {
    this.#record.set(binaryText(key), [key, value]);
  }

  /** Entries with this beginning, changes included, in no particular order. */
  async under(from: Uint8Array, to: Uint8Array | null): Promise<Uint8Array[]> {
    const stored = await this.store.scan(this.view, { from, to, limit: Number.MAX_SAFE_INTEGER });
    const keys = new Map(stored.map(([key]) => [binaryText(key), key]));
    const [first, last] = [binaryText(from), to === null ? undefined : binaryText(to)];
    for (const layer of [this.#batch, this.#frame, this.#record]) {
      for (const [id, [key, value]] of layer) {
        if (id < first || (last !== undefined && id >= last)) continue;
        if (value === null) keys.delete(id);
        else keys.set(id, key);
      }
    }
    return [...keys.values()];
  }

  keepRecord(): void {
    if (this.#record.size > 0) merge(this.#frame, this.#record);
  }

  dropRecord(): void {
    this.#record.clear();
  }

  keepFrame(): void {
    for (const [id, change] of this.#frame) this.#bytes += sizeOf(change) - sizeOf(this.#batch.get(id));
    merge(this.#batch, this.#frame);
  }

  /** Drops the frame's writes, its last record's included. */
  dropFrame(): void {
    this.#record.clear();
    this.#frame.clear();
  }

  changes(): ViewChange[] {
    return [...this.#batch.values()];
  }

  /** The changes are in the store. */
  committed(): void {
    for (const [id, [, value]] of this.#batch) this.#atHand.set(id, value);
    this.#batch = new Map();
    this.#bytes = 0;
    if (this.#atHand.size > ENTRIES_AT_HAND_MAX) this.#atHand = new Map();
  }

  async #loaded(id: string, key: Uint8Array): Promise<Uint8Array | null> {
    const known = this.#atHand.get(id);
    if (known !== undefined) return known;
    const value = (await this.store.get(this.view, key)) ?? null;
    this.#atHand.set(id, value);
    return value;
  }

  #find(id: string): Uint8Array | null | undefined {
    const change = this.#record.get(id) ?? this.#frame.get(id) ?? this.#batch.get(id);
    return change === undefined ? this.#atHand.get(id) : change[1];
  }
}

function sizeOf(change: ViewChange | undefined): number {
  return change === undefined ? 0 : change[0].length + (change[1]?.length ?? 0);
}

function merge(into: Layer, from: Layer): void {
  for (const [id, change] of from) into.set(id, change);
  from.clear();
}
