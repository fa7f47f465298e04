import type { Clock } from '../../src/index.js';

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #ms: number;
  readonly #sleepers = new Set<{ until: number; wake: () => void }>();

  constructor(startMs = 1_000_000) {
    this.#ms = startMs;
  }

  wall(): number {
    return this.#ms;
  }

  monotonic(): number {
    return this.#ms;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { until: this.#ms + ms, wake: () => done() };
      const done = (): void => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Time passes: sleepers whose time has come wake, the earliest first. */
  advance(ms: number): void {
    this.#ms += ms;
    const due = [...this.#sleepers].filter(({ until }) => until <= this.#ms).sort((a, b) => a.until - b.until);
    for (const { wake } of due) wake();
  }
}
