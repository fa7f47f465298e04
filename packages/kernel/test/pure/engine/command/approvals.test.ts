import type { PolicyRule } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { openKernelWorld } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, recordsOf, refusal } from '../../../support/judge.js';
import { ask, cancel, cell, lab, once, seen, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const DAY = 86_400_000;

const { app } = lab({
  *pay(input, plan) {
    const { status, code, by } = yield* plan.awaitReceipt(plan.emitEffect(once, input, { timeoutMs: 1_000 }));
    tellCell(plan, 'paid', [status, code ?? null, by ?? null]);
  },
});

const POLICY: readonly PolicyRule[] = [
  { effect: once.name, decision: 'require_approval', to: 'human:a*' },
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];

async function given(policy = POLICY) {
  const clock = new TestClock();
  const store = crashable();
  const adapter = outside(once);
  adapter.answerAll((params) => ok({ got: params }));
  const open = () => openKernelWorld({ store, app, clock, policy, recheckEvery: 1, adapters: [adapter] });
  return { clock, store, adapter, open, world: await open() };
}

describe('given an effect that needs approval', () => {
  it('an effect without a decision does not start, and is a pending item [ASK-4]', async () => {
    const { world, store, adapter, clock } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    clock.advance(2 * DAY); // waiting for people costs it no time of its own
    await world.pump();
    expect(adapter.calls).toHaveLength(0);
    expect(await world.pending()).toMatchObject([
      { kind: 'approval', name: once.name, cell: [...cell('x')], value: 5, to: 'human:a*', expires: null },
    ]);
    await closeSound(world, store, app);
  });

  it('an effect that is approved two days and one deploy later starts once, with its whole time [ASK-5]', async () => {
    const { world, store, adapter, clock, open } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    clock.advance(2 * DAY);
    await world.close();
    const later = await open();
    const [item] = await later.pending();
    await later.decide(item as never, { approve: true }, { as: 'human:ann' });
    await later.pump();
    expect(adapter.calls).toHaveLength(1);
    expect(adapter.calls[0]?.context.deadline).toBe(clock.wall() + 1_000);
    expect(await seen(later, 'x')).toEqual(['paid=["ok",null,null]']);
    expect(await later.pending()).toEqual([]);
    await closeSound(later, store, app);
  });

  it('an effect that is approved with other parameters is executed with those [ASK-6]', async () => {
    const { world, store, adapter } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    const [item] = await world.pending();
    await world.decide(item as never, { approve: true, params: 4 }, { as: 'human:ann' });
    await world.pump();
    expect(adapter.calls.map(({ params }) => params)).toEqual([4]);
    await closeSound(world, store, app);
  });

  it('the plan of a denied effect reads a refusal, and nothing is executed [ASK-8]', async () => {
    const { world, store, adapter } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    const [item] = await world.pending();
    await world.decide(item as never, { approve: false }, { as: 'human:ann' });
    await world.pump();
    expect(adapter.calls).toHaveLength(0);
    expect(await seen(world, 'x')).toEqual(['paid=["denied","policy_denied/not_approved","human:ann"]']);
    expect(await codeOf(world.decide(item as never, { approve: true }, { as: 'human:ann' }))).toBe('effect_settled');
    await closeSound(world, store, app);
  });

  it('a decision of a stranger, an adapter or another cell leaves the effect waiting [ASK-3]', async () => {
    const { world, store, adapter } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    await ask(world, 'y', []);
    const [item] = await world.pending();
    for (const as of ['human:bob', `cell:${cell('y').join('/')}`, `adapter:${item?.effect}`] as const) {
      expect(await codeOf(world.decide(item as never, { approve: true }, { as })), as).toBe('cap_denied');
    }
    expect(adapter.calls).toHaveLength(0);
    expect(await world.pending()).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('a decision about other parameters than the waiting ones is stale [ASK-7]', async () => {
    const { world, store } = await given();
    await ask(world, 'x', [start('pay', 5)]);
    const [item] = await world.pending();
    const stale = { ...item, digest: 'a'.repeat(64) };
    const error = await refusal(world.decide(stale as never, { approve: true }, { as: 'human:ann' }));
    expect([error.code, error.details.expected]).toEqual(['approval_stale', item?.digest]);
    await closeSound(world, store, app);
  });

  it('a remembered approval covers later effects of that kind and cell, until it ends [ASK-9]', async () => {
    const { world, store, adapter, clock } = await given();
    await ask(world, 'x', [start('pay', 1)]);
    const [item] = await world.pending();
    const until = clock.wall() + DAY;
    await world.decide(item as never, { approve: true, remember: { until } }, { as: 'human:ann' });
    await ask(world, 'x', [start('pay', 2)]);
    await world.pump();
    expect(adapter.calls.map(({ params }) => params)).toEqual([1, 2]);
    await ask(world, 'other', [start('pay', 3)]);
    clock.advance(DAY);
    await ask(world, 'x', [start('pay', 4)]);
    await world.pump();
    expect(adapter.calls).toHaveLength(2);
    expect((await world.pending()).map(({ value }) => value)).toEqual([3, 4]);
    expect((await world.rights(`cell:${cell('x').join('/')}`)).declared?.approved).toEqual([[once.name, until]]);
    await closeSound(world, store, app);
  });

  it('an effect stops waiting when its plan is cancelled', async () => {
    const { world, store } = await given();
    await ask(world, 'x', [start('pay', 1)]);
    await ask(world, 'x', [cancel('all')]);
    expect(await world.pending()).toEqual([]);
    expect((await recordsOf(store, 'settled')).map(({ status, by }) => [status, by])).toEqual([
      ['cancelled', 'cancel'],
    ]);
    await closeSound(world, store, app);
  });

  it('an effect ends in the frame that revokes its right, and no approval revives it [GATE-13, GATE-21]', async () => {
    const { world, store, adapter } = await given();
    await ask(world, 'x', [start('pay', 1)]);
    const [item] = await world.pending();
    const holder = `cell:${cell('x').join('/')}`;
    const { seq } = await world.command('sys/SetRights@1', { holder, exercise: { may: { effect: [] } } });
    expect(await world.pending()).toEqual([]);
    expect(world.head.seq).toBe(seq);
    expect(await seen(world, 'x')).toEqual(['paid=["denied","cap_denied/revoked",null]']);
    expect(await codeOf(world.decide(item as never, { approve: true }, { as: 'human:ann' }))).toBe('effect_settled');
    await world.pump();
    expect(adapter.calls).toHaveLength(0);
    await closeSound(world, store, app);
  });
});
