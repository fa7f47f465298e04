/** How an open world works until it is idle, and how it drains and closes. */
import { RepriseError } from '@reprise/contracts';
import { waitsForItself } from '../../callers/callers.js';
import type { WorldParts } from '../parts.js';

/** Whether the world is idle, and until when. */
export interface PumpReport {
  /** True when the world waits only for time or for input from outside. */
  readonly quiescent: boolean;
  /** When the next timer is due, in journal milliseconds. */
  readonly nextWakeAt: number | undefined;
}

/** How long `close` waits for running effects to end after telling them to stop, in milliseconds. */
const CLOSE_GRACE_MS = 2_000;

/** The collaborators of a lifetime. */
type LifetimeParts = Pick<
  WorldParts,
  | 'stepper'
  | 'executor'
  | 'timers'
  | 'timerDriver'
  | 'stamper'
  | 'clock'
  | 'watchers'
  | 'callers'
  | 'store'
  | 'drive'
  | 'label'
>;

/** The lifetime of an open world; the promises of the methods are documented at those of the world. */
export class Lifetime {
  #closing: Promise<void> | undefined;

  constructor(private readonly parts: LifetimeParts) {}

  /** Whether work is left that goes on by itself. */
  get unfinished(): boolean {
    return !this.parts.stepper.idle || this.parts.executor.unfinished;
  }

  /** The journal time at which time alone makes something happen next. */
  get nextWakeAt(): number | undefined {
    return this.parts.timers.nextUnfired;
  }

  /** Works until nothing is left to do now. */
  async pump(): Promise<PumpReport> {
    const { executor, stepper, timers, timerDriver, stamper, callers } = this.parts;
    if (callers.current !== undefined) throw waitsForItself(callers.current);
    // Between commits: effects emitted while nothing could start keep their place before later ones.
    await stepper.exclusively(async () => executor.enable()).catch(() => undefined);
    try {
      for (;;) {
        if (this.#closing !== undefined || stepper.closedBy !== undefined) break;
        timerDriver.run();
        await stepper.settled();
        if (executor.runningCount > 0) await executor.ended();
        else if (stepper.idle && !isDue(timers.nextDue, stamper.now())) break; // everything that still waits, waits for input from outside
      }
    } finally {
      if (this.parts.drive === 'manual') {
        executor.disable();
        timerDriver.stop();
      }
    }
    return { quiescent: stepper.idle && executor.idle, nextWakeAt: this.nextWakeAt };
  }

  /** Starts nothing more, waits for running effects, then tells them to stop. */
  async drain(within: unknown): Promise<{ readonly interrupted: number }> {
    requireTime(within);
    const { executor, stepper } = this.parts;
    executor.disable();
    await this.#waitFor(executor.ended(), within);
    const interrupted = executor.runningCount;
    await executor.close(CLOSE_GRACE_MS);
    await this.#waitFor(stepper.settled(), CLOSE_GRACE_MS); // facts may be waiting for room in a full store
    return { interrupted };
  }

  /** Closes the world; later calls await the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { executor, stepper, timerDriver, store, watchers, label } = this.parts;
    timerDriver.stop();
    await executor.close(CLOSE_GRACE_MS);
    await stepper.finish(
      new RepriseError('world_closed', 'this world is closed', { where: label, hint: 'Open it again to continue.' }),
    );
    watchers.wake();
    await store.close();
  }

  /** Waits for a promise, but no longer than `ms`. */
  async #waitFor(done: Promise<void>, ms: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([done, this.parts.clock.sleep(ms, over.signal)]);
    over.abort();
  }
}

function isDue(due: number | undefined, now: number): boolean {
  return due !== undefined && due <= now;
}

function requireTime(within: unknown): asserts within is number {
  if (typeof within === 'number' && within >= 0) return;
  throw new RepriseError('invalid_argument', 'invalid option "within"', {
    where: 'within',
    expected: 'milliseconds, 0 or more',
    actual: within,
  });
}
