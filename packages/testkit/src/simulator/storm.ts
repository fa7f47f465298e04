/** The storm of a run: every step is a decision, and anything may break. */
import type { World } from '@reprise/kernel';
import { isTrouble } from './clients.js';
import type { Live, Processes } from './processes.js';
import type { Scene } from './scene.js';
import { ANSWERS } from './simulated-outside.js';
import { TROUBLES, type Trouble } from './troubles.js';
import type { Waiting } from './turnstile.js';

const STEPS = 250;

const CLIENT_WEIGHT = 50;

/** The weight of a lost lease where much hangs on it: two of them in a row, at the same input, are rare otherwise. */
const DELICATE_WEIGHT = 40;

const SPANS_MS = [1, 10, 100, 1_000, 30_000, 600_000] as const;
const JUMPS_MS = [1_000, -1_000, -3_600_000, 3_600_000, 86_400_000 * 400] as const;

interface StormOptions {
  readonly steps?: number;
  readonly troubles?: readonly Trouble[];
}

interface Move {
  readonly weight: number;
  readonly what: string;
  make(): unknown;
}

/** Makes the moves of a storm. */
export class Storm {
  /** The indexes of the choices at which its steps begin. */
  readonly steps: number[] = [];

  constructor(
    private readonly scene: Scene,
    private readonly processes: Processes,
  ) {}

  /** Makes steps until the drawn number is reached, or decisions run out. */
  async run(options: StormOptions): Promise<void> {
    const may = options.troubles ?? TROUBLES;
    const troubles = may.filter(() => this.scene.choices.once(2));
    const steps = options.steps ?? this.scene.subject.steps ?? STEPS;
    for (let left = this.scene.choices.below(steps + 1); left > 0 && !this.scene.choices.exhausted; left--) {
      this.steps.push(this.scene.choices.made.length);
      await this.scene.rest();
      await this.#make(this.scene.choices.weighted([...this.#dull(), ...this.#troubles(troubles)]));
    }
  }

  async #make({ what, make }: Move): Promise<void> {
    this.scene.log.push(what);
    await make();
  }

  /** The moves that need no trouble; the first one happens when nothing is chosen. */
  #dull(): Move[] {
    const waiting = this.scene.turnstile.open.filter(({ what }) => what !== ANSWERS);
    const answers = this.scene.turnstile.open.filter(({ what }) => what === ANSWERS);
    const moves: Move[] = [];
    const [oldest] = waiting;
    if (oldest !== undefined) moves.push(this.#passing(oldest, 36));
    if (waiting.length > 1) moves.push({ weight: 18, what: 'out of order', make: () => this.#pass(waiting) });
    if (this.processes.live.length === 0)
      moves.push({ weight: 30, what: 'a process starts', make: () => this.processes.start() });
    const { clientWeight = CLIENT_WEIGHT } = this.scene.subject;
    const worlds = this.processes.live.filter(({ process, world, closing }) => world && !closing && !process.stopped);
    if (worlds.length > 0) moves.push({ weight: clientWeight, what: 'a client', make: () => this.#act(worlds) });
    if (answers.length > 0) moves.push({ weight: 18, what: 'the outside', make: () => this.#pass(answers) });
    moves.push({ weight: 9, what: 'time', make: () => this.#advance() });
    return moves;
  }

  #troubles(troubles: readonly Trouble[]): Move[] {
    const { choices } = this.scene;
    const moves: Move[] = [];
    const on = (trouble: Trouble, weight: number, make: Move['make'], possible = true): void => {
      if (possible && troubles.includes(trouble)) moves.push({ weight, what: trouble, make });
    };
    const some = this.processes.live.length > 0;
    const open = this.processes.live.filter(({ world, closing }) => world !== undefined && closing !== true);
    on('crashes', 2, () => this.processes.crash(choices.pick(this.processes.live)), some);
    on('stops', 1, () => this.processes.stopOrGoOn(choices.pick(this.processes.live)), some);
    on('full disk', 1, () => this.#fillOrFree());
    on('failing disk', 1, () => this.#spoilAppend('fails'), this.scene.disk.held);
    on('lost answers', 1, () => this.#spoilAppend('answer lost'), this.scene.disk.held);
    on('clock jumps', 1, () => this.#jump());
    on('second openers', 1, () => this.processes.start(), some && this.processes.live.length < 3);
    on('lost locks', 1, () => this.scene.disk.lose('lock'), this.scene.disk.held);
    on(
      'lost leases',
      this.scene.disk.isDelicate ? DELICATE_WEIGHT : 1,
      () => this.#takeOver(),
      this.scene.disk.held && this.processes.live.length < 3,
    );
    on('closes', 1, () => this.processes.close(choices.pick(open)), open.length > 0);
    return moves;
  }

  #passing(waiting: Waiting, weight: number): Move {
    return { weight, what: `passes: ${waiting.what}`, make: () => waiting.pass() };
  }

  #pass(waiting: readonly Waiting[]): void {
    const chosen = this.scene.choices.pick(waiting);
    this.scene.log.push(`  passes: ${chosen.what}`);
    chosen.pass();
  }

  #act(worlds: readonly Live[]): void {
    const world = this.scene.choices.pick(worlds).world as World;
    const act = this.scene.choices.weighted(this.scene.play.acts);
    this.scene.log.push(`  ${act.name}`);
    void (async () => act.execute(world))().catch((thrown: unknown) => {
      if (!isTrouble(thrown))
        this.scene.broken(`${act.name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    });
  }

  async #advance(): Promise<void> {
    const next = this.scene.time.nextWakeIn;
    const span = next !== undefined && !this.scene.choices.once(3) ? next : this.scene.choices.pick(SPANS_MS);
    this.scene.log.push(`  ${span} ms`);
    await this.scene.time.advance(Math.ceil(span));
  }

  #fillOrFree(): void {
    this.scene.disk.full = !this.scene.disk.full;
    if (this.scene.disk.full) this.scene.sometimes.happened('the disk was full');
  }

  #spoilAppend(trouble: 'fails' | 'answer lost'): void {
    this.scene.disk.trouble = trouble;
    this.scene.sometimes.happened(trouble === 'fails' ? 'an append failed' : 'the answer of an append was lost');
  }

  /** A lease ends, and another process wants the world. */
  #takeOver(): void {
    this.scene.disk.lose('lease');
    this.processes.start();
  }

  #jump(): void {
    this.scene.time.jumpWall(this.scene.choices.pick(JUMPS_MS));
    this.scene.sometimes.happened('the wall clock jumped');
  }
}
