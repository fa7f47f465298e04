/** The states that a simulation should meet now and then: a check that never sees its case checks nothing. */

/** Interesting states, and how often each was met. */
export class Sometimes {
  readonly #met = new Map<string, number>();

  /** @param expected the states that have to be met at least once over many runs */
  constructor(expected: readonly string[] = []) {
    for (const what of expected) this.#met.set(what, 0);
  }

  /** Counts an interesting state that has just occurred. */
  happened(what: string, times = 1): void {
    this.#met.set(what, (this.#met.get(what) ?? 0) + times);
  }

  /** Adds the counts of another run. */
  add(other: Sometimes): void {
    for (const [what, times] of other.met) this.happened(what, times);
  }

  /** Each state, and how often it was met. */
  get met(): ReadonlyMap<string, number> {
    return this.#met;
  }

  /** The expected states that were never met. */
  get missing(): readonly string[] {
    return [...this.#met].filter(([, times]) => times === 0).map(([what]) => what);
  }
}
