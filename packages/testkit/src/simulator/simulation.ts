/**
 * One run of a simulation: a storm of work and trouble, then calm, then the checks.
 *
 * In the storm every step is a decision: which operation passes, what a client does, how time advances, what breaks. In
 * the calm nothing breaks any more, everything passes in order, and the world must become idle by itself. Its journal
 * is then replayed.
 *
 * Invariants
 * S1  Between two decisions nothing is in progress that could continue by itself: the decisions alone make the run.
 * S2  The first broken promise ends the run, and its decisions show how it happened.
 */
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, type StoredFrame, verifyStore } from '@reprise/kernel';
import { seededRandom, VirtualClock } from '../clock/index.js';
import { Calm } from './calm.js';
import type { Choices } from './choices.js';
import { Clients } from './clients.js';
import { JournalAuditor } from './journal-auditor.js';
import { Processes } from './processes.js';
import type { Scene } from './scene.js';
import { SimulatedDisk } from './simulated-disk.js';
import { SimulatedOutside } from './simulated-outside.js';
import { Sometimes } from './sometimes.js';
import { Storm } from './storm.js';
import type { SimulationPlay, SimulationSubject } from './subject.js';
import type { Trouble } from './troubles.js';
import { Turnstile } from './turnstile.js';

/** How long a run is, and which trouble it may meet. */
export interface SimulationOptions {
  /** The maximum of decisions in a storm; the subject's when absent. */
  readonly steps?: number;
  /** The permitted trouble; all when absent. */
  readonly troubles?: readonly Trouble[];
}

/** The result of a run. */
export interface SimulatedRun {
  /** The decisions of the run; given again, they repeat it. */
  readonly choices: readonly number[];
  /** The indexes at which the steps of the storm begin. */
  readonly steps: readonly number[];
  /** The log, decision by decision. */
  readonly log: readonly string[];
  readonly frames: number;
  /** The chain digest after the last frame. */
  readonly head: string;
  readonly acks: number;
  readonly refused: number;
  readonly effects: number;
  readonly sometimes: Sometimes;
  /** The broken promise; absent when all were met. */
  readonly broken?: string;
}

class Broken extends Error {}

/** Runs a subject with these choices. A broken promise does not reject: it is part of the result. */
export function runSimulation(
  subject: SimulationSubject,
  choices: Choices,
  options: SimulationOptions = {},
): Promise<SimulatedRun> {
  return new Simulation(subject, choices, options).run();
}

class Simulation implements Scene {
  readonly sometimes = new Sometimes();
  readonly turnstile = new Turnstile();
  readonly time = new VirtualClock({ turns: 3 });
  readonly journal = new JournalAuditor();
  readonly random = seededRandom('simulation');
  readonly clients: Clients;
  readonly outside: SimulatedOutside;
  readonly disk: SimulatedDisk;
  readonly play: SimulationPlay;
  readonly log: string[] = [];
  readonly #heads: string[] = [];
  readonly #storm: Storm;
  readonly #calm: Calm;
  #broken: string | undefined;

  constructor(
    readonly subject: SimulationSubject,
    readonly choices: Choices,
    private readonly options: SimulationOptions,
  ) {
    const { turnstile, sometimes, journal } = this;
    const broken = (why: string): void => this.broken(why);
    const platter = subject.store?.();
    this.disk = new SimulatedDisk({
      choices,
      turnstile,
      sometimes,
      durable: (frames) => this.#durable(frames),
      ...(platter === undefined ? {} : { platter }),
    });
    this.outside = new SimulatedOutside({ choices, turnstile, sometimes, journal, broken });
    this.clients = new Clients({ journal, sometimes, broken, headAt: (seq) => this.#heads[seq] });
    this.play = subject.begin(this);
    const processes = new Processes(this);
    this.#storm = new Storm(this, processes);
    this.#calm = new Calm(this, processes);
  }

  broken(why: string): void {
    this.#broken ??= why;
  }

  async run(): Promise<SimulatedRun> {
    try {
      await this.#storm.run(this.options);
      await this.#calm.run();
      await this.#judge();
    } catch (thrown) {
      if (!(thrown instanceof Broken)) this.broken(thrown instanceof Error ? thrown.message : String(thrown));
    }
    const { choices, sometimes, journal, clients } = this;
    return {
      choices: choices.made,
      steps: this.#storm.steps,
      log: this.log,
      frames: this.#heads.length,
      head: this.#heads.at(-1) ?? '',
      acks: clients.acknowledged,
      refused: clients.refused,
      effects: journal.effects.size,
      sometimes,
      ...(this.#broken === undefined ? {} : { broken: this.#broken }),
    };
  }

  // S1, S2
  async rest(): Promise<void> {
    await this.turnstile.rest();
    if (this.#broken !== undefined) throw new Broken(this.#broken);
  }

  #durable(frames: readonly StoredFrame[]): void {
    for (const { seq, head, bytes } of frames) {
      this.#heads[seq] = head;
      try {
        const records = readFrame(bytes, seq).all as readonly JournalRecord[];
        this.journal.read(records);
        this.play.read?.(records);
      } catch (thrown) {
        this.broken(`frame ${seq}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      }
    }
  }

  async #judge(): Promise<void> {
    await this.rest();
    this.clients.check();
    for (const app of [this.subject.app, undefined]) {
      const reader = await this.disk.reader();
      try {
        const { head } = await verifyStore(reader, app === undefined ? {} : { app });
        if (head.digest !== this.#heads.at(-1)) this.broken('the replay ends at another head');
      } finally {
        await reader.close();
      }
    }
    if (this.#broken !== undefined) throw new Broken(this.#broken);
  }
}
