/**
 * The last lines of a story, read from the end of the journal, beside a reading of every frame. The adversary: sessions whose
 * calls wait for approvals, for answers to questions and for other systems; hundreds of frames later some are decided, in any
 * order, so that the last frames name effects, questions and steps of long ago. The process ends and starts again between.
 */
import { type Agent, type AgentWorld, deferred, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { memory, type ReadonlyStore, type StoredFrame } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { IdNames } from '../src/names/index.js';
import { EntryReader, type PlacedEntry, RecentReader, storyOf } from '../src/story/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const WORLDS = process.env.REPRISE_VIEWS === undefined ? 2 : 60;

type Draw = (below: number) => number;

function drawsOf(seed: string): Draw {
  const random = seededRandom(seed);
  return (below) => new DataView(random(4).buffer).getUint32(0) % below;
}

const args = z.strictObject({});
/** The calls that another system finishes. */
type Orders = string[];

/** Ends calls that run for long. */
type Doors = (() => void)[];

function clerkOf(orders: Orders, doors: Doors): Agent {
  const tools = [
    defineTool({ name: 'pay', description: 'Pays.', args, approval: 'always', run: () => 'Paid.' }),
    defineTool({
      ...{ name: 'order', description: 'Orders.', args, approval: 'always' },
      run: (_, { idempotencyKey }) => {
        orders.push(idempotencyKey);
        return deferred();
      },
    }),
    defineTool({
      ...{ name: 'choose', description: 'Chooses.', args, guarantee: 'idempotent' },
      run: async (_, ctx) => {
        const answer = await ctx.ask({ question: 'Which one?', answer: z.string() });
        return 'value' in answer ? `The ${answer.value}.` : 'None.';
      },
    }),
    defineTool({
      ...{ name: 'ship', description: 'Ships.', args, approval: 'always', guarantee: 'idempotent' },
      run: (_, { signal }) =>
        new Promise<string>((resolve) => {
          doors.push(() => resolve('Shipped.'));
          signal.addEventListener('abort', () => resolve('Not shipped.'));
        }),
    }),
    defineTool({ name: 'look', description: 'Looks.', args, guarantee: 'idempotent', run: () => 'Seen.' }),
  ];
  return defineAgent({ name: 'clerk', model: 'main', instructions: 'Serve.', tools });
}
const CALLS = ['pay', 'order', 'order', 'choose', 'choose', 'ship', 'ship', 'look'];

/** A world of sessions that wait, made from the draws of a seed. */
class Waits {
  readonly store = memory();
  readonly draw: Draw;
  readonly #orders: Orders = [];
  readonly #doors: Doors = [];
  readonly #clerk = clerkOf(this.#orders, this.#doors);
  readonly #clock = new VirtualClock({ turns: 6 });
  #world: AgentWorld | undefined;

  constructor(seed: number) {
    this.draw = drawsOf(`story ${seed}`);
  }

  async make(acts: number): Promise<void> {
    for (let left = acts; left > 0; left--) {
      const world = await this.#open();
      await this.#act(world);
      await this.#clock.settle();
      if (this.draw(8) === 0) await this.#close();
    }
    await this.#close();
  }

  /** Decides about a payment after many other things have happened. */
  async makeOld(rounds: number): Promise<void> {
    const world = await this.#open(40);
    await world.session('old', this.#clerk).send('Pay');
    for (let n = 0; n < rounds; n++) {
      await this.#clock.settle();
      await this.#quick(world);
    }
    await this.#clock.settle();
    const [item] = await world.pending();
    if (item !== undefined) await world.decide(item, { approve: true }, { as: 'human:ann' });
    await this.#clock.settle();
    await this.#close();
  }

  async #quick(world: AgentWorld): Promise<void> {
    for (let n = 0; n < 20; n++) await world.session('quick', this.#clerk).send(`Quick ${n}`);
  }

  async #open(snapshotEvery = [16, 60, 1_000_000][this.draw(3)] ?? 16): Promise<AgentWorld> {
    const model = scriptBy(({ messages, last }) => {
      if (messages.at(-1)?.role === 'tool' || last.startsWith('Quick')) return { text: `Done: ${last.slice(0, 20)}` };
      if (last.startsWith('Pay')) return { calls: [{ tool: 'pay', args: {} }] };
      const count = 1 + this.draw(2);
      return {
        calls: Array.from({ length: count }, () => ({ tool: CALLS[this.draw(CALLS.length)] ?? 'look', args: {} })),
      };
    });
    this.#world ??= await openAgentWorld({
      ...{ store: this.store, clock: this.#clock, agents: [this.#clerk], models: { main: {} } },
      snapshotEvery,
      llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
    });
    return this.#world;
  }

  async #close(): Promise<void> {
    await this.#world?.close();
    this.#world = undefined;
  }

  async #act(world: AgentWorld): Promise<void> {
    switch (this.draw(7)) {
      case 0:
      case 1:
        return void (await world.session(`s${this.draw(12)}`, this.#clerk).send(`Task ${this.draw(100)}`));
      case 2:
        return this.#quick(world);
      case 3: {
        const [order] = this.#orders.splice(this.draw(2) * this.draw(this.#orders.length + 1), 1);
        if (order !== undefined) await world.settle(order, { status: 'error', code: 'policy_denied' });
        this.#doors.splice(this.draw(2) * this.draw(this.#doors.length + 1), 1)[0]?.();
        return;
      }
      default:
        return this.#decide(world);
    }
  }

  /** Decides about something that waits: mostly the oldest. */
  async #decide(world: AgentWorld): Promise<void> {
    const pending = await world.pending();
    const item = pending[this.draw(2) === 0 ? 0 : this.draw(Math.max(pending.length, 1))];
    if (item === undefined) return;
    const as = { as: 'human:ann' } as const;
    if (item.kind !== 'approval') return void (await world.answer(item, 'red', as));
    await world.decide(item, this.draw(4) === 0 ? { deny: 'No.' } : { approve: true }, as);
  }
}

/** What settles an effect, or may. */
const SETTLING: readonly string[] = ['command', 'receipt'];

interface Told {
  readonly seq: number;
  readonly line: string;
}

/** Every entry of a world, by a reading of every frame. */
async function allOf(store: ReadonlyStore, session?: string): Promise<readonly Told[]> {
  const reader = readerOf(store, session);
  const all: PlacedEntry[] = [];
  for await (const frame of store.journal.read(0)) all.push(...(await take(reader, frame)));
  return all.map(toldOf);
}

const take = (reader: EntryReader, frame: StoredFrame) =>
  reader.entriesOf(frame, readFrame(frame.bytes, frame.seq).all);
const toldOf = (entry: PlacedEntry): Told => ({ seq: entry.seq, line: JSON.stringify(entry) });

function readerOf(store: ReadonlyStore, session?: string): EntryReader {
  return new EntryReader(store.content, new IdNames(store), {
    full: true,
    ...(session === undefined ? {} : { session }),
  });
}

/** A store that counts the frames that are decoded or looked through. */
function counted(store: ReadonlyStore): { readonly store: ReadonlyStore; readonly seen: Set<number> } {
  const seen = new Set<number>();
  const { journal } = store;
  const read = async function* (from: number, to?: number) {
    for await (const frame of journal.read(from, to)) {
      seen.add(frame.seq);
      yield frame;
    }
  };
  return {
    store: { ...store, content: store.content, close: () => store.close(), journal: { ...journal, read } },
    seen,
  };
}

describe(`the last lines of a story, beside a reading of every frame (seed ${SEED})`, () => {
  const worlds: { readonly store: ReadonlyStore; readonly draw: Draw; readonly head: number }[] = [];

  beforeAll(async () => {
    for (let n = 0; n < WORLDS; n++) {
      const waits = new Waits(SEED * 1_000 + n);
      await waits.make(50);
      const store = await waits.store.openReadonly();
      worlds.push({ store, draw: waits.draw, head: (await store.journal.head()).seq });
    }
  });

  it('the last entries up to any frame of a world in which old effects settle late are those of a reading of every frame, byte for byte', async () => {
    for (const { store, draw, head } of worlds) {
      const all = await allOf(store);
      const ends: number[] = [head];
      for await (const { seq, kind } of store.journal.read(0))
        if (SETTLING.includes(kind) && seq % 3 === 0) ends.push(seq);
      expect(ends.length).toBeGreaterThan(10);
      for (const at of ends) {
        const most = 1 + draw(at % 4 === 0 ? 40 : 4);
        const last = await new RecentReader(store, () => readerOf(store)).last(at, most);
        expect(last.map(toldOf)).toEqual(all.filter(({ seq }) => seq <= at).slice(-most));
      }
    }
  });

  it('the last entries of one session, and those that a follower is told, are those of a reading of every frame', async () => {
    for (const { store, draw, head } of worlds) {
      const session = `s${draw(12)}`;
      const own = await allOf(store, session);
      const last = await new RecentReader(store, () => readerOf(store, session)).last(head, 5);
      expect(last.map(toldOf)).toEqual(own.slice(-5));
      const all = await allOf(store);
      const from = Math.max(head - 200, 0);
      const reader = new RecentReader(store, () => readerOf(store));
      const followed = [...(await reader.last(from, 3))];
      for await (const frame of store.journal.read(from + 1)) followed.push(...(await reader.entriesOf(frame)));
      expect(followed.map(toldOf)).toEqual(all.slice(-followed.length));
      expect(followed.length).toBeGreaterThan(100);
    }
  });

  it('given an approval of hundreds of frames ago, when it is decided, then the last line is that of a reading of every frame, and few frames are read for it', async () => {
    const waits = new Waits(SEED);
    await waits.makeOld(12);
    const { store, seen } = counted(await waits.store.openReadonly());
    const { seq } = await store.journal.head();
    const all = await allOf(store);
    expect(seen.size).toBeGreaterThan(400);
    seen.clear();
    const last = await new RecentReader(store, () => readerOf(store)).last(seq, 20);
    expect(last.map(toldOf)).toEqual(all.slice(-20));
    expect(last.map(({ of }) => of.words).join()).toContain('pay');
    expect(seen.size).toBeLessThan(200);
    const whole = await storyOf(store, { limit: 100_000 });
    expect((await storyOf(store, { limit: 20 })).entries).toEqual(whole.entries.slice(-20));
  });
});
