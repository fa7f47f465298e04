/** A process of a simulation: it opens a world, and stops, goes on and dies when the simulation says so. */
import type { Clock } from '@reprise/kernel';
import type { VirtualClock } from '../clock/index.js';
import type { Passenger, Turnstile } from './turnstile.js';

const NEVER = new Promise<never>(() => undefined);

/** A process. What it does after its death reaches nobody; while it is stopped it does nothing. */
export class SimulatedProcess implements Passenger {
  dead = false;
  stopped = false;
  /** The time as it sees it: the wall clock of the machine, and a monotonic one of its own. */
  readonly clock: Clock;

  /** @param n the number of the process in the run, from 0 */
  constructor(
    readonly n: number,
    time: VirtualClock,
    turnstile: Turnstile,
  ) {
    const origin = time.monotonic();
    this.clock = {
      wall: () => time.wall(),
      monotonic: () => time.monotonic() - origin,
      sleep: async (ms, signal) => {
        await time.sleep(ms, signal);
        if (this.dead) await NEVER;
        await turnstile.hurry(this, 'wakes');
      },
    };
  }
}
