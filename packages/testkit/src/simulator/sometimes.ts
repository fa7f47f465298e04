/** What a simulation should come across now and then: a check that never sees its case holds nothing. */

/** Interesting states, and how often each was met. */
export class Sometimes {
  readonly #met = new Map<string, number>();

  /** @param expected what has to be met at least once over many runs */
  constructor(expected: readonly string[] = []) {
    for (const what of expected) this.#met.set(what, 0);
  }

  /** Something interesting has just happened. */
  happened(what: string, times = 1): void {
    this.#met.set(what, (this.#met.get(what) ?? 0) + times);
  }

  /** Adds what another saw. */
  add(other: Sometimes): void {
    for (const [what, times] of other.met) this.happened(what, times);
  }

  /** Each, and how often it was met. */
  get met(): ReadonlyMap<string, number> {
    return this.#met;
  }

  /** What was never met. */
  get missing(): readonly string[] {
    return [...this.#met].filter(([, times]) => times === 0).map(([what]) => what);
  }
}
