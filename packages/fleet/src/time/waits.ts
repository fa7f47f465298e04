/** Waits that end with a signal. */

/**
 * Resolves when a signal is aborted.
 *
 * @param done ends the wait, which never resolves then: a call of many attempts leaves no listeners behind
 */
export function whenAborted(signal: AbortSignal, done?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, ...(done === undefined ? {} : { signal: done }) });
  });
}

/** A signal that is aborted with the first of others. */
interface FirstOf {
  readonly signal: AbortSignal;
  /** Leaves nothing at the others. */
  leave(): void;
}

/**
 * Makes a signal that is aborted with the first of others, for work beside signals that live longer: `AbortSignal.any` leaves
 * something at each of them for as long as it lives.
 */
export function firstOf(signals: readonly AbortSignal[]): FirstOf {
  const first = new AbortController();
  const abort = (event: Event): void => first.abort((event.target as AbortSignal).reason);
  for (const signal of signals) {
    if (signal.aborted) first.abort(signal.reason);
    else signal.addEventListener('abort', abort);
  }
  return {
    signal: first.signal,
    leave: () => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
    },
  };
}

/** Waits, at random half as long up to so long. Resolves early when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms * (0.5 + Math.random() / 2));
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
