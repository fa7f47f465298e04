/** A world with every flow reducer and clients that do what they are told and write down what they hear. */
import { type Address, address, type JournalRecord, reply, timerFired, type Value, value } from '@reprise/contracts';
import {
  creates,
  defineApp,
  defineReducer,
  openKernelWorld,
  type ReducerContext,
  readFrame,
  type VerifyReport,
  verifyStore,
  type World,
} from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import * as z from 'zod';
import { promise, promiseEvents, queue, queueEvents, topic, topicEvents } from '../../../src/pure/flow/index.js';
import { type MortalStore, mortalStore } from './mortal-store.js';

const CLIENT = 'test/Client@1';
const DEAF = 'test/Deaf@1';

/** The address of a client. */
export const client = (key: string): Address => [CLIENT, key];

/** The address of a client that takes no event of any flow cell. */
export const deaf = (key: string): Address => [DEAF, key];

const command = z.strictObject({ to: address, name: z.string(), value: value() });
const told = {
  /** Sends a command. */
  'test/Told@1': creates(command),
  /** Says how long an item takes. */
  'test/Trained@1': creates(z.strictObject({ work_ms: z.nullable(z.int()) })),
  'test/Quit@1': z.strictObject({}),
};
const heard = { ...queueEvents, ...promiseEvents, ...topicEvents };
const events = { ...told, ...heard, 'sys/Reply@1': reply, 'sys/TimerFired@1': timerFired };

const state = z.strictObject({ work_ms: z.nullable(z.int()), work: z.record(z.string(), value()) });

/** What a client heard: the event, its value and when. */
export interface Heard {
  readonly name: string;
  readonly value: Value;
  readonly at: number;
}

const speaker = defineReducer({
  name: CLIENT,
  state,
  events,
  logs: { heard: value() },
  init: () => ({ work_ms: null, work: {} }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'test/Told@1':
        return say(ctx, event.value);
      case 'test/Trained@1':
        draft.work_ms = event.value.work_ms;
        return;
      case 'test/Quit@1':
        return ctx.end();
      case 'sys/Reply@1':
        if (event.value.outcome === 'rejected')
          ctx.append('heard', hearing(event.value.code ?? '', event.value.event, ctx));
        return;
      case 'sys/TimerFired@1': {
        const work = draft.work[event.value.name] as unknown as z.output<typeof command>;
        delete draft.work[event.value.name];
        return say(ctx, work);
      }
      default:
        ctx.append('heard', hearing(event.name, event.value as Value, ctx));
        if (draft.work_ms === null || ctx.sender === null) return;
        if (event.name === 'flow/Granted@1') labour(draft, ctx, event.value.item);
    }
  },
});

const deafSpeaker = defineReducer({
  name: DEAF,
  state: z.strictObject({}),
  events: { 'test/Told@1': creates(command) },
  init: () => ({}),
  reduce: (_draft, event, ctx) => say(ctx, event.value),
});

function hearing(name: string, what: Value, ctx: ReducerContext): Heard & Record<string, Value> {
  return { name, value: what, at: ctx.now };
}

function say(ctx: ReducerContext, { to, name, value: what }: z.output<typeof command>): void {
  ctx.send(to, { name, value: what }, { reply: true });
}

interface Working {
  work_ms: number | null;
  work: Record<string, Value>;
}

/** Does the work: at once, or in its time. */
function labour(draft: Working, ctx: ReducerContext, item: string): void {
  const to: Address = [ctx.sender?.[0] ?? '', ctx.sender?.[1] ?? ''];
  const done = { to, name: 'flow/Done@1', value: { item } };
  if (draft.work_ms === 0) return say(ctx, done);
  draft.work[item] = done;
  ctx.timer(item, ctx.now + (draft.work_ms ?? 0));
}

/** The app of the office. */
export const app = defineApp({ reducers: [queue, promise, topic, speaker, deafSpeaker] });

/** A world that may die at any commit and is opened again. */
export class Office {
  readonly clock = new VirtualClock({ turns: 4 });
  readonly store: MortalStore;
  #world: World | undefined;
  #sent = 0;

  constructor(store: MortalStore = mortalStore()) {
    this.store = store;
  }

  /** The open world; opened when it is not. */
  async world(): Promise<World> {
    const how = { drive: 'manual', recheckEvery: 0, snapshotEvery: 500 } as const;
    this.#world ??= await openKernelWorld({ store: this.store, app, clock: this.clock, ...how });
    return this.#world;
  }

  /** An outside request. @returns the code that a reducer rejected it with, or undefined */
  async host(to: Address, name: string, given: Value): Promise<string | undefined> {
    const id = `h${this.#sent++}`;
    return this.#surviving(async (world) => {
      try {
        await world.request(to, { name, value: given }, { id });
        return undefined;
      } catch (error) {
        const { code, details } = error as { code?: string; details?: { reason?: string } };
        if (code === 'request_rejected') return details?.reason ?? '';
        throw error;
      }
    });
  }

  /** A command that a client sends. */
  async by(key: string, to: Address, name: string, given: Value): Promise<void> {
    await this.host(client(key), 'test/Told@1', { to: [...to], name, value: given });
  }

  /** Everything that is due is done. */
  async settle(): Promise<void> {
    await this.#surviving(async (world) => void (await world.pump()));
  }

  /** Time passes, each timer at its own time. */
  async pass(ms: number): Promise<void> {
    const until = this.clock.wall() + ms;
    for (;;) {
      const next = await this.#surviving(async (world) => (await world.pump()).nextWakeAt);
      if (next === undefined || next > until) break;
      await this.clock.advance(Math.max(0, next - this.clock.wall()));
    }
    await this.clock.advance(until - this.clock.wall());
    await this.settle();
  }

  /** Passes time until no timer is set. */
  async rest(): Promise<void> {
    for (;;) {
      const next = await this.#surviving(async (world) => (await world.pump()).nextWakeAt);
      if (next === undefined) return;
      await this.clock.advance(Math.max(0, next - this.clock.wall()));
    }
  }

  /** What a client heard, in order. */
  async heard(key: string): Promise<Heard[]> {
    const list: Heard[] = [];
    for await (const item of (await this.world()).log(client(key), 'heard')) list.push(item as unknown as Heard);
    return list;
  }

  /** All entries of a table. */
  async table(of: Address, name: string): Promise<[string, Value][]> {
    const world = await this.world();
    const entries: [string, Value][] = [];
    for (let page = await world.table(of, name); page.length > 0; ) {
      entries.push(...page);
      page = await world.table(of, name, { after: page.at(-1)?.[0] as string });
    }
    return entries;
  }

  /** Every record of the journal, in order. */
  async records(): Promise<JournalRecord[]> {
    const store = await this.store.openReadonly();
    const records: JournalRecord[] = [];
    for await (const { bytes, seq } of store.journal.read(0)) records.push(...readFrame(bytes, seq).all);
    await store.close();
    return records;
  }

  /** Closes the world, and replays it. */
  async close(): Promise<VerifyReport> {
    await this.#world?.close();
    this.#world = undefined;
    const store = await this.store.openReadonly();
    try {
      return await verifyStore(store, { app });
    } finally {
      await store.close();
    }
  }

  /** Tries again, on a world opened anew, when the process died meanwhile. */
  async #surviving<T>(body: (world: World) => Promise<T>): Promise<T> {
    for (;;) {
      const deaths = this.store.deaths;
      try {
        const done = await body(await this.world());
        if (this.store.deaths === deaths) return done;
      } catch (error) {
        if (this.store.deaths === deaths) throw error;
      }
      this.#world = undefined;
    }
  }
}
