/**
 * The place where operations of simulated processes wait until the simulation lets them pass. So the simulation decides
 * their order, and where a process dies: between two operations nothing of a process is visible from outside.
 */

/** The process whose operations wait here. */
export interface Passenger {
  /** It is dead: its operations have no effect from now on. */
  readonly dead: boolean;
  /** It is stopped for a while. */
  readonly stopped: boolean;
}

export interface Waiting {
  readonly of: Passenger;
  readonly what: string;
  pass(): void;
}

/** Turns of the event loop without any activity, after which nothing more happens by itself. */
const QUIET_TURNS = 3;

/** No operation takes this many turns: something runs in a circle. */
const TURNS_MAX = 20_000;

const NEVER = new Promise<never>(() => undefined);

/** The operations that wait until the simulation lets them pass. */
export class Turnstile {
  #waiting: Waiting[] = [];
  #activity = 0;

  /** Waits for its turn; for ever when its process dies first. */
  wait(of: Passenger, what: string): Promise<void> {
    this.#activity++;
    if (of.dead) return NEVER;
    return new Promise((resolve) => {
      const waiting: Waiting = {
        of,
        what,
        pass: () => {
          this.#waiting = this.#waiting.filter((one) => one !== waiting);
          this.#activity++;
          resolve();
        },
      };
      this.#waiting.push(waiting);
    });
  }

  /** Continues at once, unless the process is dead or stopped. */
  async hurry(of: Passenger, what: string): Promise<void> {
    this.#activity++;
    if (of.dead || of.stopped) await this.wait(of, what);
  }

  /** The operations that may pass, the oldest first. */
  get open(): readonly Waiting[] {
    return this.#waiting.filter(({ of }) => !of.dead && !of.stopped);
  }

  /** Drops the operations of dead processes. */
  forget(of: Passenger): void {
    this.#waiting = this.#waiting.filter((one) => one.of !== of);
  }

  /** Resolves when nothing happens any more without another decision. */
  async rest(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns++) {
      if (turns > TURNS_MAX) throw new Error('the event loop never becomes idle');
      const before = this.#activity;
      await macrotask();
      quiet = before === this.#activity ? quiet + 1 : 0;
    }
  }
}

function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
