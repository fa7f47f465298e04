/** Runs a random world: a schedule against a memory store whose holder can die, under a virtual clock. */
import { createHash } from 'node:crypto';
import { isRepriseError } from '@reprise/contracts';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import {
  PROGRAM_EVENTS,
  programAdapters,
  programApp,
  type ScheduledRequest,
  type ScheduleStep,
} from '../../../../testkit/src/arbitraries/index.js';
import { type Ack, type App, type Hash, memory, openKernelWorld, type Store, type World } from '../../../src/index.js';
import { type CrashableStore, crashable } from '../crashable-store.js';
import { type FaultyStore, faultyStore } from '../faulty-store.js';

/** Node's sha-256: the laws hash a lot. */
export const nativeHash: Hash = (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest());

/** The results of a random world. */
export interface RandomWorld {
  readonly store: Store;
  /** Every acknowledgement that was given. */
  readonly acks: readonly Ack[];
  /** Why requests were refused, by code. */
  readonly refusals: ReadonlyMap<string, number>;
  /** The number of executions of each effect, over all openings. */
  readonly executions: ReadonlyMap<string, number>;
}

/** Options of a run. */
export interface RunOptions {
  readonly app?: App;
  /** The app of each opening, counted from 0, where it is not always the same one. */
  readonly appAt?: (opening: number) => App;
  /** The last action before the world closes: a snapshot, so that a verification compares its map. */
  readonly lastly?: (world: World) => Promise<unknown>;
  readonly snapshotEvery?: number;
  readonly recheckEvery?: number;
  /** Called with the world of each opening. */
  readonly opened?: (world: World) => void;
}

/** Runs a schedule from an empty store to a closed world. */
export async function runSchedule(schedule: readonly ScheduleStep[], options: RunOptions = {}): Promise<RandomWorld> {
  const runner = new Runner(options);
  await runner.open();
  for (const [i, step] of schedule.entries()) await runner.replay(step, i);
  return runner.finish();
}

interface Sent {
  readonly id: string;
  readonly request: ScheduledRequest;
}

class Runner {
  readonly #disk: FaultyStore = faultyStore(memory({ hash: nativeHash }));
  readonly store: CrashableStore = crashable(this.#disk);
  readonly acks: Ack[] = [];
  readonly refusals = new Map<string, number>();
  readonly executions = new Map<string, number>();
  readonly #clock = new VirtualClock({ turns: 6 });
  readonly #random = seededRandom('law');
  readonly #sent: Sent[] = [];
  #adapters = programAdapters();
  #world!: World;
  #pending: Promise<unknown>[] = [];
  #openings = 0;

  constructor(private readonly options: RunOptions) {}

  async open(): Promise<void> {
    const { recheckEvery = 1, snapshotEvery = 0, appAt = () => this.options.app ?? programApp } = this.options;
    const app = appAt(this.#openings++);
    this.#adapters = programAdapters();
    this.#disk.appends.length = 0; // opening on a full disk is refused, and is not tested here
    const work = { store: this.store, app, adapters: this.#adapters, clock: this.#clock, random: this.#random };
    this.#world = await openKernelWorld({ ...work, recheckEvery, snapshotEvery });
    this.options.opened?.(this.#world);
  }

  async replay(step: ScheduleStep, i: number): Promise<void> {
    switch (step.step) {
      case 'request':
        return this.#soon(this.#request(this.#remember(step)));
      case 'burst':
        // Not awaited: the next step may find them in the queue, half-way, or done.
        this.#pending.push(...step.requests.map((request) => this.#request(this.#remember(request))));
        return turns(i % 3);
      case 'repeat':
        return this.#repeat(step.which, step.altered);
      case 'answer':
        return this.#answer(step);
      case 'advance':
        return this.#clock.advance(step.ms);
      case 'jump':
        return this.#clock.jumpWall(step.ms);
      case 'confirm':
        return this.#soon(this.#keep(this.#world.confirmClock({ wall: this.#clock.wall() })));
      case 'revive':
        return this.#soon(this.#keep(this.#world.revive(step.of, { id: `revive ${i}` })));
      case 'snapshot':
        return this.#soon(this.#keep(this.#world.snapshot()));
      case 'full':
        this.#disk.appends.push('full');
        return;
      case 'reopen':
        await this.#close();
        return this.open();
      case 'crash':
        await turns(i % 4);
        await this.store.crash();
        this.#count();
        return this.open();
      default:
        step satisfies never;
    }
  }

  async finish(): Promise<RandomWorld> {
    this.#disk.appends.length = 0;
    await this.#clock.advance(20_000); // facts that found the disk full wait some seconds
    await Promise.all(this.#pending);
    if (this.options.lastly !== undefined) await this.options.lastly(this.#world);
    await this.#close();
    return this;
  }

  async #close(): Promise<void> {
    const closed = this.#world.close();
    await this.#clock.advance(10_000);
    await closed;
    this.#count();
  }

  #count(): void {
    for (const adapter of this.#adapters) {
      for (const [key, times] of adapter.executions) this.executions.set(key, (this.executions.get(key) ?? 0) + times);
    }
  }

  /** Waits for an answer, but not while the world itself waits for time. */
  async #soon(answered: Promise<void>): Promise<void> {
    this.#pending.push(answered);
    await Promise.race([answered, this.#clock.settle()]);
  }

  #remember(request: ScheduledRequest): Sent {
    const sent = { id: `r${this.#sent.length}`, request };
    this.#sent.push(sent);
    return sent;
  }

  #request({ id, request: { to, creates, ops, payload } }: Sent): Promise<void> {
    const name = creates ? PROGRAM_EVENTS.made : PROGRAM_EVENTS.ran;
    return this.#keep(this.#world.request(to, { name, value: { ops, payload } }, { id }));
  }

  async #repeat(which: number, altered: boolean): Promise<void> {
    const sent = this.#sent[which % Math.max(1, this.#sent.length)];
    if (sent === undefined) return;
    const request = altered ? { ...sent.request, payload: 'altered' } : sent.request;
    return this.#soon(this.#request({ id: sent.id, request }));
  }

  async #answer({ which, outcome }: Extract<ScheduleStep, { step: 'answer' }>): Promise<void> {
    const hanging = this.#adapters.flatMap((adapter) => adapter.hanging.map((key) => ({ adapter, key })));
    const chosen = hanging[which % Math.max(1, hanging.length)];
    chosen?.adapter.release(chosen.key, outcome);
    await this.#clock.settle();
  }

  /** Records the result of an acknowledgement; only a refusal may come in its place. */
  async #keep(promise: Promise<Ack>): Promise<void> {
    try {
      this.acks.push(await promise);
    } catch (error) {
      if (!isRepriseError(error)) throw error;
      this.refusals.set(error.code, (this.refusals.get(error.code) ?? 0) + 1);
    }
  }
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
