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
import { isRepriseError, type JournalRecord } from '@reprise/contracts';
import { type App, readFrame, type Store, type StoredFrame, verifyStore, type World } from '@reprise/kernel';
import { seededRandom, VirtualClock } from '../clock/index.js';
import type { Choices } from './choices.js';
import { Clients, isTrouble } from './clients.js';
import { JournalAuditor } from './journal-auditor.js';
import { type CrashableStore, SimulatedDisk } from './simulated-disk.js';
import { ANSWERS, SimulatedOutside } from './simulated-outside.js';
import { SimulatedProcess } from './simulated-process.js';
import { Sometimes } from './sometimes.js';
import { Turnstile, type Waiting } from './turnstile.js';

/** The subject of a simulation: an app, and how its worlds are opened and used. */
export interface SimulationSubject {
  readonly name: string;
  /** The app and options that replay the journal at the end. */
  readonly app: App;
  /** The states that its runs should meet, besides {@link ALWAYS_EXPECTED}. */
  readonly sometimes?: readonly string[];
  /** The maximum of decisions in a storm, unless the run sets its own; 250 when absent. */
  readonly steps?: number;
  /** The weight of its clients, where letting the oldest operation pass weighs 36; 50 when absent. */
  readonly clientWeight?: number;
  /** Makes the store of a run; memory when absent. */
  readonly store?: () => CrashableStore;
  /** Begins a run. */
  begin(run: SimulationRun): SimulationPlay;
}

/** The tools of a subject during a run. */
export interface SimulationRun {
  readonly choices: Choices;
  readonly clients: Clients;
  readonly outside: SimulatedOutside;
  readonly sometimes: Sometimes;
  readonly time: VirtualClock;
  /** Random bytes of the run, for a world's identity. */
  readonly random: (length: number) => Uint8Array;
  /** The auditor of the journal. */
  readonly journal: JournalAuditor;
  /** Reports a broken promise. */
  broken(why: string): void;
}

/** A subject in a run. */
export interface SimulationPlay {
  /** Opens the world as a new process does: with this store and the process's clock. */
  open(process: SimulatedProcess, store: Store): Promise<World>;
  /** The actions of clients. */
  readonly acts: readonly SimulationAct[];
  /** Checks each frame at the moment in which it becomes durable. Throws when it breaks a promise of the subject. */
  read?(frame: readonly JournalRecord[]): void;
  /** Ends what waits for the outside when the storm is over; cancels every open effect when absent. */
  settle?(world: World): Promise<void>;
  /** Checks an idle world. Throws when it is not as it should be. */
  check?(world: World): Promise<void>;
}

/** An action of a client. */
export interface SimulationAct {
  readonly name: string;
  /** Its weight among the actions. */
  readonly weight: number;
  /** Executes it. It may wait: the run continues meanwhile, and it waits for ever when the process dies. */
  execute(world: World): Promise<unknown> | unknown;
}

/** Trouble that a run may have; the first decisions of a run choose among it. */
const TROUBLES = [
  'crashes',
  'stops',
  'full disk',
  'failing disk',
  'lost answers',
  'clock jumps',
  'second openers',
  'lost locks',
  'closes',
] as const;

/** Trouble that a run may have. */
type Trouble = (typeof TROUBLES)[number];

/** The states that runs of any subject should meet. */
export const ALWAYS_EXPECTED = [
  'a process died',
  'a process died before an append was carried out',
  'a process died after an append and before it was told',
  'a process died while the outside worked',
  'a process died while it opened the world',
  'a process was stopped and went on',
  'a process closed the world',
  'a second opener found the world locked',
  'a second writer was let in, for the lock was lost',
  'a writer without the lock was stopped by the head',
  'the disk was full',
  'an append failed',
  'the answer of an append was lost',
  'the wall clock jumped',
  'an interrupted effect was replayed',
  'an adapter answered after it was told to stop',
  'the same request was asked again and found',
  'refused: commit_failed',
] as const;

/** Options of a run. */
export interface SimulationOptions {
  /** The maximum of decisions in a storm; the subject's when absent. */
  readonly steps?: number;
  /** The permitted trouble; all when absent. */
  readonly troubles?: readonly Trouble[];
}

/** The result of a run. */
export interface SimulatedRun {
  /** The decisions. */
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

const STEPS = 250;

const CLIENT_WEIGHT = 50;

/** Decisions in the calm after which a world that is still busy counts as never idle. */
const CALM_STEPS_MAX = 20_000;

const SPANS_MS = [1, 10, 100, 1_000, 30_000, 600_000] as const;
const JUMPS_MS = [1_000, -1_000, -3_600_000, 3_600_000, 86_400_000 * 400] as const;

class Broken extends Error {}

interface Live {
  readonly process: SimulatedProcess;
  world?: World;
  closing?: boolean;
  /** It has nothing left to do. */
  over?: boolean;
}

interface Move {
  readonly weight: number;
  readonly what: string;
  make(): unknown;
}

/** Runs a subject with these choices. A broken promise does not reject: it is part of the result. */
export function runSimulation(
  subject: SimulationSubject,
  choices: Choices,
  options: SimulationOptions = {},
): Promise<SimulatedRun> {
  return new Simulation(subject, choices, options).run();
}

class Simulation implements SimulationRun {
  readonly sometimes = new Sometimes();
  readonly turnstile = new Turnstile();
  readonly time = new VirtualClock({ turns: 3 });
  readonly journal = new JournalAuditor();
  readonly random = seededRandom('simulation');
  readonly clients: Clients;
  readonly outside: SimulatedOutside;
  readonly #disk: SimulatedDisk;
  readonly #play: SimulationPlay;
  readonly #log: string[] = [];
  readonly #steps: number[] = [];
  readonly #heads: string[] = [];
  #live: Live[] = [];
  #processes = 0;
  #broken: string | undefined;

  constructor(
    private readonly subject: SimulationSubject,
    readonly choices: Choices,
    private readonly options: SimulationOptions,
  ) {
    const { turnstile, sometimes, journal } = this;
    const broken = (why: string): void => this.broken(why);
    const platter = subject.store?.();
    this.#disk = new SimulatedDisk({
      choices,
      turnstile,
      sometimes,
      durable: (frames) => this.#durable(frames),
      ...(platter === undefined ? {} : { platter }),
    });
    this.outside = new SimulatedOutside({ choices, turnstile, sometimes, journal, broken });
    this.clients = new Clients({ journal, sometimes, broken, headAt: (seq) => this.#heads[seq] });
    this.#play = subject.begin(this);
  }

  broken(why: string): void {
    this.#broken ??= why;
  }

  async run(): Promise<SimulatedRun> {
    try {
      await this.#storm();
      await this.#calm();
      await this.#judge();
    } catch (thrown) {
      if (!(thrown instanceof Broken)) this.broken(thrown instanceof Error ? thrown.message : String(thrown));
    }
    const { choices, sometimes, journal, clients } = this;
    return {
      choices: choices.made,
      steps: this.#steps,
      log: this.#log,
      frames: this.#heads.length,
      head: this.#heads.at(-1) ?? '',
      acks: clients.acknowledged,
      refused: clients.refused,
      effects: journal.effects.size,
      sometimes,
      ...(this.#broken === undefined ? {} : { broken: this.#broken }),
    };
  }

  async #storm(): Promise<void> {
    const may = this.options.troubles ?? TROUBLES;
    const troubles = may.filter(() => this.choices.once(2));
    const steps = this.options.steps ?? this.subject.steps ?? STEPS;
    for (let left = this.choices.below(steps + 1); left > 0 && !this.choices.exhausted; left--) {
      this.#steps.push(this.choices.made.length);
      await this.#rest();
      await this.#make(this.choices.weighted([...this.#dull(), ...this.#troubles(troubles)]));
    }
  }

  /** S1, S2 */
  async #rest(): Promise<void> {
    await this.turnstile.rest();
    if (this.#broken !== undefined) throw new Broken(this.#broken);
  }

  async #make({ what, make }: Move): Promise<void> {
    this.#log.push(what);
    await make();
  }

  /** The moves that need no trouble; the first one happens when nothing is chosen. */
  #dull(): Move[] {
    const waiting = this.turnstile.open.filter(({ what }) => what !== ANSWERS);
    const answers = this.turnstile.open.filter(({ what }) => what === ANSWERS);
    const moves: Move[] = [];
    const [oldest] = waiting;
    if (oldest !== undefined) moves.push(this.#passing(oldest, 36));
    if (waiting.length > 1) moves.push({ weight: 18, what: 'out of order', make: () => this.#pass(waiting) });
    if (this.#live.length === 0) moves.push({ weight: 30, what: 'a process starts', make: () => this.#start() });
    const { clientWeight = CLIENT_WEIGHT } = this.subject;
    const worlds = this.#live.filter(({ process, world, closing }) => world && !closing && !process.stopped);
    if (worlds.length > 0) moves.push({ weight: clientWeight, what: 'a client', make: () => this.#act(worlds) });
    if (answers.length > 0) moves.push({ weight: 18, what: 'the outside', make: () => this.#pass(answers) });
    moves.push({ weight: 9, what: 'time', make: () => this.#advance() });
    return moves;
  }

  #troubles(troubles: readonly Trouble[]): Move[] {
    const { choices } = this;
    const moves: Move[] = [];
    const on = (trouble: Trouble, weight: number, make: Move['make'], possible = true): void => {
      if (possible && troubles.includes(trouble)) moves.push({ weight, what: trouble, make });
    };
    const some = this.#live.length > 0;
    const open = this.#live.filter(({ world, closing }) => world !== undefined && closing !== true);
    on('crashes', 2, () => this.#crash(choices.pick(this.#live)), some);
    on('stops', 1, () => this.#stopOrGoOn(choices.pick(this.#live)), some);
    on('full disk', 1, () => this.#fillOrFree());
    on('failing disk', 1, () => this.#spoilAppend('fails'), this.#disk.held);
    on('lost answers', 1, () => this.#spoilAppend('answer lost'), this.#disk.held);
    on('clock jumps', 1, () => this.#jump());
    on('second openers', 1, () => this.#start(), some && this.#live.length < 3);
    on('lost locks', 1, () => this.#disk.loseLock(), this.#disk.held);
    on('closes', 1, () => this.#close(choices.pick(open)), open.length > 0);
    return moves;
  }

  #passing(waiting: Waiting, weight: number): Move {
    return { weight, what: `passes: ${waiting.what}`, make: () => waiting.pass() };
  }

  #pass(waiting: readonly Waiting[]): void {
    const chosen = this.choices.pick(waiting);
    this.#log.push(`  passes: ${chosen.what}`);
    chosen.pass();
  }

  #act(worlds: readonly Live[]): void {
    const world = this.choices.pick(worlds).world as World;
    const act = this.choices.weighted(this.#play.acts);
    this.#log.push(`  ${act.name}`);
    void (async () => act.execute(world))().catch((thrown: unknown) => {
      if (!isTrouble(thrown)) this.broken(`${act.name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    });
  }

  async #advance(): Promise<void> {
    const next = this.time.nextWakeIn;
    const span = next !== undefined && !this.choices.once(3) ? next : this.choices.pick(SPANS_MS);
    this.#log.push(`  ${span} ms`);
    await this.time.advance(Math.ceil(span));
  }

  #start(): void {
    const process = new SimulatedProcess(this.#processes++, this.time, this.turnstile);
    const live: Live = { process };
    this.#live.push(live);
    const opening = (async () => this.#play.open(process, this.#disk.storeOf(process)))();
    opening.then(
      (world) => {
        live.world = world;
        void world.ended.then(() => this.#close(live));
      },
      async (thrown: unknown) => {
        if (process.dead) return;
        if (!this.#mayNotOpen(thrown)) {
          this.broken(`the world does not open: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
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
      isTrouble(thrown) || isRepriseError(thrown, 'world_locked') || (isRepriseError(thrown) && this.#disk.wasShared)
    );
  }

  /** Its world is closed; the process ends by itself then. */
  #close(live: Live): void {
    if (live.closing === true || live.world === undefined) return;
    live.closing = true;
    void live.world.close().then(
      async () => {
        this.sometimes.happened('a process closed the world');
        await this.#over(live);
      },
      () => this.#over(live),
    );
  }

  async #crash(live: Live): Promise<void> {
    this.#log.push(`  process ${live.process.n} dies`);
    this.#tellDeath(live);
    await this.#over(live);
  }

  #tellDeath({ process, world }: Live): void {
    const { sometimes } = this;
    const under = this.turnstile.open.filter(({ of }) => of === process).map(({ what }) => what);
    sometimes.happened('a process died');
    if (under.includes('append')) sometimes.happened('a process died before an append was carried out');
    if (under.includes('append answers')) sometimes.happened('a process died after an append and before it was told');
    if (under.includes(ANSWERS)) sometimes.happened('a process died while the outside worked');
    if (world === undefined) sometimes.happened('a process died while it opened the world');
  }

  /** Ends a process. */
  async #over(live: Live): Promise<void> {
    live.process.dead = true;
    this.#live = this.#live.filter((one) => one !== live);
    this.turnstile.forget(live.process);
    await this.#disk.died(live.process);
  }

  #stopOrGoOn({ process }: Live): void {
    process.stopped = !process.stopped;
    if (!process.stopped) this.sometimes.happened('a process was stopped and went on');
  }

  #fillOrFree(): void {
    this.#disk.full = !this.#disk.full;
    if (this.#disk.full) this.sometimes.happened('the disk was full');
  }

  #spoilAppend(trouble: 'fails' | 'answer lost'): void {
    this.#disk.trouble = trouble;
    this.sometimes.happened(trouble === 'fails' ? 'an append failed' : 'the answer of an append was lost');
  }

  #jump(): void {
    this.time.jumpWall(this.choices.pick(JUMPS_MS));
    this.sometimes.happened('the wall clock jumped');
  }

  #durable(frames: readonly StoredFrame[]): void {
    for (const { seq, head, bytes } of frames) {
      this.#heads[seq] = head;
      try {
        const records = readFrame(bytes, seq).all as readonly JournalRecord[];
        this.journal.read(records);
        this.#play.read?.(records);
      } catch (thrown) {
        this.broken(`frame ${seq}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      }
    }
  }

  /** Nothing breaks any more: whatever is left has to end by itself, or when it is settled. */
  async #calm(): Promise<void> {
    this.#log.push('calm');
    this.#disk.full = false;
    this.#disk.trouble = undefined;
    for (const { process } of this.#live) process.stopped = false;
    // One process continues, but not one that may have worked beside another: it learns only by writing what the other
    // wrote.
    for (const live of this.#live.slice(0, this.#disk.wasShared ? undefined : -1)) await this.#crash(live);
    let world: World;
    do {
      world = await this.#untilOpen();
      await this.#untilIdle(world);
      await this.#driveUnlessClosed(world, this.#play.settle?.(world) ?? cancelAll(world));
      await this.#untilIdle(world);
    } while (this.journal.open.length > 0 || world.closedBy !== undefined);
    await this.#drive(Promise.resolve(this.#play.check?.(world)));
    await this.#untilIdle(world);
    this.#noZombies(world);
    const [live] = this.#live;
    if (live !== undefined) await this.#drive((async () => void (await live.world?.close()))());
  }

  #calmSteps = 0;

  /** One decision of the calm: everything in order. @returns false when only time is left to advance */
  async #calmStep(): Promise<boolean> {
    await this.#rest();
    if (this.#calmSteps++ > CALM_STEPS_MAX) throw new Error('a world without trouble never becomes idle');
    const [first] = this.turnstile.open;
    if (first !== undefined) first.pass();
    else if (this.#live.length === 0) this.#start();
    else return false;
    return true;
  }

  async #untilOpen(): Promise<World> {
    for (;;) {
      const [live] = this.#live;
      if (live?.world !== undefined && live.closing !== true) return live.world;
      if (!(await this.#calmStep())) await this.#wake();
    }
  }

  /** Advances time as long as something waits for it, but with a bound: some wait for a day that never comes. */
  async #untilIdle(world: World): Promise<void> {
    const until = this.time.monotonic() + 86_400_000;
    for (;;) {
      if (await this.#calmStep()) continue;
      const next = this.time.nextWakeIn;
      if (!world.unfinished && (world.nextWakeAt === undefined || world.nextWakeAt - world.now > 3_600_000)) return;
      if (next === undefined || this.time.monotonic() > until) return;
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
    await this.time.advance(Math.max(1, Math.ceil(this.time.nextWakeIn ?? 1)));
  }

  /** A running plan waits for something that can still come. */
  #noZombies(world: World): void {
    const running = [...this.journal.plans].filter(([, ended]) => ended === undefined).map(([name]) => name);
    if (running.length > 0 && world.nextWakeAt === undefined) {
      this.broken(`plan ${running[0]} runs, and nothing is left that it could wait for`);
    }
    if (world.unfinished) this.broken('an idle world reports unfinished work');
  }

  async #judge(): Promise<void> {
    await this.#rest();
    this.clients.check();
    for (const app of [this.subject.app, undefined]) {
      const reader = await this.#disk.reader();
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

async function cancelAll(world: World): Promise<void> {
  for (const { effect } of await world.openEffects()) {
    await world.cancel(effect).catch((thrown: unknown) => {
      if (!isRepriseError(thrown)) throw thrown;
    });
  }
}
