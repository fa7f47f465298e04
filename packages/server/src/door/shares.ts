/** What each owner has of something that is bounded for all of them: an owner that has the most gives way. */

/** Things by their owners; those of an owner stand in the order in which they were added. */
export class Shares<T> {
  readonly #owners = new Map<string, Set<T>>();
  #size = 0;

  /** How many things there are. */
  get size(): number {
    return this.#size;
  }

  /** The things of an owner, the oldest first. */
  of(owner: string): ReadonlySet<T> {
    return this.#owners.get(owner) ?? NOTHING;
  }

  /** Adds a thing, as the newest of its owner. */
  add(owner: string, one: T): void {
    this.delete(owner, one);
    const all = this.#owners.get(owner) ?? new Set();
    this.#owners.set(owner, all.add(one));
    this.#size += 1;
  }

  delete(owner: string, one: T): void {
    const all = this.#owners.get(owner);
    if (all?.delete(one) !== true) return;
    this.#size -= 1;
    if (all.size === 0) this.#owners.delete(owner);
  }

  /**
   * The things of the owner that gives way when an owner has added one too many: its own, or those of an owner that has
   * more.
   *
   * @param each the most of one owner
   * @param all the most of all owners together
   * @returns undefined when there are not too many
   */
  tooMany(owner: string, each: number, all: number): ReadonlySet<T> | undefined {
    const own = this.of(owner);
    if (own.size > each) return own;
    if (this.#size <= all) return undefined;
    let most = own;
    for (const one of this.#owners.values()) if (one.size > most.size) most = one;
    return most;
  }
}

const NOTHING: ReadonlySet<never> = new Set();
