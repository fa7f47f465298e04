/** A map bounded in bytes, which drops entries that were not used for long. */

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
}

/**
 * Two maps: entries in use are in the young one. When it is full, it becomes the old one, and the entries of the old one
 * that nobody used since are dropped. So using an entry costs a look into a map, and no list is kept.
 */
export class TwoGenerations<V> {
  #young = new Map<string, Entry<V>>();
  #old = new Map<string, Entry<V>>();
  #youngBytes = 0;
  readonly #halfMax: number;

  constructor(bytesMax: number) {
    this.#halfMax = bytesMax / 2;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old !== undefined) this.#add(key, old);
    return old?.value;
  }

  /** Keeps a value, unless it is larger than half of the bound. */
  set(key: string, value: V, bytes: number): void {
    this.#add(key, { value, bytes });
  }

  /** Adds to the size of an entry that is there. */
  grow(key: string, bytes: number): void {
    const entry = this.#young.get(key) ?? this.#old.get(key);
    if (entry !== undefined) this.#add(key, { value: entry.value, bytes: entry.bytes + bytes });
  }

  #add(key: string, entry: Entry<V>): void {
    this.#youngBytes -= this.#young.get(key)?.bytes ?? 0;
    this.#young.delete(key);
    this.#old.delete(key);
    if (entry.bytes > this.#halfMax) return;
    if (this.#youngBytes + entry.bytes > this.#halfMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(key, entry);
    this.#youngBytes += entry.bytes;
  }
}
