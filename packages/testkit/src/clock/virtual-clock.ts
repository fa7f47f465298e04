import { requireFields } from '@reprise/contracts';
import type { Clock } from '@reprise/kernel';

/** The options of a virtual clock. */
interface VirtualClockOptions {
  /** The wall clock's first reading, in milliseconds since 1970; 2026-01-01T00:00:00Z when absent. */
  readonly wall?: number;
  /** Turns of the host's event loop that {@link VirtualClock.settle} waits; 12 when absent. */
  readonly turns?: number;
}

const WALL_DEFAULT = 1_767_225_600_000;

/** One commit to the next takes one turn; a request with its effect, receipt and consequences takes a few. */
const TURNS_DEFAULT = 12;

interface Sleeper {
  /** The monotonic time at which it wakes. */
  readonly due: number;
  wake(): void;
}

/**
 * A clock that stands still until a test moves it, so that timers and deadlines cost a test no time and fire at
 * exact moments.
 *
 * @example
 * const clock = new VirtualClock();
 * await using world = await openWorld({ store: memory(), app, clock });
 * await clock.advance(60_000); // every timer of the next minute fires, each at its own time
 */
export class VirtualClock implements Clock {
  #wall: number;
  #monotonic = 0;
  readonly #turns: number;
  #sleepers: Sleeper[] = [];

  constructor(options: VirtualClockOptions = {}) {
    requireFields(options, 'VirtualClock(options)', 'an object with any of wall, turns');
    this.#wall = options.wall ?? WALL_DEFAULT;
    this.#turns = options.turns ?? TURNS_DEFAULT;
  }

  /** The wall clock, in milliseconds since 1970. */
  wall(): number {
    return this.#wall;
  }

  /** The clock that never goes back: the sum of all advances. */
  monotonic(): number {
    return this.#monotonic;
  }

  /** The number of current sleepers. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** The milliseconds until the next sleeper wakes; undefined without a sleeper. */
  get nextWakeIn(): number | undefined {
    const first = this.#first();
    return first === undefined ? undefined : Math.max(0, first.due - this.#monotonic);
  }

  /** Sleeps until the clock was advanced by `ms`, or the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const sleeper: Sleeper = { due: this.#monotonic + Math.ceil(ms), wake: done };
      this.#sleepers.push(sleeper);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  /**
   * Lets time pass. Each sleeper whose time is within the span wakes at exactly its time, in order, and the code that it
   * starts gets some turns of the event loop before the next sleeper wakes. New sleeps within the span wake within it.
   *
   * @param ms whole milliseconds
   */
  async advance(ms: number): Promise<void> {
    if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`a clock advances by whole milliseconds, not ${ms}`);
    const until = this.#monotonic + ms;
    await this.settle();
    for (let next = this.#first(); next !== undefined && next.due <= until; next = this.#first()) {
      this.#moveTo(Math.max(next.due, this.#monotonic));
      next.wake();
      await this.settle();
    }
    this.#moveTo(until);
    await this.settle();
  }

  /** Moves the wall clock forward or back; the monotonic clock does not move, and no sleeper wakes. */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  /** Lets everything that is ready run: promises, and some turns of the host's event loop. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn++) await macrotask();
  }

  #first(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const one of this.#sleepers) if (first === undefined || one.due < first.due) first = one;
    return first;
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
