/**
 * A request and its answer, from before anything of it is awaited until its connection lets go of it.
 *
 * Invariants
 * X1  What an exchange holds is given back once, when the exchange is over, whatever was awaited meanwhile. What it would
 *     hold after that is given back at once: a client may leave at every moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request and its answer. */
export class Exchange {
  readonly #left = new AbortController();
  readonly #held = new Set<() => void>();
  #isOver = false;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {
    response.once('close', () => this.over());
  }

  /** Aborted when the client leaves before it has the whole answer, or {@link stop} is called. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Whether nobody waits for the answer any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Holds something until the exchange is over (X1).
   *
   * @param release gives it back
   * @returns gives it back earlier
   */
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

  /** Ends the answer: what makes it is aborted. */
  stop(): void {
    this.#left.abort();
  }

  /** The connection lets go of it. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const release of [...this.#held]) release();
    if (!this.response.writableFinished) this.#left.abort();
  }
}
