/** An approval that is given two days and one deploy later: whatever changed meanwhile has one outcome, as the page says. */
import type { PolicyRule, Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyAdapter, type App, defineEffect, openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, recordsOf, until } from '../../../support/judge.js';
import { ask, cancel, cell, end, lab, seen, send, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const DAY = 86_400_000;

const payWith = (params: z.ZodType) =>
  defineEffect({ kind: 'lab.pay@1', params, receipt: z.strictObject({ got: z.int() }), reserves: { tokens: 10 } });
const pay = payWith(z.strictObject({ cents: z.int() }));

/** The app as it was when the effect was emitted, and as it is deployed later: its plan's code says another word. */
const appOf = (word: string, effect = pay) =>
  lab(
    {
      *pay(input, plan) {
        const emitted = plan.emitEffect(effect, { cents: input }, { timeoutMs: 1_000 });
        const { status, code } = yield* plan.awaitReceipt(emitted);
        tellCell(plan, word, [status, code ?? null]);
      },
      // biome-ignore lint/correctness/useYield: it ends at once: its effect is on its own from then on
      *leave(input, plan) {
        plan.emitEffect(effect, { cents: input });
      },
    },
    [effect],
  ).app;

const POLICY: readonly PolicyRule[] = [
  { effect: pay.name, decision: 'require_approval', to: 'human:ann' },
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];

const X: Principal = `cell:${cell('x').join('/')}`;

interface Waiting {
  readonly world: World;
  readonly approve: (world: World) => Promise<unknown>;
  /** Two days later, with another process, perhaps of another build. */
  readonly later: (app?: App, adapters?: readonly AnyAdapter[]) => Promise<World>;
  readonly clock: TestClock;
  readonly store: ReturnType<typeof crashable>;
  readonly adapter: ReturnType<typeof outside>;
}

/** A world in which an effect of x waits for ann. */
async function waiting(plan: 'pay' | 'leave' = 'pay'): Promise<Waiting> {
  const [clock, store, adapter] = [new TestClock(), crashable(), outside(pay, { name: 'new' })];
  adapter.answerAll(() => ok({ got: 1 }));
  const given = { store, clock, policy: POLICY, recheckEvery: 1 };
  const world = await openKernelWorld({ ...given, app: appOf('paid'), adapters: [outside(pay, { name: 'old' })] });
  await world.command('sys/SetAccount@1', { account: 'team', parent: null, limits: { tokens: 10 } });
  await world.command('sys/SetRights@1', { holder: X, account: 'team' });
  await ask(world, 'top', [send('x', start(plan, 5))]);
  const [item] = await world.pending();
  return {
    world,
    clock,
    store,
    adapter,
    approve: (at) => at.decide(item as never, { approve: true }, { as: 'human:ann' }),
    later: async (app = appOf('paid'), adapters = [adapter]) => {
      await world.close();
      clock.advance(2 * DAY);
      return openKernelWorld({ ...given, app, adapters });
    },
  };
}

const receipts = async ({ store }: Waiting) => (await recordsOf(store, 'receipt')).map(({ receipt }) => receipt);

async function endSound({ store }: Waiting, world: World, app = appOf('paid')): Promise<void> {
  await closeSound(world, store, app);
}

describe('given an approval that arrives two days and one deploy later', () => {
  it('an approved effect continues with the new plan and adapter, and has its whole time [ASK-5]', async () => {
    const w = await waiting();
    const build = appOf('paid by the new build');
    const world = await w.later(build);
    await w.approve(world);
    await world.pump();
    expect((await receipts(w)).map(({ adapter, status }) => [adapter, status])).toEqual([['new', 'ok']]);
    expect(w.adapter.calls[0]?.context.deadline).toBe(w.clock.wall() + 1_000);
    expect(await seen(world, 'x')).toEqual(['paid by the new build=["ok",null]']);
    await endSound(w, world, build);
  });

  it('a build whose changed schema does not accept the waiting parameters does not open the world; the old build still does', async () => {
    const w = await waiting();
    await w.world.close();
    const other = payWith(z.strictObject({ cents: z.int(), currency: z.string() }));
    const opened = openKernelWorld({ store: w.store, app: appOf('paid', other), adapters: [outside(other)] });
    expect(await codeOf(opened)).toBe('era_incompatible');
    const world = await w.later();
    expect(await world.pending()).toHaveLength(1);
    await endSound(w, world);
  });

  it('a build whose changed schema still accepts the waiting parameters checks the approval by the new schema [ASK-6]', async () => {
    const w = await waiting();
    const tighter = appOf('paid', payWith(z.strictObject({ cents: z.int().max(10) })));
    const world = await w.later(tighter, []);
    const [item] = await world.pending();
    const more = { approve: true, params: { cents: 11 } } as const;
    expect(await codeOf(world.decide(item as never, more, { as: 'human:ann' }))).toBe('event_invalid');
    await w.approve(world);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['paid=["error","adapter_error/no_adapter"]']);
    await endSound(w, world, tighter);
  });

  it('an effect whose right was revoked before the deploy has ended, and no approval revives it [GATE-21]', async () => {
    const w = await waiting();
    await w.world.command('sys/SetRights@1', { holder: X, exercise: { may: { effect: [] } } });
    const world = await w.later();
    await world.command('sys/SetRights@1', { holder: X, exercise: null });
    expect(await codeOf(w.approve(world))).toBe('effect_settled');
    expect(w.adapter.calls).toHaveLength(0);
    expect(await seen(world, 'x')).toEqual(['paid=["denied","cap_denied/revoked"]']);
    await endSound(w, world);
  });

  it('an effect ended in time when the right of a cell above expired while the world was closed', async () => {
    const w = await waiting();
    const holder = `cell:${cell('top').join('/')}` as const;
    await w.world.command('sys/SetRights@1', { holder, exercise: { may: {}, expires_at: w.clock.wall() + DAY } });
    const world = await w.later();
    await until(async () => (await seen(world, 'x'))?.length === 1, 'the end');
    expect(await seen(world, 'x')).toEqual(['paid=["denied","cap_denied/expired"]']);
    expect(await codeOf(w.approve(world))).toBe('effect_settled');
    await endSound(w, world);
  });

  it('an effect whose account has no balance any more waits until it is approved, and is then denied [GATE-13, ASK-4]', async () => {
    const w = await waiting();
    const world = await w.later();
    await world.command('sys/SetAccount@1', { account: 'team', parent: null, limits: { tokens: 9 } });
    expect(await world.pending()).toHaveLength(1);
    await w.approve(world);
    await world.pump();
    expect(w.adapter.calls).toHaveLength(0);
    expect(await seen(world, 'x')).toEqual(['paid=["denied","cap_denied/budget"]']);
    expect(await world.account('team')).toMatchObject({ spent: {}, reserved: {} });
    await endSound(w, world);
  });

  const over: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
    'its plan was cancelled': (world) => ask(world, 'x', [cancel('all')]),
    'its cell ended': (world) => ask(world, 'x', [end()]),
    'its cell ended and another was made in its place': async (world) => {
      await ask(world, 'x', [end()]);
      await ask(world, 'x', []);
    },
  };
  it.each(Object.entries(over))('the effect is cancelled and a decision is refused when %s', async (_, happens) => {
    const w = await waiting();
    const world = await w.later();
    await happens(world);
    expect(await world.pending()).toEqual([]);
    expect(await codeOf(w.approve(world))).toBe('effect_settled');
    expect((await recordsOf(w.store, 'settled')).map(({ status, by }) => [status, by])).toEqual([
      ['cancelled', 'cancel'],
    ]);
    expect(w.adapter.calls).toHaveLength(0);
    await endSound(w, world);
  });

  it('an effect can still be approved after its plan and its cell have ended', async () => {
    const w = await waiting('leave');
    const world = await w.later();
    await ask(world, 'x', [end()]);
    await w.approve(world);
    await world.pump();
    expect(w.adapter.calls).toHaveLength(1);
    expect(await world.account('team')).toMatchObject({ spent: { tokens: 10, calls: 1 }, reserved: {} });
    await endSound(w, world);
  });

  it('an earlier decision stands', async () => {
    const w = await waiting();
    const world = await w.later();
    await w.approve(world);
    expect(await codeOf(w.approve(world))).toBe('effect_settled');
    await world.pump();
    expect(w.adapter.calls).toHaveLength(1);
    await endSound(w, world);
  });

  it('an approval after a crash in the moment of starting leaves the outcome unknown, and the effect does not start twice [ASK-5]', async () => {
    const w = await waiting();
    const world = await w.later();
    w.adapter.answerAll(() => new Promise(() => undefined) as never);
    await w.approve(world);
    await w.adapter.call(0);
    await w.store.crash();
    const next = await openKernelWorld({ store: w.store, app: appOf('paid'), clock: w.clock, adapters: [w.adapter] });
    await next.pump();
    expect(w.adapter.calls).toHaveLength(1);
    expect(await seen(next, 'x')).toEqual(['paid=["outcome_unknown",null]']);
    await endSound(w, next);
  });
});
