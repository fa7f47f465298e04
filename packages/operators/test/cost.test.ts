/** What is counted of settlements: each usage once, as the accounts book it. */
import { deferEffect, openKernelWorld } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { crashable } from '../../kernel/test/support/crashable-store.js';
import { recordsOf, until } from '../../kernel/test/support/judge.js';
import { ask, kernel, lab, once, start, tellCell } from '../../kernel/test/support/lab.js';
import { outside } from '../../kernel/test/support/outside.js';
import { TestClock } from '../../kernel/test/support/test-clock.js';
import { costOf } from '../src/cost/index.js';
import { UsageFold } from '../src/cost/usage-fold.js';
import { EFFECTS } from '../src/names/reducers.js';

const { app } = lab({
  *ship(input, plan) {
    tellCell(plan, 'shipped', (yield* plan.awaitReceipt(plan.emitEffect(once, input))).status);
  },
});

async function given() {
  const [clock, store, adapter] = [new TestClock(), crashable(), outside(once)];
  const world = await openKernelWorld({ store, app, clock, recheckEvery: 1, adapters: [adapter] });
  await ask(world, 'x', [start('ship')]);
  (await adapter.call(0)).answer(deferEffect());
  await until(async () => (await world.pending()).length === 1, 'the effect that waits');
  const id = (await world.pending())[0]?.id as string;
  const total = async (options = {}) => {
    const open = await store.openReadonly();
    const { total } = await costOf(open, options);
    await open.close();
    return total.tokens_in;
  };
  return { clock, store, world, id, total };
}

const used = (tokens: number) => ({ status: 'ok', payload: { got: 1 }, usage: { tokens_in: tokens } }) as const;

describe('the cost of settled effects', () => {
  it('given a deferred effect that is settled twice, when its cost is summed, then only the first usage counts, as in the accounts', async () => {
    const { clock, world, id, total } = await given();
    expect((await world.settle(id, used(5))).status).toBe('applied');
    await world.snapshot();
    clock.advance(10);
    expect((await world.settle(id, used(90))).status).toBe('already_settled');
    expect(await total()).toBe(5);
    expect(await total({ from: clock.wall() })).toBe(0);
    await world.close();
  });

  it('given a settlement that states no usage, when a late one states it, then it counts once, also behind a snapshot', async () => {
    const { clock, world, id, total } = await given();
    await world.settle(id, { status: 'ok', payload: { got: 1 } });
    await world.snapshot();
    clock.advance(10);
    await world.settle(id, used(7));
    await world.settle(id, used(90));
    expect(await total()).toBe(7);
    expect(await total({ from: clock.wall() })).toBe(7);
    await world.close();
  });

  it('given a cell whose settlement is denied, when the cost is summed, then it counts nothing', async () => {
    const { store, world, id, total } = await given();
    await ask(world, 'y', [kernel('sys/Settle@1', { effect: id, outcome: used(50) })]);
    expect((await recordsOf(store, 'denial')).length).toBe(1);
    expect(await total()).toBe(0);
    await world.close();
  });

  it('given a time that ends before it begins, when the cost is asked, then it is refused', async () => {
    const { world, total } = await given();
    await expect(total({ from: 2, to: 1 })).rejects.toThrow('the time ends before it begins');
    await expect(total({ from: 2, to: 2 })).rejects.toThrow('the time ends before it begins');
    await world.close();
  });
});

describe('model calls that were started again', () => {
  it('given a model call that was interrupted, when it is answered, then the interrupted attempt belongs to the model that answered', () => {
    const fold = new UsageFold();
    const effect = 'a'.repeat(64);
    const emitted = { kind: 'effect', effect, name: EFFECTS.model, plan: ['demo/X@1', 'x', 0] };
    const attempt = (n: number) => ({ kind: 'attempt', effect, attempt: n });
    const receipt = { status: 'ok', asked: { model: 'large' }, usage: { tokens_in: 3 }, payload: {} };
    const given = [[emitted, attempt(1)], [attempt(2)], [{ kind: 'receipt', effect, attempt: 2, receipt }]].flatMap(
      (records, at) => fold.take(at, records as never),
    );
    expect(given.map(({ kind, at, model }) => [kind, at, model])).toEqual([
      ['used', 2, 'large'],
      ['repeated', 1, 'large'],
    ]);
    expect(fold.rest()).toEqual([]);
  });
});
