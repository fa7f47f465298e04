/** Fewer dead items than this are not worth a sweep. */
const SWEEP_MIN = 64;

/**
 * A binary heap whose items are removed lazily: an item that is no longer live is skipped when it comes up, and swept
 * before dead items outnumber the rest, so that a long wait does not keep them in memory.
 */
export class LazyHeap<T> {
  #items: T[] = [];
  #sweepAt = SWEEP_MIN;

  constructor(
    private readonly before: (a: T, b: T) => boolean,
    private readonly live: (item: T) => boolean,
  ) {}

  /** The first live item; it stays. */
  first(): T | undefined {
    while (this.#items.length > 0 && !this.live(this.#items[0] as T)) this.#pop();
    return this.#items[0];
  }

  push(item: T): void {
    if (this.#items.length >= this.#sweepAt) this.#sweep();
    this.#items.push(item);
    this.#rise(this.#items.length - 1, item);
  }

  #sweep(): void {
    const items = this.#items.filter(this.live);
    this.#items = items.sort((a, b) => (this.before(a, b) ? -1 : 1)); // a sorted list is a heap
    this.#sweepAt = Math.max(SWEEP_MIN, 2 * items.length);
  }

  #rise(from: number, item: T): void {
    let i = from;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.before(item, this.#items[parent] as T)) break;
      this.#items[i] = this.#items[parent] as T;
      i = parent;
    }
    this.#items[i] = item;
  }

  #pop(): void {
    const items = this.#items;
    const last = items.pop() as T;
    if (items.length === 0) return;
    let i = 0;
    for (let child = 1; child < items.length; child = 2 * i + 1) {
      if (child + 1 < items.length && this.before(items[child + 1] as T, items[child] as T)) child++;
      if (!this.before(items[child] as T, last)) break;
      items[i] = items[child] as T;
      i = child;
    }
    items[i] = last;
  }
}
