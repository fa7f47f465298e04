/** What may have run twice, around a snapshot: outcomes that come late, and effects that were started again before it. */
import type { ReadonlyStore, Store, World } from '@reprise/kernel';
import { deferEffect, openKernelWorld } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { crashable } from '../../kernel/test/support/crashable-store.js';
import { recordsOf, until } from '../../kernel/test/support/judge.js';
import { again, ask, lab, once, start, tellCell } from '../../kernel/test/support/lab.js';
import { ok, outside } from '../../kernel/test/support/outside.js';
import { TestClock } from '../../kernel/test/support/test-clock.js';
import { type AttemptRow, attemptsOf } from '../src/attempts/index.js';

const { app } = lab({
  *work(input, plan) {
    tellCell(plan, 'worked', (yield* plan.awaitReceipt(plan.emitEffect(again, input))).status);
  },
  *ship(input, plan) {
    tellCell(plan, 'shipped', (yield* plan.awaitReceipt(plan.emitEffect(once, input))).status);
  },
});

async function given() {
  const [clock, store] = [new TestClock(), crashable()];
  const adapters = [outside(again), outside(once)] as const;
  const open = () => openKernelWorld({ store, app, clock, recheckEvery: 1, adapters });
  return { clock, store, adapters, open, world: await open() };
}

async function read<T>(store: Store, question: (open: ReadonlyStore) => Promise<T>): Promise<T> {
  const open = await store.openReadonly();
  try {
    return await question(open);
  } finally {
    await open.close();
  }
}

const idOf = async (world: World) => (await world.openEffects())[0]?.effect as string;
const kinds = (rows: readonly AttemptRow[]) => rows.map(({ kind, place }) => [kind, place === null]);

describe('what may have run twice, since a snapshot', () => {
  it('given an effect that was settled without its adapter before the newest snapshot, when the adapter reports afterwards, then it is listed as in the whole answer', async () => {
    const { clock, store, adapters, world } = await given();
    await ask(world, 'x', [start('work')]);
    const call = await adapters[0].call(0);
    await world.cancel(await idOf(world), { graceMs: 5 });
    clock.advance(5);
    await until(async () => (await world.openEffects()).length === 0, 'the end of the grace');
    await world.snapshot();
    call.answer(ok({ got: 1 }));
    await until(async () => (await recordsOf(store, 'late')).length === 1, 'the late outcome');
    const [all, recent] = await read(store, async (open) => [
      (await attemptsOf(open)).rows,
      (await attemptsOf(open, { from: 'snapshot' })).rows,
    ]);
    expect(kinds(recent)).toEqual([['late', false]]);
    expect(recent).toEqual(all.filter(({ kind }) => kind === 'late'));
    await world.close();
  });

  it('given a deferred effect that was settled before the newest snapshot, when another outcome of it is reported, then it is listed as in the whole answer', async () => {
    const { store, adapters, world } = await given();
    await ask(world, 'x', [start('ship')]);
    (await adapters[1].call(0)).answer(deferEffect());
    await until(async () => (await world.pending()).length === 1, 'the effect that waits');
    const id = (await world.pending())[0]?.id as string;
    await world.settle(id, { status: 'ok', payload: { got: 1 } });
    await world.snapshot();
    await world.settle(id, { status: 'error', code: 'adapter_error/lost' });
    const [all, recent] = await read(store, async (open) => [
      (await attemptsOf(open)).rows,
      (await attemptsOf(open, { from: 'snapshot' })).rows,
    ]);
    expect(all).toMatchObject([{ kind: 'late', outcome: 'ok', reported: 'error', what: expect.any(String) }]);
    expect(recent).toEqual(all);
    await world.close();
  });

  it('given an open effect that was started again before the newest snapshot, when what ran twice is asked since it, then it has no place, and none once it has ended', async () => {
    const { store, adapters, world, open } = await given();
    await ask(world, 'x', [start('work')]);
    await adapters[0].call(0);
    await store.crash();
    const second = await open();
    const call = await adapters[0].call(1);
    await second.snapshot();
    await ask(second, 'y', []);
    const { seq } = second.head;
    for (const from of ['snapshot', seq] as const)
      expect(kinds(await read(store, async (one) => (await attemptsOf(one, { from })).rows))).toEqual([
        ['again', true],
      ]);
    call.answer(ok({ got: 1 }));
    await until(async () => (await second.openEffects()).length === 0, 'the end');
    const { seq: end } = second.head;
    await ask(second, 'y', []);
    expect(await read(store, async (one) => (await attemptsOf(one, { from: end + 1 })).rows)).toEqual([]);
    const [row] = await read(store, async (one) => (await attemptsOf(one, { from: 'snapshot' })).rows);
    expect(row).toMatchObject({ kind: 'again', place: null, outcome: 'ok' });
    await expect(read(store, (one) => attemptsOf(one, { from: 9_999 }))).rejects.toThrow('no frame is left to read');
    await second.close();
  });
});
