/** Time from outside. Only stamps and timers read it; pure code sees a frame's `at` and nothing else. */

/** A source of time; replaceable in tests. */
export interface Clock {
  /** The wall clock in milliseconds since 1970. May jump. */
  wall(): number;
  /** A clock that never goes back, in milliseconds from any origin. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. May resolve early: callers check the time again. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The reason that wakes a sleeper. Without one, the platform makes an error with a stack trace at each abort. */
export const WAKE = Symbol('wake');

/**
 * The longest single sleep of the platform. Beyond 2^31 − 1 ms its timers fire at once; and they stop while the
 * machine is suspended, so the wall clock is read again after each.
 */
const SLEEP_MS_MAX = 60_000;

/** A source of random bytes for a world's identity; replaceable in tests. */
export type RandomBytes = (length: number) => Uint8Array;

/** The wall clock, monotonic clock and timers of the platform. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    const [monotonic, wall] = [performance.now(), Date.now()];
    for (let left = ms; left > 0 && !signal.aborted; ) {
      await nap(Math.min(left, SLEEP_MS_MAX), signal);
      left = ms - Math.max(performance.now() - monotonic, Date.now() - wall);
    }
  },
};

function nap(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.ceil(ms));
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}

export const systemRandom: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));
