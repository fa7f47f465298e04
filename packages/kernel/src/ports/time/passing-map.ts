/**
 * A map for entries that come and go with each effect.
 *
 * Evidence: V8 replaces the table of a `Map` when enough entries have gone, and each replaced table refers to the next one.
 * Once one of them is old, what each later one held when it was replaced outlives all collections of young objects: of a
 * durable effect 11 kB became old garbage instead of 4, and collecting took twice as long (`scripts/bench/passes`).
 */

/** What holds a value, until its entry goes. */
interface Box<V> {
  value: V | undefined;
}

/** A map whose replaced tables hold nothing: values stand in boxes that are emptied when their entries go. */
export class PassingMap<K, V extends object> {
  readonly #boxes = new Map<K, Box<V>>();

  get size(): number {
    return this.#boxes.size;
  }

  get(key: K): V | undefined {
    return this.#boxes.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#boxes.has(key);
  }

  /** Sets a value; of a key that is there, it keeps the place. */
  set(key: K, value: V): void {
    const box = this.#boxes.get(key);
    if (box === undefined) this.#boxes.set(key, { value });
    else box.value = value;
  }

  delete(key: K): boolean {
    const box = this.#boxes.get(key);
    if (box === undefined) return false;
    box.value = undefined;
    return this.#boxes.delete(key);
  }

  /** The keys, in the order in which they came. */
  keys(): IterableIterator<K> {
    return this.#boxes.keys();
  }

  /** The values, in the order in which their keys came. */
  *values(): Generator<V> {
    for (const { value } of this.#boxes.values()) if (value !== undefined) yield value;
  }
}
