import { bytes, value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineProjection,
  defineReducer,
  memory,
  missingDefinitions,
  openKernelWorld,
} from '../../../src/index.js';
import { expectRefused, JUNK, verdictOn } from '../../run/world/ask/junk.js';
import { codeOf } from '../../support/judge.js';

const good = {
  reducer: {
    name: 'in/Cell@1',
    state: z.strictObject({ n: z.int() }),
    events: { 'in/Done@1': creates(z.strictObject({})) },
    init: () => ({ n: 0 }),
    reduce: () => undefined,
  },
  effect: { kind: 'in.effect@1', params: z.strictObject({}), receipt: z.strictObject({}) },
  plan: { name: 'in/plan@1', input: z.strictObject({}), effects: [], *run() {} },
} as const;

// What is wrong here is the point, so the types are told to look away.
const reducer = (change: object) => () => defineReducer({ ...good.reducer, ...change } as never);
const effect = (change: object) => () => defineEffect({ ...good.effect, ...change } as never);
const plan = (change: object) => () => definePlan({ ...good.plan, ...change } as never);

const NAMES = [
  '',
  'x',
  'in/',
  '/X@1',
  'in/X',
  'in/X@0',
  'in/X@01',
  'in/X@1 ',
  'In/X@1',
  'in/X@1\n',
  'in/ü@1',
  `in/${'X'.repeat(200)}@1`,
];

const seen = z.strictObject({ n: z.int() });
const otherEffect = defineEffect({ ...good.effect, kind: 'in.other@1' });

describe('the digest of a definition', () => {
  const plain = { reducer: reducer({})().digest, effect: effect({})().digest, plan: plan({})().digest };

  it.each<[of: keyof typeof plain, part: string, digest: () => string]>([
    ['reducer', 'its state', () => reducer({ state: z.strictObject({ n: z.number() }) })().digest],
    ['reducer', 'its events', () => reducer({ events: { 'in/Done@1': creates(seen) } })().digest],
    ['reducer', 'what creates it', () => reducer({ events: { 'in/Done@1': z.strictObject({}) } })().digest],
    ['reducer', 'its facts', () => reducer({ facts: { 'in/Seen@1': seen } })().digest],
    ['reducer', 'its logs', () => reducer({ logs: { history: seen } })().digest],
    ['effect', 'its parameters', () => effect({ params: seen })().digest],
    ['effect', 'its receipt', () => effect({ receipt: seen })().digest],
    ['effect', 'its guarantee', () => effect({ guarantee: 'idempotent' })().digest],
    ['effect', 'what it reserves', () => effect({ reserves: { calls: 1 } })().digest],
    ['plan', 'its input', () => plan({ input: seen })().digest],
    ['plan', 'its effects', () => plan({ effects: [otherEffect] })().digest],
    ['plan', 'what it replaces', () => plan({ name: 'in/plan@2', replaces: 'in/plan@1' })().digest],
  ])('the digest of a %s changes when %s differs', (of, _, digest) => {
    expect(digest()).not.toBe(plain[of]);
  });

  it('the digest of a definition is the same as in earlier releases: journals pin it', () => {
    expect(plain).toEqual({
      reducer: 'd7507ccd4371ea4f10a1b8107d5e7377a3892c79b71937d28f2cc6481d7bdc2d',
      effect: 'b8b9756066807030fed65f10e62ced75c5c0a1330104945de47712ede79f0a34',
      plan: '5fd8310dc9eff26941132e4d4df0a0b3a32f552667ffad4ee38e5264cf16ffb0',
    });
    expect(effect({ params: seen, guarantee: { param: 'n' } })).toThrow(/invalid_definition/);
    const replacing = plan({ name: 'in/plan@2', replaces: 'in/plan@1' })();
    const whole = reducer({ logs: { history: seen }, tables: { index: seen }, facts: { 'in/Seen@1': seen } })();
    expect([replacing.digest, whole.digest]).toEqual([
      '3b41f532550a3fdb2345d50e2c9e93abd8ca73faa30223ce9fa2c09298e9fa95',
      '42e6d33cfb107c12759060ad9ad9b3ad0e91e863294ac9adafd2fefa9c648e80',
    ]);
  });

  it('the digest of a definition does not depend on the order of its parts', () => {
    const facts = { 'in/A@1': seen, 'in/B@1': seen, 'in/C@1': z.strictObject({}) };
    const turned = Object.fromEntries(Object.entries(facts).toReversed());
    expect(reducer({ facts })().digest).toBe(reducer({ facts: turned })().digest);
    expect(plan({ effects: [otherEffect, effect({})()] })().digest).toBe(
      plan({ effects: [effect({})(), otherEffect] })().digest,
    );
  });
});

describe('an effect that reserves', () => {
  it.each([0, 7, 'n'])('%s reserves that', (amount) => {
    expect(effect({ params: seen, reserves: { calls: amount } })().reserves).toEqual({ calls: amount });
  });

  it.each([-1, 0.5, Number.NaN, 'm', true, null])('%s is refused', (amount) => {
    expect(effect({ params: seen, reserves: { calls: amount } })).toThrow(
      expect.objectContaining({ code: 'invalid_definition' }),
    );
  });
});

describe('an effect whose parts name parameters', () => {
  const params = z.strictObject({ n: z.int(), text: z.string(), to: z.tuple([z.string(), z.string()]), any: value() });

  it('an effect accepts parts that name existing parameters of the right type', () => {
    const whole = effect({
      params,
      rights: { tool: 'text' },
      reserves: { calls: 'n' },
      settledBy: 'to',
      subject: 'text',
    })();
    expect([whole.rights, whole.reserves, whole.settledBy, whole.subject]).toEqual([
      { tool: 'text' },
      { calls: 'n' },
      'to',
      'text',
    ]);
    expect(effect({ params, settledBy: 'any' })().settledBy).toBe('any');
  });

  it.each([
    ...['none', 'n', 'text', 7, 'constructor'].map((settledBy) => ({ settledBy })),
    ...['none', 'n', 'to', 7].flatMap((name) => [{ subject: name }, { remembers: name }, { rights: { tool: name } }]),
    ...['none', 'text', 'to'].map((calls) => ({ reserves: { calls } })),
    { rights: { 'Tool!': 'text' } },
    { reserves: { 'Calls!': 1 } },
    { params: value(), settledBy: 'to' },
    { params: z.record(z.string(), z.string()), subject: 'text' },
  ])('an effect refuses %j as its parts', (parts) => {
    expect(effect({ params, ...parts })).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
  });
});

describe('a view', () => {
  const from = (sources: object) => () =>
    defineProjection({ name: 'in/View@1', row: z.strictObject({}), from: sources as never, fold: () => undefined });

  it.each([
    {},
    { '': true },
    { ':in/Done@1': true },
    { 'event:': true },
    { 'state:in/Done@1': true },
    { state: z.strictObject({}) },
    { 'unknown:x': true },
  ])('a view of %j is refused', (sources) => {
    expect(from(sources)).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
  });

  it('the digest of a view depends on its sources and not on their order', () => {
    const sources = { state: true, 'event:in/Done@1': seen, 'fact:in/Seen@1': seen } as const;
    const { digest } = from(sources)();
    expect(from(Object.fromEntries(Object.entries(sources).toReversed()))().digest).toBe(digest);
    for (const other of [{ state: true }, { ...sources, '*': true }, { ...sources, 'fact:in/Seen@1': true }]) {
      expect(from(other)().digest).not.toBe(digest);
    }
  });
});

describe('definitions that replace an earlier one', () => {
  it.each(NAMES)('no definition can replace a plan named %j', async (replaces) => {
    expect(await verdictOn(plan({ name: 'in/plan@2', replaces }), 'replaces')).toBe('invalid_name');
  });

  it('an app with two replacements of a definition, or with both the old and the new one, is refused, and the error names them', () => {
    const [old, first] = [plan({})(), plan({ name: 'in/plan@2', replaces: 'in/plan@1' })()];
    const second = plan({ name: 'in/plan@3', replaces: 'in/plan@1' })();
    const appOf = (plans: readonly unknown[]) => () => defineApp({ reducers: [], plans: plans as never });
    expect(appOf([old, first])).toThrow('in/plan@2 migrates from in/plan@1, and the app has both');
    expect(appOf([first, second])).toThrow('in/plan@3 and in/plan@2 both migrate from in/plan@1');
  });
});

describe('given a reducer that is wrongly defined [SCH-7]', () => {
  it('a reducer with any invalid part is refused at its definition', async () => {
    await expectRefused((junk) => defineReducer(junk as never), 'defineReducer');
    await expectRefused((junk) => reducer({ name: junk })(), 'name');
    await expectRefused((junk) => reducer({ state: junk })(), 'state');
    await expectRefused((junk) => reducer({ events: junk })(), 'events', ['no fields', 'a map of no class']);
    await expectRefused((junk) => reducer({ events: { 'in/Done@1': junk } })(), 'an event');
    await expectRefused((junk) => reducer({ events: { 'in/Done@1': { creates: true, schema: junk } } })(), 'creates');
    await expectRefused((junk) => reducer({ facts: junk })(), 'facts', ['undefined', 'no fields', 'a map of no class']);
    await expectRefused((junk) => reducer({ facts: { 'in/Fact@1': junk } })(), 'a fact');
    await expectRefused((junk) => reducer({ logs: junk })(), 'logs', ['undefined', 'no fields', 'a map of no class']);
    await expectRefused((junk) => reducer({ logs: { history: junk } })(), 'a log');
    await expectRefused((junk) => reducer({ tables: junk })(), 'tables', [
      'undefined',
      'no fields',
      'a map of no class',
    ]);
    await expectRefused((junk) => reducer({ tables: { index: junk } })(), 'a table');
    await expectRefused((junk) => reducer({ init: junk })(), 'init', ['a function', 'a class']);
    await expectRefused((junk) => reducer({ reduce: junk })(), 'reduce', ['a function', 'a class']);
  });

  it.each(NAMES)('a reducer with the name %j is refused', async (name) => {
    expect(await verdictOn(reducer({ name }), 'name')).toBe('invalid_name');
    expect(await verdictOn(reducer({ events: { [name]: z.strictObject({}) } }), 'event')).toBe('invalid_name');
    expect(await verdictOn(reducer({ facts: { [name]: z.strictObject({}) } }), 'fact')).toBe('invalid_name');
    expect(await verdictOn(plan({ name }), 'plan')).toBe('invalid_name');
  });

  it.each(['', 'a b', 'a\0b', 'ü', 'x'.repeat(65)])('a log or a table with the name %j is refused', async (name) => {
    expect(await verdictOn(reducer({ logs: { [name]: z.int() } }), 'log')).toBe('invalid_name');
    expect(await verdictOn(reducer({ tables: { [name]: z.int() } }), 'table')).toBe('invalid_name');
  });

  it('declared tables are part of the digest of a reducer, and a reducer without tables has the digest of before', async () => {
    const digest = (tables: object) => defineReducer({ ...good.reducer, ...tables } as never).digest;
    expect(digest({ tables: {} })).toBe(digest({}));
    expect(digest({ tables: { index: z.int() } })).not.toBe(digest({}));
    expect(digest({ tables: { index: z.int() } })).not.toBe(digest({ tables: { index: z.string() } }));
    expect(digest({ tables: { index: z.int() } })).not.toBe(digest({ logs: { index: z.int() } }));
  });

  it('a reducer whose state is not an object or contains bytes is refused', async () => {
    for (const state of [z.int(), z.array(z.int()), value(), z.record(z.string(), z.int())]) {
      expect(await verdictOn(reducer({ state }), 'state')).toBe('invalid_definition');
    }
    const holding = [z.strictObject({ b: bytes() }), z.strictObject({ list: z.array(z.union([z.int(), bytes()])) })];
    for (const state of holding) expect(await verdictOn(reducer({ state }), 'state')).toBe('invalid_definition');
  });

  it('a reducer refuses event and fact names that only the kernel may use', async () => {
    const any = z.strictObject({});
    expect(await verdictOn(reducer({ events: { 'sys/Unknown@1': any } }), 'event')).toBe('invalid_definition');
    expect(await verdictOn(reducer({ facts: { 'sys/Reply@1': any } }), 'fact')).toBe('invalid_definition');
    expect(await verdictOn(reducer({ name: 'sys/Cell@1' }), 'reducer')).toBe('invalid_definition');
    expect(await verdictOn(plan({ name: 'sys/plan@1' }), 'plan')).toBe('invalid_definition');
  });
});

describe('given an effect that is wrongly defined [SCH-7]', () => {
  it('an effect with any invalid part is refused at its definition', async () => {
    await expectRefused((junk) => defineEffect(junk as never), 'defineEffect');
    await expectRefused((junk) => effect({ kind: junk })(), 'kind');
    await expectRefused((junk) => effect({ params: junk })(), 'params');
    await expectRefused((junk) => effect({ receipt: junk })(), 'receipt');
    await expectRefused((junk) => effect({ guarantee: junk })(), 'guarantee', ['undefined', 'null']);
    await expectRefused((junk) => effect({ guarantee: { param: junk } })(), 'guarantee.param');
  });

  it.each(['', 'x', 'x@0', 'X@1', '.x@1', 'x.@1', 'x@1.', 'a/b@1', `${'x'.repeat(200)}@1`])(
    'an effect of the kind %j is refused',
    async (kind) => {
      expect(await verdictOn(effect({ kind }), 'kind')).toBe('invalid_name');
    },
  );

  it('an effect whose guarantee is in a missing parameter is refused', async () => {
    const guarantee = { param: 'how' };
    for (const params of [z.strictObject({}), z.string(), z.null(), value(), z.strictObject({ how: z.int() })]) {
      expect(await verdictOn(effect({ params, guarantee }), 'guarantee')).toBe('invalid_definition');
    }
    const how = z.enum(['idempotent', 'at_most_once', 'reconcile']);
    expect(await verdictOn(effect({ params: z.strictObject({ how }), guarantee }), 'guarantee')).toBe(
      'accepted object',
    );
    expect(await verdictOn(effect({ params: z.strictObject({ how: z.string() }), guarantee }), 'd')).toBe(
      'accepted object',
    );
  });
});

describe('given a plan that is wrongly defined [SCH-7]', () => {
  it('a plan with any invalid part is refused at its definition', async () => {
    await expectRefused((junk) => definePlan(junk as never), 'definePlan');
    await expectRefused((junk) => plan({ name: junk })(), 'name');
    await expectRefused((junk) => plan({ input: junk })(), 'input');
    await expectRefused((junk) => plan({ effects: junk })(), 'effects', ['no list']);
    await expectRefused((junk) => plan({ effects: [junk] })(), 'an effect');
    await expectRefused((junk) => plan({ run: junk })(), 'run', ['a function', 'a class']);
  });

  it('a plan that declares two effects of one kind is refused', async () => {
    const one = defineEffect(good.effect);
    const other = defineEffect({ ...good.effect, params: z.strictObject({ n: z.int() }) });
    expect(await verdictOn(plan({ effects: [one, other] }), 'effects')).toBe('duplicate_definition');
    expect(await verdictOn(plan({ effects: [one, one] }), 'effects')).toBe('accepted object');
  });
});

describe('given an app that is wrongly put together [SCH-7]', () => {
  it('an app with any invalid part is refused', async () => {
    await expectRefused((junk) => defineApp(junk as never), 'defineApp');
    await expectRefused((junk) => defineApp({ reducers: junk } as never), 'reducers', ['no list']);
    await expectRefused((junk) => defineApp({ reducers: [junk] } as never), 'a reducer');
    await expectRefused((junk) => defineApp({ reducers: [], plans: junk } as never), 'plans', [
      'undefined',
      'null',
      'no list',
    ]);
    await expectRefused((junk) => defineApp({ reducers: [], plans: [junk] } as never), 'a plan');
  });

  it('an app with two definitions of one name is refused', async () => {
    const one = defineReducer(good.reducer);
    const other = defineReducer({ ...good.reducer, events: {} });
    expect(await verdictOn(() => defineApp({ reducers: [one, other] }), 'reducers')).toBe('duplicate_definition');
    const planned = definePlan(good.plan);
    const plans = [planned, definePlan({ ...good.plan })];
    expect(await verdictOn(() => defineApp({ reducers: [one], plans }), 'plans')).toBe('duplicate_definition');
  });

  it('an app with a plan in the place of a reducer is refused', async () => {
    expect(await verdictOn(() => defineApp({ reducers: [definePlan(good.plan)] as never }), 'mixed')).toBe(
      'invalid_definition',
    );
    const plans = [defineReducer(good.reducer)] as never;
    expect(await verdictOn(() => defineApp({ reducers: [], plans }), 'mixed')).toBe('invalid_definition');
  });

  it('a comparison with a journal that the app does not fit names what is missing', async () => {
    const app = defineApp({ reducers: [defineReducer(good.reducer)] });
    const pinned = { name: 'in/Gone@1', digest: '0'.repeat(64) };
    const manifest = { reducers: [pinned], plans: [], effects: [] } as never;
    expect(missingDefinitions(manifest, app)).toEqual(['in/Gone@1']);
  });
});

describe('the longest names', () => {
  it('everything that a world writes with the longest names can be read again', async () => {
    const long = (prefix: string, suffix: string) => prefix + 'x'.repeat(128 - prefix.length - suffix.length) + suffix;
    const longEffect = defineEffect({ ...good.effect, kind: long('in.', '@999999') });
    const longPlan = definePlan({
      name: long('in/', '@1'),
      input: value(),
      effects: [longEffect],
      *run(_input, running) {
        yield* running.awaitReceipt(running.emitEffect(longEffect, {}));
      },
    });
    const event = long('in/Event', '@1');
    const cell = defineReducer({
      ...good.reducer,
      name: long('in/Cell', '@1'),
      events: { [event]: creates(z.strictObject({})) },
      facts: { [long('in/Fact', '@1')]: value() },
      logs: { ['l'.repeat(64)]: value() },
      reduce: (_draft, _event, ctx) => {
        ctx.emit({ plan: longPlan, input: 1 });
        ctx.record(long('in/Fact', '@1'), 1);
        ctx.append('l'.repeat(64), 1);
        ctx.timer('t'.repeat(64), ctx.now);
      },
    });
    const app = defineApp({ reducers: [cell], plans: [longPlan] });
    const store = memory();
    const world = await openKernelWorld({ store, app });
    await world.request([cell.name, 'k'.repeat(256)], { name: event, value: {} }, { id: 'i'.repeat(256) });
    await world.request([cell.name, 'é'.repeat(128)], { name: event, value: {} }, { as: `human:${'h'.repeat(500)}` });
    await world.pump();
    await world.snapshot();
    await world.verify();
    await world.close();
    const again = await openKernelWorld({ store, app });
    expect(await codeOf(again.request([cell.name, 'k'.repeat(257)], { name: event, value: {} }))).toBe(
      'invalid_argument',
    );
    expect(await codeOf(again.request([cell.name, 'é'.repeat(129)], { name: event, value: {} }))).toBe(
      'invalid_argument',
    );
    await again.close();
  });
});

it('no two junk values have the same name', () => {
  expect(new Set(JUNK.map(([name]) => name)).size).toBe(JUNK.length);
});
