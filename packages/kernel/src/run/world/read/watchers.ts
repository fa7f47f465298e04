/** Waiters for the next durable frame. */
export class Watchers {
  readonly #waiting = new Set<() => void>();

  /** Wakes all waiters: something is durable, or nothing more will be. */
  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /**
   * Waits for the next wake-up.
   *
   * @param there whether the awaited frame came before the wait began
   * @param signal aborted when the caller stops waiting
   */
  next(there: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake);
      if (there() || signal?.aborted) wake();
    });
  }
}
