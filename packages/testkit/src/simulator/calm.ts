/** The calm after the storm of a run: the world must become idle by itself. */
import { isRepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { isTrouble } from './clients.js';
import type { Processes } from './processes.js';
import type { Scene } from './scene.js';

/** Decisions in the calm after which a world that is still busy counts as never idle. */
const CALM_STEPS_MAX = 20_000;

/**
 * Steps in a row in which nothing waits and nobody sleeps, after which what the calm waits for counts as never coming.
 * Looking on until the other bound took nine tenths of the time in which a failure is made smaller.
 */
const EMPTY_STEPS_MAX = 200;

/** Makes the decisions of a calm: everything in order. */
export class Calm {
  #calmSteps = 0;
  #emptySteps = 0;

  constructor(
    private readonly scene: Scene,
    private readonly processes: Processes,
  ) {}

  /** Nothing breaks any more: whatever is left has to end by itself, or when it is settled. */
  async run(): Promise<void> {
    this.scene.log.push('calm');
    this.scene.disk.full = false;
    this.scene.disk.trouble = undefined;
    for (const { process } of this.processes.live) process.stopped = false;
    // One process continues, but not one that may have worked beside another: it learns only by writing what the other
    // wrote.
    for (const live of this.processes.live.slice(0, this.scene.disk.wasTakenOver ? undefined : -1))
      await this.processes.crash(live);
    let world: World;
    do {
      world = await this.#untilOpen();
      await this.#untilIdle(world);
      await this.#driveUnlessClosed(world, this.scene.play.settle?.(world) ?? cancelAll(world));
      await this.#untilIdle(world);
    } while (this.scene.journal.open.length > 0 || world.closedBy !== undefined);
    await this.#drive(Promise.resolve(this.scene.play.check?.(world)));
    await this.#untilIdle(world);
    this.#noZombies(world);
    const [live] = this.processes.live;
    if (live !== undefined) await this.#drive((async () => void (await live.world?.close()))());
  }

  /** One decision of the calm: everything in order. @returns false when only time is left to advance */
  async #calmStep(): Promise<boolean> {
    await this.scene.rest();
    const [first] = this.scene.turnstile.open;
    const isEmpty = first === undefined && this.scene.time.nextWakeIn === undefined;
    this.#emptySteps = isEmpty ? this.#emptySteps + 1 : 0;
    if (this.#calmSteps++ > CALM_STEPS_MAX || this.#emptySteps > EMPTY_STEPS_MAX)
      throw new Error('a world without trouble never becomes idle');
    if (first !== undefined) first.pass();
    else if (this.processes.live.length === 0) this.processes.start();
    else return false;
    return true;
  }

  async #untilOpen(): Promise<World> {
    for (;;) {
      const [live] = this.processes.live;
      if (live?.world !== undefined && live.closing !== true) return live.world;
      if (!(await this.#calmStep())) await this.#wake();
    }
  }

  /** Advances time as long as something waits for it, but with a bound: some wait for a day that never comes. */
  async #untilIdle(world: World): Promise<void> {
    const until = this.scene.time.monotonic() + 86_400_000;
    for (;;) {
      if (await this.#calmStep()) continue;
      const next = this.scene.time.nextWakeIn;
      if (!world.unfinished && (world.nextWakeAt === undefined || world.nextWakeAt - world.now > 3_600_000)) return;
      if (next === undefined || this.scene.time.monotonic() > until) return;
      await this.#wake();
    }
  }

  /** An append that was in progress when the calm began may still fail: then the next process continues. */
  async #driveUnlessClosed(world: World, promise: Promise<unknown>): Promise<void> {
    try {
      await this.#drive(promise);
    } catch (thrown) {
      if (!isTrouble(thrown) || world.closedBy === undefined) throw thrown;
    }
  }

  async #drive<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    const settled = promise.finally(() => {
      done = true;
    });
    settled.catch(() => undefined); // it is awaited below
    while (!done) if (!(await this.#calmStep()) && !done) await this.#wake();
    return settled;
  }

  async #wake(): Promise<void> {
    await this.scene.time.advance(Math.max(1, Math.ceil(this.scene.time.nextWakeIn ?? 1)));
  }

  /** A running plan waits for something that can still come. */
  #noZombies(world: World): void {
    const running = [...this.scene.journal.plans].filter(([, ended]) => ended === undefined).map(([name]) => name);
    if (running.length > 0 && world.nextWakeAt === undefined) {
      this.scene.broken(`plan ${running[0]} runs, and nothing is left that it could wait for`);
    }
    if (world.unfinished) this.scene.broken('an idle world reports unfinished work');
  }
}

async function cancelAll(world: World): Promise<void> {
  for (const { effect } of await world.openEffects()) {
    await world.cancel(effect).catch((thrown: unknown) => {
      if (!isRepriseError(thrown)) throw thrown;
    });
  }
}
