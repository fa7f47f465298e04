/** Those who wait for the next durable frame. */
export class Watchers {
  readonly #waiting = new Set<() => void>();

  /** Tells all of them that something is durable, or that nothing more will be. */
  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /**
   * Waits to be woken.
   *
   * @param there whether what is waited for came while nobody waited
   * @param signal says that nobody waits any more
   */
  async next(there: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
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
