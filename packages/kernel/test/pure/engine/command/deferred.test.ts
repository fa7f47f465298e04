import { describe, expect, it } from 'vitest';
import { type Deferred, deferEffect, openKernelWorld } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, isPending, recordsOf, until } from '../../../support/judge.js';
import { again, ask, asked, cancel, lab, once, seen, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({
  *ship(input, plan) {
    const { status, payload, by } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'shipped', [status, payload ?? null, by ?? null]);
  },
  *shipAgain(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(again, input, { timeoutMs: 500 }));
    tellCell(plan, 'shipped', status);
  },
  *confirm(input, plan) {
    const { status, payload } = yield* plan.awaitReceipt(plan.emitEffect(asked, input));
    tellCell(plan, 'confirmed', [status, payload ?? null]);
  },
});

async function given(how: Omit<Deferred, 'status'> = {}) {
  const clock = new TestClock();
  const store = crashable();
  const adapters = [outside(once, { concurrency: 1 }), outside(again), outside(asked)] as const;
  const open = () => openKernelWorld({ store, app, clock, recheckEvery: 1, adapters });
  const world = await open();
  const handOn = async (n = 0) => {
    const call = await adapters[0].call(n);
    call.answer(deferEffect(how));
    await until(async () => (await world.pending()).length === n + 1, 'the effect that waits');
    return (await world.pending())[n]?.id as string;
  };
  return { clock, store, adapters, open, world, handOn };
}

const DONE = { status: 'ok', payload: { got: 'parcel' } } as const;

describe('given a deferred effect', () => {
  it('the first settlement of a webhook wins; a repeated, a different and a late one are recorded [EFF-13]', async () => {
    const { world, store, handOn } = await given({ to: 'human:courier' });
    await ask(world, 'x', [start('ship')]);
    const id = await handOn();
    expect(await codeOf(world.settle(id, DONE, { as: 'human:stranger' }))).toBe('cap_denied');
    const first = await world.settle(id, DONE, { as: 'human:courier' });
    expect([first.status, first.duplicate]).toEqual(['applied', false]);
    const again = await world.settle(id, DONE, { as: 'human:courier' });
    expect([again.status, again.duplicate, again.seq]).toEqual(['applied', true, first.seq]);
    const other = { status: 'error', code: 'adapter_error/lost' } as const;
    const late = await world.settle(id, other, { as: 'human:courier' });
    expect([late.status, late.duplicate]).toEqual(['already_settled', false]);
    expect((await recordsOf(store, 'late')).map(({ status, settled }) => [status, settled])).toEqual([['error', 'ok']]);
    expect(await codeOf(world.settle(id, DONE, { as: 'human:stranger' }))).toBe('cap_denied');
    expect(await seen(world, 'x')).toEqual(['shipped=["ok",{"got":"parcel"},"human:courier"]']);
    await closeSound(world, store, app);
  });

  it('a deferred effect is not executed again after a reopening or a crash [ASK-1]', async () => {
    const { world, store, handOn, adapters, open } = await given();
    await ask(world, 'x', [start('ship')]);
    const id = await handOn();
    await world.close();
    const second = await open();
    await second.pump();
    await store.crash();
    const third = await open();
    await third.pump();
    expect(adapters[0].calls).toHaveLength(1);
    expect((await third.pending()).map((item) => item.id)).toEqual([id]);
    await third.settle(id, DONE, { as: 'human:ann' });
    expect(await seen(third, 'x')).toEqual(['shipped=["ok",{"got":"parcel"},"human:ann"]']);
    await closeSound(third, store, app);
  });

  it('a deferred effect frees its place for the next one [ASK-1]', async () => {
    const { world, store, handOn, adapters } = await given();
    await ask(world, 'x', [start('ship', 1), start('ship', 2)]);
    await handOn(0);
    const call = await adapters[0].call(1); // one at a time, and the first does not count any more
    call.answer(ok({ got: 2 }));
    await until(async () => (await seen(world, 'x'))?.length === 1);
    await closeSound(world, store, app);
  });

  it('a deferred effect times out at its deadline, and a settlement after that is late [ASK-1]', async () => {
    const { world, store, handOn, clock } = await given({ expires: 1_005_000 });
    await ask(world, 'x', [start('ship')]);
    const id = await handOn();
    clock.advance(5_000);
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect(await seen(world, 'x')).toEqual(['shipped=["timeout",null,null]']);
    expect((await world.settle(id, DONE, { as: 'human:ann' })).status).toBe('already_settled');
    await closeSound(world, store, app);
  });

  it('a deferred effect still waits after an answer that does not fit its schema [ASK-2]', async () => {
    const { world, store, handOn } = await given();
    await ask(world, 'x', [start('ship')]);
    const id = await handOn();
    const wrong = { status: 'ok', payload: { nothing: 1 } } as const;
    expect(await codeOf(world.settle(id, wrong, { as: 'human:ann' }))).toBe('event_invalid');
    expect(await world.pending()).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('a cancelled deferred effect is settled at once', async () => {
    const { world, store, handOn } = await given();
    await ask(world, 'x', [start('ship')]);
    const id = await handOn();
    await world.cancel(id, { as: 'human:ann' });
    expect(await seen(world, 'x')).toEqual(['shipped=["cancelled",null,"human:ann"]']);
    expect(await world.pending()).toEqual([]);
    await closeSound(world, store, app);
  });

  it('the settlement of an unknown id is refused', async () => {
    const { world, store } = await given();
    expect(await codeOf(world.settle('f'.repeat(64), DONE))).toBe('effect_settled');
    expect(await codeOf(world.settle('x', DONE))).toBe('invalid_argument');
    await closeSound(world, store, app);
  });
});

describe('given a running effect that is asked to stop', () => {
  it('an effect without an answer within its grace is settled as cancelled, and its answer is late [EFF-14, EFF-19]', async () => {
    const { world, store, adapters, clock } = await given();
    await ask(world, 'x', [start('ship')]);
    const call = await adapters[0].call(0);
    const [effect] = await world.openEffects();
    await world.cancel(effect?.effect as string, { graceMs: 1_000 });
    expect(call.context.signal.aborted).toBe(true);
    clock.advance(999);
    expect(await isPending(until(async () => (await seen(world, 'x'))?.length === 1))).toBe(true);
    clock.advance(1);
    await until(async () => (await seen(world, 'x'))?.length === 1, 'the receipt');
    expect(await seen(world, 'x')).toEqual(['shipped=["cancelled",null,null]']);
    call.answer(ok({ got: 'it did happen' }));
    await until(async () => (await recordsOf(store, 'late')).length === 1, 'the late answer');
    expect((await recordsOf(store, 'receipt')).at(-1)?.receipt.payload).toEqual({ got: 'it did happen' });
    expect(await seen(world, 'x')).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('the next opening settles an effect as unknown when the process died before its answer', async () => {
    const { world, store, adapters, clock, open } = await given();
    await ask(world, 'x', [start('ship')]);
    await adapters[0].call(0);
    await ask(world, 'x', [cancel('all')]);
    clock.advance(30_000);
    await until(async () => (await recordsOf(store, 'settled')).length === 1, 'the end of the grace');
    await store.crash();
    const next = await open();
    expect(adapters[0].calls).toHaveLength(1);
    expect((await recordsOf(store, 'late')).map(({ status, settled }) => [status, settled])).toEqual([
      ['outcome_unknown', 'cancelled'],
    ]);
    expect(await next.openEffects()).toEqual([]);
    await closeSound(next, store, app);
  });

  it('a crash does not offer a timed-out idempotent effect again while it may still run', async () => {
    const { world, store, adapters, clock, open } = await given();
    await ask(world, 'x', [start('shipAgain')]);
    await adapters[1].call(0);
    clock.advance(500);
    await until(async () => (await seen(world, 'x'))?.length === 1, 'the timeout');
    await store.crash();
    const next = await open();
    await next.pump();
    expect(adapters[1].calls).toHaveLength(1);
    await closeSound(next, store, app);
  });
});

describe('given a running effect with a question', () => {
  it('a running effect continues with the answer to its question, and both are journaled [ASK-10]', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'x', [start('ship')]);
    const call = await adapters[0].call(0);
    const answer = call.context.ask({ question: { text: 'Which door?' }, to: 'human:ann' });
    await until(async () => (await world.pending()).length === 1, 'the question');
    const [item] = await world.pending();
    expect(item).toMatchObject({ kind: 'question', value: { text: 'Which door?' }, to: 'human:ann' });
    expect(await codeOf(world.answer(item as never, 'back', { as: 'human:bob' }))).toBe('cap_denied');
    for (const almost of [`${item?.id}x`, `${item?.id}000`, `x${item?.id}`, `${item?.effect}.`, String(item?.effect)]) {
      expect(await codeOf(world.answer(almost as never, 'back', { as: 'human:ann' })), almost).not.toBe(
        'effect_settled',
      );
    }
    await world.answer(item as never, 'front', { as: 'human:ann' });
    expect(await answer).toEqual({ how: 'answered', by: 'human:ann', value: 'front' });
    expect(await world.pending()).toEqual([]);
    expect(await codeOf(world.answer(item as never, 'back', { as: 'human:ann' }))).toBe('effect_settled');
    call.answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'x'))?.length === 1);
    await closeSound(world, store, app);
  });

  it('an adapter that asks the same question again after a crash gets the earlier answer [ASK-10]', async () => {
    const { world, store, adapters, open } = await given();
    await ask(world, 'x', [start('shipAgain')]);
    const first = await adapters[1].call(0);
    void first.context.ask({ question: 'door?' });
    await until(async () => (await world.pending()).length === 1, 'the question');
    await world.answer((await world.pending())[0] as never, 'front');
    await store.crash();
    const next = await open();
    const second = await adapters[1].call(1);
    expect(await second.context.ask({ question: 'door?' })).toEqual({
      how: 'answered',
      by: 'operator',
      value: 'front',
    });
    expect(await recordsOf(store, 'ask')).toHaveLength(1);
    second.answer(ok({ got: 1 }));
    await until(async () => (await seen(next, 'x'))?.length === 1);
    await closeSound(next, store, app);
  });

  it('a running effect is informed when its question times out [ASK-11]', async () => {
    const { world, store, adapters, clock } = await given();
    await ask(world, 'x', [start('ship')]);
    const call = await adapters[0].call(0);
    const answer = call.context.ask({ question: 'door?', expires: clock.wall() + 50 });
    await until(async () => (await world.pending()).length === 1, 'the question');
    clock.advance(50);
    expect(await answer).toEqual({ how: 'expired' });
    call.answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'x'))?.length === 1);
    await closeSound(world, store, app);
  });

  it('a running effect with a question is informed when it is asked to stop [ASK-11]', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'x', [start('ship')]);
    const call = await adapters[0].call(0);
    const answer = call.context.ask({ question: 'door?' });
    await until(async () => (await world.pending()).length === 1, 'the question');
    await ask(world, 'x', [cancel('all')]);
    expect(await answer).toEqual({ how: 'cancelled' });
    call.answer({ status: 'cancelled' });
    await until(async () => (await world.openEffects()).length === 0);
    await closeSound(world, store, app);
  });

  it('the waiting adapter is informed when an effect ends without the answer to its question', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'x', [start('ship')]);
    const call = await adapters[0].call(0);
    const answer = call.context.ask({ question: 'door?' });
    await until(async () => (await world.pending()).length === 1, 'the question');
    call.answer(ok({ got: 1 }));
    expect(await answer).toEqual({ how: 'cancelled' });
    await until(async () => (await seen(world, 'x'))?.length === 1);
    await closeSound(world, store, app);
  });
});
