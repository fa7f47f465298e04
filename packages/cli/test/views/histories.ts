/** Random histories of worlds that stop at random places: between two acts, at an append at which their process dies, and reopened. */
import {
  type AgentWorld,
  appOf,
  openAgentWorld,
  SESSION_REDUCER,
  type SessionState,
  type WorldPart,
} from '@reprise/agent';
import type { Address, Value } from '@reprise/contracts';
import { type App, memory, type ReadonlyStore, type WorldAt, worldAt } from '@reprise/kernel';
import {
  llmGenerateAdapter,
  type ModelClient,
  type ScriptRequest,
  type ScriptStep,
  scriptBy,
} from '@reprise/providers';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { DyingStore } from '../../../../conformance/dying-store.js';

/** A whole number below a bound, drawn from the seed of a history. */
export type Draw = (below: number) => number;

/** Where a history stands still: the same frame, in the store and in the world that has it open. */
export interface Place<P extends WorldPart = WorldPart> {
  readonly draw: Draw;
  readonly seed: number;
  readonly part: P;
  /** Whether the world goes on by itself: not where it was only looked at behind a death. */
  readonly goesOn: boolean;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  readonly world: AgentWorld;
  readonly store: ReadonlyStore;
  readonly app: App;
  readonly at: WorldAt;
}

/** A place at which a view and the tables differ. */
export interface Difference {
  readonly at: string;
  readonly shown: unknown;
  readonly stored: unknown;
}

/** What was compared. */
export interface Compared {
  readonly places: number;
  readonly differences: readonly Difference[];
  /** How many of the places came behind the death of a process, and at how many a cell had failed. */
  readonly died: number;
  readonly failed: number;
}

/** What is compared: what it is about, what a view says, and what the tables say. */
export type Pair = readonly [about: string, shown: unknown, stored: unknown];

/** What histories are made of. */
export interface Histories<P extends WorldPart> {
  /** Makes the part anew, for a process. @param draws tells defects apart: a function of the seed and of what is delivered */
  part(seed: number): P;
  /** What the model says to a request: a function of the draws. */
  answer(draw: Draw, request: ScriptRequest): ScriptStep;
  /** Does something, or nothing. Refusals are of no matter. */
  act(draw: Draw, world: AgentWorld, part: P): Promise<unknown>;
  /** What a view says and what the tables say, by what it is about; undefined where there is nothing yet. */
  look(place: Place<P>): Promise<readonly Pair[]>;
  /** The same for what a view only says when it is asked, which moves the world on. */
  ask?(place: Place<P>): Promise<readonly Pair[]>;
}

interface CompareOptions {
  readonly places: number;
  readonly seed: number;
}

/** The acts of one history. */
const ACTS = 24;

/** Compares at each place of random histories, until there were so many places. */
export async function compareHistories<P extends WorldPart>(
  histories: Histories<P>,
  { places, seed }: CompareOptions,
): Promise<Compared> {
  const found = { places: 0, died: 0, failed: 0, differences: [] as Difference[] };
  for (let n = seed; found.places < places && found.differences.length === 0; n++)
    await new History(histories, n, found, places).play();
  return found;
}

type Found = { -readonly [K in keyof Omit<Compared, 'differences'>]: Compared[K] } & { differences: Difference[] };

class History<P extends WorldPart> {
  readonly #store = new DyingStore(memory());
  readonly #clock = new VirtualClock({ turns: 6 });
  readonly #draw: Draw;
  #left = ACTS;

  constructor(
    private readonly histories: Histories<P>,
    private readonly seed: number,
    private readonly found: Found,
    private readonly places: number,
  ) {
    const random = seededRandom(`views ${seed}`);
    this.#draw = (below) => new DataView(random(4).buffer).getUint32(0) % below;
  }

  /** Opens, acts, dies, and opens again, until the acts are done. */
  async play(): Promise<void> {
    while (this.#left > 0 && !this.#isOver) {
      const { deaths } = this.#store;
      this.#store.dieAt(1 + this.#draw(25), this.#draw(2) === 0 ? 'before' : 'after');
      const isDead = (): boolean => this.#store.deaths > deaths;
      await this.#process(isDead).catch((error: unknown) => {
        if (!isDead()) throw error;
      });
      if (isDead()) await this.#lookAfterDeath();
    }
  }

  get #isOver(): boolean {
    return this.found.places >= this.places || this.found.differences.length > 0;
  }

  /** One process, until it dies or the acts are done. */
  async #process(isDead: () => boolean): Promise<void> {
    const { world, part } = await this.#open('auto');
    try {
      for (; this.#left > 0 && !isDead() && !this.#isOver; this.#left--) {
        void this.histories.act(this.#draw, world, part).catch(() => undefined);
        await this.#clock.advance([0, 0, 40, 300, 700, 5_000][this.#draw(6)] ?? 0);
        if (!isDead()) await this.#compare(world, part, true);
      }
    } finally {
      await world.close().catch(() => undefined);
    }
  }

  /** Opens what a dead process left, and lets nothing go on. */
  async #lookAfterDeath(): Promise<void> {
    this.#store.dieAt(Number.POSITIVE_INFINITY, 'before');
    const { world, part } = await this.#open('manual');
    const before = this.found.places;
    await this.#clock.settle();
    await this.#compare(world, part, false);
    this.found.died += this.found.places - before;
    await world.close();
  }

  async #open(drive: 'auto' | 'manual'): Promise<{ readonly world: AgentWorld; readonly part: P }> {
    const part = this.histories.part(this.seed);
    const world = await openAgentWorld({
      ...{ store: this.#store, clock: this.#clock, drive, parts: [part], snapshotEvery: 40 },
      models: { main: {} },
      llm: (judge) => llmGenerateAdapter({ main: this.#model() }, { judge }),
    });
    return { world, part };
  }

  /** A model that takes its time, so that the world is met in the middle of its runs. */
  #model(): ModelClient {
    const model = scriptBy((request) => this.histories.answer(this.#draw, request));
    return {
      ...model,
      generate: async (request, context) => {
        await this.#clock.sleep(this.#draw(3) * 400, context.signal);
        return model.generate(request, context);
      },
    };
  }

  async #compare(world: AgentWorld, part: P, goesOn: boolean): Promise<void> {
    const { seq } = world.kernel.head;
    const reader = await this.#store.openReadonly();
    const app = appOf([part]);
    const at = await worldAt(reader, app, seq);
    const [draw, settle] = [this.#draw, () => this.#clock.settle()];
    const place = { ...{ draw, settle, world, part, app, at }, store: reader, seed: this.seed, goesOn };
    const pairs = [...(await this.histories.look(place))];
    const moved = world.kernel.head.seq !== seq;
    if (moved || pairs.length === 0) return; // what was read is not of one frame
    if (goesOn) pairs.push(...((await this.histories.ask?.(place)) ?? []));
    await reader.close();
    this.found.places++;
    if (at.trouble().length > 0) this.found.failed++;
    for (const [what, shown, stored] of pairs)
      if (JSON.stringify(plain(shown)) !== JSON.stringify(plain(stored)))
        this.found.differences.push({ at: `seed ${this.seed}, frame ${seq}, ${what}`, shown, stored });
  }
}

/** Values with the fields of their objects in order, and links as texts. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('digest' in value && typeof value.toString === 'function' && Object.getPrototypeOf(value) !== Object.prototype)
    return String(value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, plain(field)]),
  );
}

/** All entries of a table of an open world. */
export async function tableOf<T>(
  { kernel }: AgentWorld,
  cell: Address,
  table: string,
): Promise<readonly (readonly [string, T])[]> {
  const rows: [string, Value][] = [];
  for (;;) {
    const page = await kernel.table(cell, table, {
      limit: 100,
      ...(rows.length === 0 ? {} : { after: rows.at(-1)?.[0] ?? '' }),
    });
    rows.push(...page.map(([key, value]): [string, Value] => [key, value]));
    if (page.length < 100) return rows as unknown as [string, T][];
  }
}

/** What a session without children waits for, by its state. */
export async function sessionWait({ kernel }: AgentWorld, session: string): Promise<object | undefined> {
  const state = (await kernel.state([SESSION_REDUCER, session])) as unknown as SessionState | undefined;
  if (state === undefined) return undefined;
  const held = state.queued > 0 && ['Failed', 'Cancelled'].includes(state.lifecycle);
  if (state.lifecycle === 'Paused' || held) return { kind: 'pause', session };
  if (state.lifecycle !== 'WaitingInput') return undefined;
  const kinds = {
    approval: 'approval',
    ask: 'person',
    owner: 'app',
    limit: 'limit',
    input: 'input',
    children: 'children',
  };
  return { kind: kinds[state.waiting?.for ?? 'input'], session };
}
