/** Traces that once broke a law: each was found by hand or by a random world, and stays here by name. */
import { type Address, type Value, value } from '@reprise/contracts';
import { scriptedAdapter, seededRandom, VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  type PlanOp,
  PROGRAM_EVENTS,
  PROGRAM_REDUCERS,
  programAdapters,
  programApp,
  type ReducerOp,
} from '../../../../testkit/src/arbitraries/index.js';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  encode,
  memory,
  type OpenKernelWorldOptions,
  openKernelWorld,
  type Store,
  toHex,
  type World,
} from '../../../src/index.js';
import { reduce } from '../../../src/pure/reduce/index.js';
import { faultyStore } from '../../support/faulty-store.js';
import { nativeHash } from '../../support/laws/run-schedule.js';
import { refusalOf } from '../../support/laws/world-laws.js';
import { holdReplay } from './replay-law.js';

const here: Address = [PROGRAM_REDUCERS.cell, 'a'];

function nested(levels: number): Value {
  let list: Value = [];
  for (let i = 1; i < levels; i++) list = [list];
  return list;
}

interface Opened extends AsyncDisposable {
  readonly world: World;
  readonly clock: VirtualClock;
  run(ops: readonly ReducerOp[], payload?: Value): Promise<string>;
  list(): Promise<readonly Value[]>;
}

/** A world of programs; on its disposal what it wrote is held to the law of replay. */
async function opened(options: Partial<OpenKernelWorldOptions> = {}): Promise<Opened> {
  const clock = new VirtualClock();
  const store: Store = options.store ?? memory({ hash: nativeHash });
  const common = {
    store,
    app: programApp,
    adapters: programAdapters(),
    clock,
    random: seededRandom('t'),
    recheckEvery: 1,
  };
  const world = await openKernelWorld({ ...common, ...options });
  return {
    world,
    clock,
    run: async (ops, payload = null) => {
      const asked = world.request(here, { name: PROGRAM_EVENTS.made, value: { ops, payload } });
      const refusal = await refusalOf(asked);
      await clock.settle();
      return refusal?.code ?? 'taken';
    },
    list: async () => ((await world.state(here)) as { list: Value[] }).list,
    [Symbol.asyncDispose]: async () => {
      await world.close();
      await holdReplay(await store.openReadonly(), { app: programApp });
    },
  };
}

const answered = { status: 'ok', payload: 'done' };
const effect: PlanOp = { do: 'effect', kind: 'law.again@1', answer: answered, timeout_ms: null };
const wrong = (what: Extract<PlanOp, { do: 'wrong' }>['what']): PlanOp => ({ do: 'wrong', what });
const heardOf = (told: Value | undefined) =>
  ((told as { value: { heard: Value[] } }).value.heard as Value[]).slice(0, -1);

describe('a plan that catches an error of the engine', () => {
  it.each(['params', 'event', 'effect', 'within'] as const)(
    '%s: a rebuilt plan goes the same way [PLAN-2]',
    async (what) => {
      await using lab = await opened();
      const swallow: PlanOp = { do: 'try', ops: [wrong(what)] };
      const plan: PlanOp[] = [
        swallow,
        effect,
        { do: 'one', of: 0, within: null },
        { do: 'tell' },
        effect,
        { do: 'one', of: 1, within: null },
        { do: 'tell' },
      ];
      await lab.run([{ do: 'emit', plan }]);
      expect((await lab.list()).map(heardOf)).toEqual([
        ['swallowed', ['ok', 'done']],
        ['swallowed', ['ok', 'done'], ['ok', 'done']],
      ]);
    },
  );

  it('a yield that is no wait ends the plan and leaves the world well', async () => {
    await using lab = await opened();
    await lab.run([{ do: 'emit', plan: [effect, wrong('yield')] }]);
    expect(await lab.list()).toMatchObject([{ heard: 'sys/PlanFailed@1', value: { code: 'value_invalid' } }]);
    expect(await lab.run([])).toBe('taken');
  });
});

describe('a plan that was resumed by a frame that did not become durable', () => {
  it('a plan that a lost frame resumed is rebuilt, and resumed once [PLAN-1]', async () => {
    const disk = faultyStore(memory({ hash: nativeHash }));
    await using lab = await opened({ store: disk, recheckEvery: 0 });
    const plan: PlanOp[] = [
      { do: 'effect', kind: 'law.ask@1', answer: 'hang', timeout_ms: null },
      { do: 'one', of: 0, within: 500 },
      { do: 'tell' },
      { do: 'one', of: 0, within: 500 },
      { do: 'tell' },
    ];
    await lab.run([{ do: 'emit', plan }]);
    disk.appends.push('full', 'full');
    await lab.clock.advance(10_000);
    expect((await lab.list()).map(heardOf)).toEqual([['late'], ['late', 'late']]);
  });
});

describe('values as deep as a value may be', () => {
  const deep = nested(48);
  const echo = defineEffect({ kind: 'law.deep@1', params: value(), receipt: value() });
  const plan = definePlan({
    name: 'law/deep_plan@1',
    input: value(),
    effects: [echo],
    *run(input, context) {
      const receipt = yield* context.awaitReceipt(context.emitEffect(echo, input));
      context.raiseEvent({ name: 'law/Sunk@1', value: receipt.payload });
    },
  });
  const deeps = defineReducer({
    name: 'law/Deep@1',
    state: z.strictObject({ heads: z.array(value()) }),
    events: { 'law/Sunk@1': creates(value()), 'sys/TimerFired@1': value(), 'law/Told@1': value() },
    facts: { 'law/Felt@1': value() },
    logs: { floor: value() },
    init: () => ({ heads: [] }),
    reduce(draft, event, ctx) {
      if (event.name === 'law/Told@1') return;
      if (event.name === 'law/Sunk@1') return ctx.timer('t', ctx.now);
      for (let i = 0; i < 40; i++) ctx.append('floor', deep);
      draft.heads.push(ctx.logHead('floor'));
      ctx.record('law/Felt@1', deep);
      ctx.send(ctx.address, { name: 'law/Told@1', value: deep });
      if (draft.heads.length < 2) ctx.emit({ plan, input: deep });
    },
  });

  it('values of the largest depth enter from outside, from reducers, plans and timers, and are returned and read again', async () => {
    const adapter = scriptedAdapter(echo, () => ({ status: 'ok', payload: deep }));
    const app = defineApp({ reducers: [deeps], plans: [plan] });
    const [store, clock] = [memory({ hash: nativeHash }), new VirtualClock()];
    const cell: Address = ['law/Deep@1', 'a'];
    {
      await using world = await openKernelWorld({ store, app, adapters: [adapter], clock, recheckEvery: 1 });
      await world.request(cell, { name: 'law/Sunk@1', value: deep });
      await clock.advance(1);
      await clock.settle();
      expect(((await world.state(cell)) as { heads: Value[] }).heads).toHaveLength(2);
      let items = 0;
      for await (const item of world.log(cell, 'floor')) items += toHex(encode(item)) === toHex(encode(deep)) ? 1 : 0;
      expect([items, adapter.calls.length]).toEqual([80, 1]);
    }
    await holdReplay(await store.openReadonly(), { app });
  });

  it('a value one level deeper is refused when it enters', async () => {
    await using world = await openKernelWorld({
      store: memory(),
      app: defineApp({ reducers: [deeps], plans: [plan] }),
    });
    const asked = world.request(['law/Deep@1', 'a'], { name: 'law/Sunk@1', value: nested(49) });
    expect((await refusalOf(asked))?.code).toBe('invalid_value');
  });
});

describe('addresses', () => {
  const keys = defineReducer({
    name: 'law/Keys@1',
    state: z.strictObject({ n: z.int() }),
    events: { 'law/Opened@1': creates(z.strictObject({ to: z.exactOptional(value()) })) },
    init: () => ({ n: 0 }),
    reduce(draft, event, ctx) {
      draft.n++;
      if (event.value.to !== undefined) ctx.send(event.value.to as never, { name: 'law/Opened@1', value: {} });
    },
  });
  const app = defineApp({ reducers: [keys] });
  const open = { name: 'law/Opened@1', value: {} };

  it.each(['k'.repeat(256), 'é'.repeat(128), '😀'.repeat(64), ' ', '/'])(
    'a key of 1 to 256 bytes is one, from outside and inside [RED-20]',
    async (key) => {
      await using world = await openKernelWorld({ store: memory(), app });
      await world.request(['law/Keys@1', key], open);
      await world.request(['law/Keys@1', 'x'], { name: open.name, value: { to: ['law/Keys@1', key] } });
      expect(await world.state(['law/Keys@1', key])).toEqual({ n: 2 });
      for await (const frame of world.frames(0)) if (frame.seq === world.head.seq) break;
      await world.verify();
    },
  );

  it.each(['', 'k'.repeat(257), 'é'.repeat(129), 7, null, undefined])(
    '%j is no key: refused at the door, a fault inside [RED-20]',
    async (key) => {
      await using world = await openKernelWorld({ store: memory(), app });
      const outside = await refusalOf(world.request(['law/Keys@1', key as string], open));
      expect(outside?.code).toBe('invalid_argument');
      const inside = await refusalOf(
        world.request(['law/Keys@1', 'x'], { name: open.name, value: { to: ['law/Keys@1', key ?? null] } }),
      );
      expect(inside?.details.fault).toBe('value_invalid');
      await world.request(['law/Keys@1', 'x'], open);
      await world.verify();
    },
  );
});

describe('snapshots and reads', () => {
  it('a snapshot at every frame ends: its own frame asks for no other', async () => {
    await using lab = await opened({ snapshotEvery: 1 });
    for (let i = 0; i < 5; i++) await lab.run([]);
    await lab.clock.settle();
    const head = lab.world.head.seq;
    await lab.clock.settle();
    expect(lab.world.head.seq).toBe(head);
    expect(head).toBeLessThanOrEqual(12);
  });

  it('a log shows nothing that is not durable yet [JRN-11]', async () => {
    const store = memory();
    let gate: Promise<void> | undefined;
    const slow: Store = {
      ...store,
      open: async () => {
        const open = await store.open();
        const append: typeof open.journal.append = async (...given) => {
          await gate;
          return open.journal.append(...given);
        };
        return { ...open, journal: { ...open.journal, append } };
      },
    };
    await using lab = await opened({ store: slow });
    const ops: ReducerOp[] = [{ do: 'append', log: 'first', value: 1, times: 1 }];
    await lab.run(ops);
    let release: () => void = () => undefined;
    gate = new Promise((resolve) => {
      release = resolve;
    });
    const request = lab.run(ops);
    await lab.clock.settle(); // folded, and not durable
    let read: number | undefined;
    const reading = (async () => {
      let items = 0;
      for await (const _ of lab.world.log(here, 'first')) items++;
      read = items;
    })();
    await lab.clock.settle();
    expect([read, lab.world.head.seq]).toEqual([undefined, 1]);
    release();
    await Promise.all([request, reading]);
    expect([read, lab.world.head.seq]).toEqual([2, 2]);
  });
});

describe('a reducer that sends to an address made of chance', () => {
  const wild = defineReducer({
    name: 'law/Wild@1',
    state: z.strictObject({ n: z.int() }),
    events: { 'law/Thrown@1': creates(z.strictObject({ on: z.boolean() })) },
    init: () => ({ n: 0 }),
    reduce(draft, event, ctx) {
      draft.n++;
      if (event.value.on) ctx.send([ctx.address[0], `k${Math.random()}`], { name: event.name, value: { on: false } });
    },
  });

  it('a reducer that sends to a random address is refused in the end, although each fold needs another unloaded cell', async () => {
    await using world = await openKernelWorld({
      store: memory(),
      app: defineApp({ reducers: [wild] }),
      snapshotEvery: 0,
    });
    const to: Address = ['law/Wild@1', 'a'];
    await world.request(to, { name: 'law/Thrown@1', value: { on: false } });
    await world.snapshot();
    const refusal = await refusalOf(world.request(to, { name: 'law/Thrown@1', value: { on: true } }));
    expect(refusal?.code).toBe('nondeterminism');
    expect(await world.state(to)).toEqual({ n: 1 });
    await world.request(to, { name: 'law/Thrown@1', value: { on: false } });
  });
});

describe('identifiers and chance', () => {
  it('identifiers and random values never repeat: not in a delivery, a cell, a generation or a neighbor [DET-2]', async () => {
    await using lab = await opened();
    const draw: ReducerOp[] = [0, 1, 2].map((i) => ({ do: 'draw', at: [`d${i}`] }));
    const seen: Value[] = [];
    const look = async (key: string): Promise<void> => {
      const { bag } = (await lab.world.state([PROGRAM_REDUCERS.cell, key])) as {
        bag: Record<string, Record<string, Value>>;
      };
      for (const { id, random, again } of Object.values(bag)) seen.push(id as Value, random as Value, again as Value);
    };
    for (const key of ['a', 'a', 'a', 'a', 'b', 'end', 'a', 'b', 'a']) {
      const ops: ReducerOp[] = key === 'end' ? [{ do: 'end' }] : draw;
      const to: Address = [PROGRAM_REDUCERS.cell, key === 'end' ? 'a' : key];
      await lab.world.request(to, { name: PROGRAM_EVENTS.made, value: { ops, payload: null } });
      if (key !== 'end') await look(key);
    }
    expect(seen).toHaveLength(8 * 9);
    expect(new Set(seen).size).toBe(seen.length);
    const numbers = seen.filter((one) => typeof one === 'number');
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
  });
});

describe('reduce() refuses what the engine drops [SCH-4, RED-2]', () => {
  const kept = { n: 0, any: null };
  const reducer = (recipe: (draft: { n: number; any: unknown }) => unknown) =>
    defineReducer({
      name: 'law/Refusing@1',
      state: z.strictObject({ n: z.int(), any: value(), filled: z.int().default(3) }),
      events: { 'law/Went@1': creates(z.strictObject({})) },
      init: () => ({ ...kept }) as never,
      reduce: (draft, event, ctx) => (event.name === 'law/Went@1' ? recipe(draft as never) : ctx.end()) as undefined,
    });
  const nothing = () => undefined;
  const context = { address: ['law/Refusing@1', 'a'], reject: nothing, emit: nothing, send: nothing } as never;
  const of = (recipe: (draft: { n: number; any: unknown }) => unknown) => () =>
    reduce(reducer(recipe), undefined, { name: 'law/Went@1', value: {} }, context).state;

  it.each<[string, (draft: { n: number; any: unknown }) => unknown, string]>([
    ['a value that is returned', () => 5, 'returned_a_value'],
    ['a state that breaks its schema', (draft) => void Object.assign(draft, { n: 'x' }), 'state_invalid'],
    ['a key that no schema names', (draft) => void Object.assign(draft, { more: 1 }), 'state_invalid'],
    [
      'bytes under a schema that takes anything',
      (draft) => void Object.assign(draft, { any: [Uint8Array.of(1)] }),
      'state_invalid',
    ],
    ['what is no value', (draft) => void Object.assign(draft, { any: Number.NaN }), 'value_invalid'],
    [
      'an exception',
      () => {
        throw Object.create(null);
      },
      'threw',
    ],
  ])('%s', (_, recipe, fault) => {
    expect(of(recipe)).toThrow(
      expect.objectContaining({ code: 'delivery_faulted', details: expect.objectContaining({ fault }) }),
    );
  });

  it('reduce() fills in a constant default', () => {
    expect(of((draft) => void draft.n++)()).toEqual({ n: 1, any: null, filled: 3 });
  });
});
