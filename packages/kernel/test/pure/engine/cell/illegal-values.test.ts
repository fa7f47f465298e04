import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  creates,
  defineApp,
  defineReducer,
  memory,
  openKernelWorld,
  type ReducerContext,
} from '../../../../src/index.js';
import { closeSound, codeOf, lastFrame, recordsOf, refusal } from '../../../support/judge.js';
import {
  add,
  ask,
  cell,
  give,
  ILLEGAL,
  type Illegal,
  illegal,
  lab,
  log,
  numberOf,
  once,
  seen,
  send,
  spoil,
  start,
  tellCell,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';

const { app } = lab({
  *params(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, 1));
    plan.emitEffect(once, illegal(input as Illegal) as never);
    tellCell(plan, 'never', 1);
  },
  *raised(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, 1));
    plan.raiseEvent({ name: 'lab/Got@1', value: { what: 'x', value: illegal(input as Illegal) } });
  },
  *next(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, 1));
    plan.continueAs(illegal(input as Illegal));
  },
});

async function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const store = memory();
  const adapter = outside(once);
  adapter.answerAll(() => ok({ got: 1 }));
  const world = await openKernelWorld({ store, app, recheckEvery: 1, adapters: [adapter], ...options });
  return { store, adapter, world };
}

/** What may be said of a thing that is no value, or too large. */
const FAULTS = ['value_invalid', 'record_too_large', 'state_invalid', 'state_too_large'];

/** Bytes are a value; only a state may not hold them. */
const NO_VALUES = ILLEGAL.filter((what) => what !== 'bytes in state');

describe('given a state that contains something that is not a value', () => {
  it.each(ILLEGAL)(
    'a request that leaves %s in the state is refused, and the state is unchanged [RED-5]',
    async (what) => {
      const { store, world } = await given();
      await ask(world, 'x', [add(1), log('a')]);
      const { head } = world;
      const error = await refusal(ask(world, 'x', [add(1), log('b'), spoil(what)]));
      expect(error.code).toBe('delivery_faulted');
      expect(FAULTS).toContain(error.details.fault);
      expect(world.head).toEqual(head);
      expect(await numberOf(world, 'x')).toBe(1);
      await closeSound(world, store, app);
    },
  );

  it.each(ILLEGAL)(
    'an event of another cell that leaves %s in the state fails the cell with its last state [RED-5]',
    async (what) => {
      const { store, world } = await given();
      await ask(world, 'x', [add(1)]);
      await ask(world, 'y', [send('x', add(1), spoil(what))]);
      expect(await seen(world, 'y')).toEqual(['Undeliverable faulted']);
      expect(FAULTS).toContain((await recordsOf(store, 'fault'))[0]?.code);
      expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('cell_failed');
      await world.revive(cell('x'));
      expect(await numberOf(world, 'x')).toBe(1);
      await closeSound(world, store, app);
    },
  );
});

describe.each(['send', 'start', 'fact', 'log'] as const)('given something that is not a value in ctx.%s', (to) => {
  it.each(NO_VALUES)('a delivery faults as a whole when it passes %s [RED-5]', async (what) => {
    const { store, world } = await given();
    await ask(world, 'x', [add(1)]);
    const { head } = world;
    const error = await refusal(ask(world, 'x', [add(1), give(to, what)]));
    expect([error.code, FAULTS.includes(String(error.details.fault))]).toEqual(['delivery_faulted', true]);
    expect(world.head).toEqual(head);
    await ask(world, 'y', [send('x', add(1), give(to, what))]);
    expect(FAULTS).toContain((await recordsOf(store, 'fault'))[0]?.code);
    await world.revive(cell('x'));
    expect(await numberOf(world, 'x')).toBe(1);
    await closeSound(world, store, app);
  });
});

describe.each(['params', 'raised', 'next'])('given a plan that passes something that is not a value (%s)', (plan) => {
  it.each(NO_VALUES)('a plan that returns %s ends in error, and its cell is notified', async (what) => {
    const { store, world, adapter } = await given();
    await ask(world, 'x', [start(plan, what)]);
    await world.pump();
    expect(FAULTS.map((code) => `PlanFailed ${code}`)).toContain((await seen(world, 'x'))?.[0]);
    expect(adapter.calls).toHaveLength(1);
    await ask(world, 'x', [add(1)]);
    await closeSound(world, store, app);
  });
});

describe('given a recipe that breaks the rules of recipes', () => {
  type Recipe = (draft: { n: number }, ctx: ReducerContext) => unknown;

  function appOf(recipe: Recipe) {
    return defineApp({
      reducers: [
        defineReducer({
          name: 'odd/Cell@1',
          state: z.strictObject({ n: z.int() }),
          events: { 'odd/Done@1': creates(z.strictObject({ odd: z.boolean() })), 'odd/To@1': z.strictObject({}) },
          init: () => ({ n: 0 }),
          reduce: (draft, event, ctx) => {
            draft.n++;
            if (event.name === 'odd/Done@1' && event.value.odd) return recipe(draft, ctx) as never;
            return undefined;
          },
        }),
      ],
    });
  }

  async function refusedAs(recipe: Recipe): Promise<unknown> {
    const odd = appOf(recipe);
    const store = memory();
    const world = await openKernelWorld({ store, app: odd, recheckEvery: 1 });
    const to: [string, string] = ['odd/Cell@1', 'x'];
    await world.request(to, { name: 'odd/Done@1', value: { odd: false } });
    const { head } = world;
    const error = await refusal(world.request(to, { name: 'odd/Done@1', value: { odd: true } }));
    expect(error.code).toBe('delivery_faulted');
    expect(world.head).toEqual(head);
    await world.request(to, { name: 'odd/Done@1', value: { odd: false } });
    expect(await world.state(to)).toEqual({ n: 2 });
    await closeSound(world, store, odd);
    return error.details.fault;
  }

  it('a recipe that returns a value faults [RED-6]', async () => {
    expect(await refusedAs(() => ({ n: 5 }))).toBe('returned_a_value');
  });

  it('an async recipe faults, and later results of its promise reach no cell [RED-6]', async () => {
    expect(await refusedAs(async (draft) => void draft.n++)).toBe('returned_a_value');
    const rejects = async () => {
      throw new Error('later');
    };
    expect(await refusedAs(rejects)).toBe('returned_a_value');
  });

  it('a recipe that sends to an invalid address faults', async () => {
    const event = { name: 'odd/To@1', value: {} };
    const addresses: unknown[] = [
      undefined,
      null,
      [],
      ['odd/Cell@1'],
      ['odd/Cell@1', ''],
      ['odd/Cell@1', 1],
      'x',
      ['', 'x'],
    ];
    addresses.push(['odd/Cell@1', 'k'.repeat(257)], ['odd/Cell@1', '\ud800'], ['odd/Cell@1', 'x', 1], {});
    for (const to of addresses) await refusedAs((_draft, ctx) => ctx.send(to as never, event));
  });

  it('a recipe that calls ctx with other invalid arguments faults', async () => {
    const calls: Recipe[] = [
      (_draft, ctx) => ctx.send(ctx.address, undefined as never),
      (_draft, ctx) => ctx.send(ctx.address, { name: 'odd/Unknown@1', value: {} }),
      (_draft, ctx) => ctx.send(ctx.address, { name: 'sys/TimerFired@1', value: { name: 'x', due: 1 } }),
      (_draft, ctx) => ctx.send(ctx.address, { name: Symbol('x') as never, value: {} }),
      (_draft, ctx) => ctx.send(ctx.address, { name: 'odd/To@1', value: { more: 1 } }),
      (_draft, ctx) => ctx.emit(undefined as never),
      (_draft, ctx) => ctx.emit({ plan: { name: 'odd/none@1' } as never, input: 1 }),
      (_draft, ctx) => ctx.record('odd/Undeclared@1', {}),
      (_draft, ctx) => ctx.record(1 as never, {}),
      (_draft, ctx) => ctx.append('undeclared', 1),
      (_draft, ctx) => ctx.logHead('undeclared'),
      (_draft, ctx) => ctx.timer('t', Number.NaN),
      (_draft, ctx) => ctx.timer('t', 1.5),
      (_draft, ctx) => ctx.timer('t', -1),
      (_draft, ctx) => ctx.timer('t', 2 ** 60),
      (_draft, ctx) => ctx.timer('a b', 1),
      (_draft, ctx) => ctx.timer('', 1),
      (_draft, ctx) => ctx.timer('__proto__', 1),
      (_draft, ctx) => ctx.timer(undefined as never, 1),
      (_draft, ctx) => ctx.reject('Not A Code'),
      (_draft, ctx) => ctx.reject(undefined as never),
      (_draft, ctx) => {
        (ctx.address as string[])[1] = 'other';
      },
      (_draft, ctx) => {
        (ctx as { now: number }).now = 5;
      },
      (_draft, ctx) => void ctx.id(Symbol('x') as never),
    ];
    for (const call of calls) {
      expect(await refusedAs(call).catch(() => 'accepted'), String(call)).not.toBe('accepted');
    }
  });

  it('a call of ctx with meaningless but harmless arguments does nothing', async () => {
    const odd = appOf((_draft, ctx) => {
      ctx.cancel(99);
      ctx.cancel('none' as never);
      ctx.clearTimer('none');
      ctx.clearTimer(undefined as never);
    });
    const store = memory();
    const world = await openKernelWorld({ store, app: odd, recheckEvery: 1 });
    await world.request(['odd/Cell@1', 'x'], { name: 'odd/Done@1', value: { odd: true } });
    expect((await lastFrame(store)).map(({ kind }) => kind)).toEqual(['request', 'state']);
    await closeSound(world, store, odd);
  });

  it('an event whose first state is invalid is refused and creates no cell', async () => {
    for (const made of [
      undefined,
      null,
      1,
      'text',
      [],
      { n: 'x' },
      { n: 1, more: 1 },
      { n: Number.NaN },
      new Date(0),
    ]) {
      const odd = defineApp({
        reducers: [
          defineReducer({
            name: 'odd/Cell@1',
            state: z.strictObject({ n: z.int() }),
            events: { 'odd/Made@1': creates(z.strictObject({})) },
            init: () => made as never,
            reduce: () => undefined,
          }),
        ],
      });
      const store = memory();
      const world = await openKernelWorld({ store, app: odd });
      expect(await codeOf(world.request(['odd/Cell@1', 'x'], { name: 'odd/Made@1', value: {} }))).toBe(
        'delivery_faulted',
      );
      expect(world.head.seq).toBe(0);
      await closeSound(world, store, odd);
    }
  });
});
