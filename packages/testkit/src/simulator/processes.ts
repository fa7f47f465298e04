/** The processes of a run: they open the world, close it, stop, and die. */
import { isRepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { isTrouble } from './clients.js';
import type { Scene } from './scene.js';
import { ANSWERS } from './simulated-outside.js';
import { SimulatedProcess } from './simulated-process.js';

/** A process of a run, and its world when it has opened it. */
export interface Live {
  readonly process: SimulatedProcess;
  world?: World;
  closing?: boolean;
  /** It has nothing left to do. */
  over?: boolean;
}

export class Processes {
  /** Those that have not ended. */
  live: readonly Live[] = [];
  #started = 0;

  constructor(private readonly scene: Scene) {}

  /** Starts a process, which opens the world. */
  start(): void {
    const process = new SimulatedProcess(this.#started++, this.scene.time, this.scene.turnstile);
    const live: Live = { process };
    this.live = [...this.live, live];
    const opening = (async () => this.scene.play.open(process, this.scene.disk.storeOf(process)))();
    opening.then(
      (world) => {
        live.world = world;
        void world.ended.then(() => this.close(live));
      },
      async (thrown: unknown) => {
        if (process.dead) return;
        if (!this.#mayNotOpen(thrown)) {
          this.scene.broken(`the world does not open: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
        }
        await this.#over(live);
      },
    );
  }

  /**
   * A reader beside a second writer, after a lost lock, may find anything: its opening is refused and has done nothing.
   */
  #mayNotOpen(thrown: unknown): boolean {
    return (
      isTrouble(thrown) ||
      isRepriseError(thrown, 'world_locked') ||
      (isRepriseError(thrown) && this.scene.disk.wasShared)
    );
  }

  /** Its world is closed; the process ends by itself then. */
  close(live: Live): void {
    if (live.closing === true || live.world === undefined) return;
    live.closing = true;
    void live.world.close().then(
      async () => {
        this.scene.sometimes.happened('a process closed the world');
        await this.#over(live);
      },
      () => this.#over(live),
    );
  }

  /** Kills a process: its operations that wait are never executed. */
  async crash(live: Live): Promise<void> {
    this.scene.log.push(`  process ${live.process.n} dies`);
    this.#tellDeath(live);
    // Only the death of the owner counts: nobody witnesses that of a process which lost the store before.
    if (this.scene.disk.isOwner(live.process)) this.scene.journal.processDied();
    await this.#over(live);
  }

  #tellDeath({ process, world }: Live): void {
    const { sometimes } = this.scene;
    const under = this.scene.turnstile.open.filter(({ of }) => of === process).map(({ what }) => what);
    sometimes.happened('a process died');
    if (under.includes('append')) sometimes.happened('a process died before an append was carried out');
    if (under.includes('append answers')) sometimes.happened('a process died after an append and before it was told');
    if (under.includes(ANSWERS)) sometimes.happened('a process died while the outside worked');
    if (world === undefined) sometimes.happened('a process died while it opened the world');
  }

  /** Ends a process, whether it died or closed the world. */
  async #over(live: Live): Promise<void> {
    live.process.dead = true;
    this.live = this.live.filter((one) => one !== live);
    this.scene.turnstile.forget(live.process);
    await this.scene.disk.died(live.process);
  }

  /** Stops a process, or lets a stopped one continue. */
  stopOrGoOn({ process }: Live): void {
    process.stopped = !process.stopped;
    if (!process.stopped) this.scene.sometimes.happened('a process was stopped and went on');
  }
}
