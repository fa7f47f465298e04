/** A process of a simulation: it opens a world, and stops, continues and dies when the simulation decides. */
import type { Clock } from '@reprise/kernel';
import type { VirtualClock } from '../clock/index.js';
import type { Passenger, Turnstile } from './turnstile.js';

const NEVER = new Promise<never>(() => undefined);

/** A process. Its operations after its death have no effect; while it is stopped it does nothing. */
export class SimulatedProcess implements Passenger {
  dead = false;
  stopped = false;
  /** Its clock: the wall clock of the machine, and its own monotonic one. */
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
