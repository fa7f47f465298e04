/** Time from outside. Only stamps and timers read it; pure code sees a frame's `at` and nothing else. */

/** A source of time; replaceable in tests. */
export interface Clock {
  /** The wall clock in milliseconds since 1970. May jump. */
  wall(): number;
  /** A clock that never goes back, in milliseconds from any origin. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The longest single sleep: beyond 2^31 − 1 ms a platform timer fires at once. */
export const SLEEP_MS_MAX = 2_147_483_647;

/** A source of random bytes for a world's identity; replaceable in tests. */
export type RandomBytes = (length: number) => Uint8Array;

/** The platform's clock. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(done, Math.min(Math.max(0, Math.ceil(ms)), SLEEP_MS_MAX));
      signal.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
    }),
};

/** The platform's random bytes. */
export const systemRandom: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));

/**
 * Stamps frames. A frame's time never goes back: a wall clock that does is ignored, and time that passed while
 * it stood still is added from the monotonic clock.
 */
export class Stamper {
  #at: number;
  /** Where elapsed time is counted from; kept while the wall clock stands behind, so that no fraction is lost. */
  #origin: { readonly at: number; readonly monotonic: number };

  constructor(
    private readonly clock: Clock,
    lastAt: number,
  ) {
    this.#at = lastAt;
    this.#origin = { at: lastAt, monotonic: clock.monotonic() };
  }

  /** The time of the last stamp. */
  get last(): number {
    return this.#at;
  }

  /** The time now, for the next frame: max(last + elapsed, wall). */
  now(): number {
    const elapsed = Math.max(0, Math.floor(this.clock.monotonic() - this.#origin.monotonic));
    return Math.max(this.#at, this.#origin.at + elapsed, Math.floor(this.clock.wall()));
  }

  /** Stamps a frame. */
  stamp(): number {
    this.#at = this.now();
    const monotonic = this.clock.monotonic();
    const elapsed = Math.floor(monotonic - this.#origin.monotonic);
    if (this.#at > this.#origin.at + elapsed) this.#origin = { at: this.#at, monotonic };
    return this.#at;
  }
}
