/** How a running effect is told to stop. */

/** Why a running effect was told to stop. */
export type StopReason = 'cancelled' | 'deadline' | 'shutdown' | 'world_failed' | 'fenced';

/** The reason of its abort signal: the platform's own functions throw it, and authors recognize an `AbortError`. */
class Stopped extends Error {
  override readonly name = 'AbortError';

  constructor(readonly why: StopReason) {
    super(`the effect was told to stop: ${why}`);
  }
}

/** Tells one execution to stop. The platform's signal is made when it is asked for: most adapters never do. */
export class StopSign {
  #why: StopReason | undefined;
  #abort: AbortController | undefined;

  /** The first reason; undefined while it was not told to stop. */
  get why(): StopReason | undefined {
    return this.#why;
  }

  /** The same signal each time. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#why !== undefined) this.#abort.abort(new Stopped(this.#why));
    }
    return this.#abort.signal;
  }

  stop(why: StopReason): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#abort?.abort(new Stopped(why));
  }
}
