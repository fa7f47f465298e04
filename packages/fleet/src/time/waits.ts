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
