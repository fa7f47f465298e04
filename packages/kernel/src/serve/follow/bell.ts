/** Waits until a store may have more: for its hint, or for so long. */
import type { ReadonlyStore } from '../../ports/store/store.js';
import { type Clock, WAKE } from '../../ports/time/clock.js';

/** Rings when a store hints at more. A hint between two waits is not lost. */
export class Bell {
  #hasRung = false;
  #waiting: AbortController | undefined;
  readonly #stop: (() => void) | undefined;

  constructor(
    store: Pick<ReadonlyStore, 'changed'>,
    private readonly clock: Clock,
  ) {
    this.#stop = store.changed?.(() => {
      this.#hasRung = true;
      this.#waiting?.abort(WAKE);
    });
  }

  /** Waits for a hint, at most so many milliseconds. Resolves early when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const waiting = new AbortController();
    const leave = (): void => waiting.abort(WAKE);
    this.#waiting = waiting;
    signal?.addEventListener('abort', leave);
    if (this.#hasRung || signal?.aborted === true) leave();
    try {
      await this.clock.sleep(ms, waiting.signal);
    } finally {
      signal?.removeEventListener('abort', leave);
      this.#waiting = undefined;
      this.#hasRung = false; // what is read from now on has what the hint was about
    }
  }

  stop(): void {
    this.#stop?.();
  }
}
