/** Settling under stress: the first outcome settles, and reservations, bookings and notices stay right whatever comes after. */
import type { PolicyRule, Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deferEffect, defineEffect, openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, framesOf, isPending, recordsOf, until } from '../../../support/judge.js';
import { again, ask, cancel, cell, lab, once, seen, start, tellCell, when } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const use = defineEffect({
  kind: 'lab.use@1',
  params: z.strictObject({ tokens: z.int().min(0), guarantee: z.enum(['idempotent', 'at_most_once']) }),
  receipt: z.strictObject({ got: z.int(), note: z.string().default('none') }),
  guarantee: { param: 'guarantee' },
  reserves: { tokens: 'tokens' },
});

const judged = defineEffect({
  kind: 'lab.judged@1',
  params: z.strictObject({ by: z.tuple([z.string(), z.string()]), tokens: z.int().min(0) }),
  receipt: z.strictObject({ got: z.int() }),
  settledBy: 'by',
  reserves: { tokens: 'tokens' },
});

const { app } = lab(
  {
    *use(input, plan) {
      const params = { guarantee: 'idempotent', ...(input as object) } as never;
      const options = { timeoutMs: 1_000 };
      const { status, payload, code } = yield* plan.awaitReceipt(plan.emitEffect(use, params, options));
      tellCell(plan, 'used', [status, (payload as never) ?? code ?? null]);
    },
    *judge(input, plan) {
      const by: [string, string] = [...cell('judge')];
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(judged, { by, tokens: Number(input) }));
      tellCell(plan, 'judged', [status, code ?? null]);
    },
    *work(input, plan) {
      const { status } = yield* plan.awaitReceipt(plan.emitEffect(again, input));
      tellCell(plan, 'worked', status);
    },
    *ship(input, plan) {
      const { status } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
      tellCell(plan, 'shipped', status);
    },
  },
  [use, judged],
);

const POLICY: readonly PolicyRule[] = [
  { effect: judged.name, decision: 'require_approval' },
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

async function given(policy = POLICY) {
  const clock = new TestClock();
  const store = crashable();
  const adapters = [outside(use, { concurrency: 1 }), outside(again, { concurrency: 1 }), outside(once)] as const;
  const open = (some: readonly (typeof adapters)[number][] = adapters) =>
    openKernelWorld({ store, app, clock, policy, recheckEvery: 1, adapters: some });
  return { clock, store, adapters, open, world: await open() };
}

async function budget(world: World, limits: Readonly<Record<string, number>>): Promise<void> {
  await world.command('sys/SetAccount@1', { account: 'team', parent: null, limits });
  await world.command('sys/SetRights@1', { holder: holder('x'), account: 'team' });
}

const left = async (world: World) => {
  const { spent, reserved } = (await world.account('team')) ?? {};
  return { spent, reserved };
};

describe('given an account, and an effect that never started', () => {
  it('nothing is spent when the time of a waiting effect runs out, or nothing can execute it [GATE-25]', async () => {
    const { world, store, adapters, clock, open } = await given();
    await budget(world, { tokens: 100 });
    await ask(world, 'x', [start('use', { tokens: 30 }), start('use', { tokens: 40 })]);
    await adapters[0].call(0);
    clock.advance(1_000);
    await until(async () => (await seen(world, 'x'))?.length === 2, 'the timeouts');
    expect((await left(world)).spent).toEqual({ tokens: 30, calls: 1 });
    adapters[0].answerAll(() => ok({ got: 1 }));
    await world.close();
    const bare = await open([]);
    await ask(bare, 'x', [start('use', { tokens: 5 })]);
    await bare.pump();
    expect((await seen(bare, 'x'))?.at(-1)).toBe('used=["error","adapter_error/no_adapter"]');
    expect(await left(bare)).toEqual({ spent: { tokens: 30, calls: 1 }, reserved: {} });
    await closeSound(bare, store, app);
  });

  it('the reserves of others stay when an approved effect has no settling cell any more', async () => {
    const { world, store, adapters } = await given();
    await budget(world, { tokens: 100 });
    await ask(world, 'x', [start('judge', 50), start('use', { tokens: 60 })]);
    await adapters[0].call(0);
    const [item] = await world.pending();
    await world.decide(item as never, { approve: true });
    expect(await seen(world, 'x')).toEqual(['judged=["denied","cap_denied/budget"]']);
    await ask(world, 'x', [start('judge', 20)]);
    await world.decide((await world.pending())[0] as never, { approve: true });
    expect((await seen(world, 'x'))?.at(-1)).toBe('judged=["error","adapter_error/no_settler"]');
    expect(await left(world)).toEqual({ spent: {}, reserved: { tokens: 60, calls: 1, parallel: 1 } });
    adapters[0].answerAll(() => ok({ got: 1 }));
    await closeSound(world, store, app);
  });
});

describe('given an account, and an effect that a cell settles', () => {
  const ALLOW: readonly PolicyRule[] = [
    { effect: '*', decision: 'allow' },
    { send: '*', decision: 'allow' },
  ];

  it('the whole reserve is spent when the cell reports a failure: it may have worked on it [GATE-25]', async () => {
    const { world, store } = await given(ALLOW);
    await budget(world, { tokens: 100 });
    const failed = { status: 'error', code: 'adapter_error/judge' };
    await ask(world, 'judge', [when('settle', ['note', failed as never])]);
    await ask(world, 'x', [start('judge', 30)]);
    expect(await seen(world, 'x')).toEqual(['judged=["error","adapter_error/judge"]']);
    expect(await left(world)).toEqual({ spent: { tokens: 30, calls: 1 }, reserved: {} });
    await closeSound(world, store, app);
  });

  it('nothing is spent when the plan is cancelled before the cell has reported [GATE-25]', async () => {
    const { world, store } = await given(ALLOW);
    await budget(world, { tokens: 100 });
    await ask(world, 'judge', []);
    await ask(world, 'x', [start('judge', 30)]);
    expect((await left(world)).reserved).toMatchObject({ tokens: 30 });
    await ask(world, 'x', [cancel('all')]);
    expect(await left(world)).toEqual({ spent: {}, reserved: {} });
    await closeSound(world, store, app);
  });
});

describe('given a deferred effect', () => {
  const handOn = async (w: Awaited<ReturnType<typeof given>>, how = {}) => {
    await budget(w.world, { tokens: 100 });
    await ask(w.world, 'x', [start('use', { tokens: 60 })]);
    (await w.adapters[0].call(0)).answer(deferEffect(how));
    await until(async () => (await w.world.pending()).length === 1, 'the effect that waits');
    return (await w.world.pending())[0]?.id as string;
  };

  it('a late report after the timeout corrects the spent amount once [GATE-27]', async () => {
    const w = await given();
    const id = await handOn(w);
    w.clock.advance(1_000);
    await until(async () => (await seen(w.world, 'x'))?.length === 1, 'the timeout');
    expect(await left(w.world)).toEqual({ spent: { tokens: 60, calls: 1 }, reserved: {} });
    const told = (tokens: number) => ({ status: 'ok', payload: { got: 1 }, usage: { tokens_out: tokens } }) as const;
    expect((await w.world.settle(id, told(7))).status).toBe('already_settled');
    expect((await left(w.world)).spent).toEqual({ tokens: 7, calls: 1 });
    expect((await w.world.settle(id, told(90))).status).toBe('already_settled');
    expect((await left(w.world)).spent).toEqual({ tokens: 7, calls: 1 });
    expect(await recordsOf(w.store, 'late')).toHaveLength(2);
    expect(await seen(w.world, 'x')).toHaveLength(1);
    await closeSound(w.world, w.store, app);
  });

  it('a late report of the adapter alone corrects the booked amount, not one of another principal [GATE-27]', async () => {
    const w = await given([{ effect: use.name, decision: 'require_approval' }, ...POLICY]);
    await budget(w.world, { tokens: 100 });
    await ask(w.world, 'x', [start('use', { tokens: 60 })]);
    await w.world.decide((await w.world.pending())[0] as never, { approve: true });
    const call = await w.adapters[0].call(0);
    const id = call.context.idempotencyKey;
    await w.world.cancel(id, { graceMs: 5 });
    w.clock.advance(5);
    await until(async () => (await seen(w.world, 'x'))?.length === 1, 'the end of the grace');
    await w.world.settle(id, { status: 'ok', payload: { got: 1 }, usage: { tokens_out: 9 } });
    expect((await left(w.world)).spent).toEqual({ tokens: 60, calls: 1 });
    call.answer({ status: 'ok', payload: { got: 1 }, usage: { tokens_out: 8 } });
    await until(async () => (await recordsOf(w.store, 'late')).length === 2, 'the late answers');
    expect((await left(w.world)).spent).toEqual({ tokens: 8, calls: 1 });
    await closeSound(w.world, w.store, app);
  });

  it('the payload of a settlement is read like that of an adapter, and reported usage stands [ASK-2]', async () => {
    const w = await given();
    const id = await handOn(w);
    const outcome = { status: 'ok', payload: { got: 1 }, usage: { tokens_in: 5 } } as const;
    expect((await w.world.settle(id, outcome)).status).toBe('applied');
    expect(await seen(w.world, 'x')).toEqual(['used=["ok",{"got":1,"note":"none"}]']);
    await w.world.settle(id, { ...outcome, usage: { tokens_in: 99 } });
    expect((await left(w.world)).spent).toEqual({ tokens: 5, calls: 1 });
    await closeSound(w.world, w.store, app);
  });

  it('the grace ends a deferred effect that was asked to stop before it was deferred', async () => {
    const w = await given();
    await ask(w.world, 'x', [start('ship')]);
    const call = await w.adapters[2].call(0);
    const [effect] = await w.world.openEffects();
    await w.world.cancel(effect?.effect as string, { graceMs: 500 });
    call.answer(deferEffect());
    await until(async () => (await w.world.pending()).length === 1, 'the effect that waits');
    expect(await isPending(until(async () => (await seen(w.world, 'x'))?.length === 1))).toBe(true);
    w.clock.advance(500);
    await until(async () => (await seen(w.world, 'x'))?.length === 1, 'the end of the grace');
    expect(await seen(w.world, 'x')).toEqual(['shipped="cancelled"']);
    const done = { status: 'ok', payload: { got: 1 } } as const;
    expect((await w.world.settle(effect?.effect as string, done)).status).toBe('already_settled');
    await closeSound(w.world, w.store, app);
  });

  it('the result of the adapter is late, and nothing is left behind, when the effect is settled while it is being deferred', async () => {
    const w = await given();
    await ask(w.world, 'x', [start('ship')]);
    const call = await w.adapters[2].call(0);
    const [effect] = await w.world.openEffects();
    call.answer(deferEffect()); // the webhook overtakes it
    const settled = w.world.settle(effect?.effect as string, { status: 'ok', payload: { got: 1 } });
    await settled;
    await w.world.pump();
    expect(await seen(w.world, 'x')).toEqual(['shipped="ok"']);
    expect(await w.world.pending()).toEqual([]);
    const { head } = w.world;
    await w.world.close();
    const again = await w.open();
    expect(again.head).toEqual(head); // nothing was left for the next open to settle
    await closeSound(again, w.store, app);
  });
});

describe('given an idempotent effect that waits to be executed again after a crash', () => {
  const interrupted = async () => {
    const w = await given();
    await ask(w.world, 'x', [start('work', 1)]);
    await w.adapters[1].call(0);
    await w.store.crash();
    const reserved = outside(again, { concurrency: 1 });
    const world = await openKernelWorld({ store: w.store, app, clock: w.clock, adapters: [reserved], drive: 'manual' });
    return { ...w, world, reserved };
  };

  it('an effect whose right is revoked is settled once, nothing starts, and nothing is left behind [GATE-20]', async () => {
    const { world, reserved, store } = await interrupted();
    await world.command('sys/SetRights@1', { holder: holder('x'), exercise: { may: { effect: [] } } });
    await world.pump();
    expect(reserved.calls).toHaveLength(0);
    expect(await seen(world, 'x')).toEqual(['worked="cancelled"']);
    expect(await recordsOf(store, 'settled')).toHaveLength(1);
    expect((await recordsOf(store, 'late')).map(({ status }) => status)).toEqual(['cancelled']);
    await closeSound(world, store, app);
  });

  it('no settled effect starts when the settlement arrives while its attempt is being written', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const w = await given();
      const wide = outside(again);
      await w.world.close();
      const first = await w.open([wide]);
      await ask(first, 'x', [start('work', 1), start('work', 2)]);
      await wide.call(1);
      await w.store.crash();
      const next = await w.open();
      const running = await w.adapters[1].call(0);
      const second = (await next.openEffects())[1]?.effect as string;
      running.answer(ok({ got: 1 }));
      for (let i = 0; i < turns; i++) await Promise.resolve();
      await next.settle(second, { status: 'ok', payload: { got: 'by hand' } });
      w.adapters[1].answerAll(() => ok({ got: 2 }));
      await next.pump();
      await until(async () => (await seen(next, 'x'))?.length === 2, 'both');
      const frames = (await framesOf(w.store)).flat();
      const settled = frames.findIndex((record) => record.kind === 'settled' && record.effect === second);
      const after = frames.slice(settled).filter((record) => record.kind === 'attempt' && record.effect === second);
      expect(after, `after ${turns} turns`).toEqual([]);
      expect(await recordsOf(w.store, 'late')).toHaveLength(1);
      await closeSound(next, w.store, app);
    }
  });
});

describe('given approval with other parameters', () => {
  it('another guarantee in the approved parameters counts after a crash', async () => {
    const approve: readonly PolicyRule[] = [{ effect: use.name, decision: 'require_approval' }, ...POLICY];
    const w = await given(approve);
    await ask(w.world, 'x', [start('use', { tokens: 1 })]);
    const params = { tokens: 1, guarantee: 'at_most_once' };
    await w.world.decide((await w.world.pending())[0] as never, { approve: true, params });
    await w.adapters[0].call(0);
    await w.store.crash();
    const next = await w.open();
    await next.pump();
    expect(w.adapters[0].calls).toHaveLength(1);
    expect(await seen(next, 'x')).toEqual(['used=["outcome_unknown",null]']);
    await closeSound(next, w.store, app);
  });
});

const codeIn = (error: unknown): unknown => (error as { readonly code?: unknown }).code;

describe('given an effect that was settled while it ran', () => {
  it('the answer of the adapter is still awaited when the deadline comes at the same moment, whichever settles it', async () => {
    const w = await given();
    await ask(w.world, 'x', [start('use', { tokens: 1 })]);
    const call = await w.adapters[0].call(0);
    const [effect] = await w.world.openEffects();
    const settled = w.world.settle(effect?.effect as string, { status: 'error', code: 'adapter_error/by_hand' });
    w.clock.advance(1_000);
    expect([undefined, 'effect_settled']).toContain(await settled.then(() => undefined, codeIn));
    await w.world.pump();
    expect(await w.world.openEffects()).toEqual([]); // it has its receipt
    call.answer(ok({ got: 1 }));
    await until(async () => (await recordsOf(w.store, 'late')).length > 0, 'the late answer');
    expect((await recordsOf(w.store, 'late')).map(({ status }) => status)).toEqual(['ok']);
    expect(await seen(w.world, 'x')).toHaveLength(1);
    await closeSound(w.world, w.store, app);
  });

  it('the first of two cells that settle an effect in one frame is informed that its settlement applied', async () => {
    const w = await given([{ effect: '*', decision: 'allow' }]);
    const settle = ['outcome', { status: 'ok', payload: { got: 1 } }] as const;
    await ask(w.world, 'judge', [when('settle', settle as never, settle as never)]);
    await ask(w.world, 'x', [start('judge', 1)]);
    expect(await seen(w.world, 'x')).toEqual(['judged=["ok",null]']);
    expect(await recordsOf(w.store, 'late')).toHaveLength(1);
    await ask(w.world, 'x', [cancel('all')]);
    await closeSound(w.world, w.store, app);
  });
});

describe('given pending items that a principal may answer', () => {
  it('a principal with narrowed rights sees only the items that it may answer', async () => {
    const w = await given();
    await ask(w.world, 'x', [start('judge', 1)]);
    const bob = w.world.as('human:bob');
    expect(await bob.pending()).toHaveLength(1);
    await w.world.command('sys/SetRights@1', { holder: 'human:bob', exercise: { may: { settle: [] } } });
    expect(await bob.pending()).toEqual([]);
    expect(await w.world.as('operator').pending()).toHaveLength(1);
    const [item] = await w.world.pending();
    expect(await codeOf(bob.decide(item as never, { approve: true }))).toBe('cap_denied');
    await closeSound(w.world, w.store, app);
  });
});
