/**
 * What a request holds until it is over.
 *
 * Invariants
 * X1  What is held is given back once, when the request is over, whatever was awaited meanwhile. What would be held after that
 *     is given back at once: a client may leave at every moment.
 */

/** Things that are held until something is over. */
export class Holds {
  readonly #held = new Set<() => void>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Holds something (X1). @param release gives it back @returns gives it back earlier */
  hold(release: () => void): () => void {
    if (this.#isOver) {
      release();
      return () => undefined;
    }
    const once = (): void => {
      if (this.#held.delete(once)) release();
    };
    this.#held.add(once);
    return once;
  }

  /** Gives everything back. @returns false when it was over already */
  end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    for (const release of [...this.#held]) release();
    return true;
  }
}
