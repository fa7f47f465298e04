import { type Clock, WAKE } from './clock.js';

/** A clock whose sleepers can be woken together, to check the time again. */
export class WakingClock implements Clock {
  readonly #sleepers = new Set<AbortController>();

  constructor(private readonly inner: Clock) {}

  /** The inner clock's wall clock. */
  wall(): number {
    return this.inner.wall();
  }

  /** The inner clock's monotonic clock. */
  monotonic(): number {
    return this.inner.monotonic();
  }

  /** Sleeps by the inner clock, or until {@link WakingClock.wake}. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort(WAKE);
    this.#sleepers.add(woken);
    signal.addEventListener('abort', wake, { once: true });
    await this.inner.sleep(ms, woken.signal);
    signal.removeEventListener('abort', wake);
    this.#sleepers.delete(woken);
  }

  wake(): void {
    for (const sleeper of [...this.#sleepers]) sleeper.abort(WAKE);
  }
}
