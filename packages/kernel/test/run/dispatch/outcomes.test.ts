import { Ref } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineEffect, encode, memory, openKernelWorld, putValue } from '../../../src/index.js';
import { Scrubber } from '../../../src/ports/scrub/index.js';
import { VALUE_BYTES_MAX } from '../../../src/pure/engine/index.js';
import { receiptOf } from '../../../src/run/dispatch/receipts.js';
import { closeSound, isPending, recordsOf, until } from '../../support/judge.js';
import { again, ask, asked, ILLEGAL, illegal, lab, once, seen, start, tellCell } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'got', code === undefined ? status : `${status} ${code}`);
  },
  *callAgain(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(again, input));
    tellCell(plan, 'got', code === undefined ? status : `${status} ${code}`);
  },
  *callAsked(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(asked, input));
    tellCell(plan, 'got', code === undefined ? status : `${status} ${code}`);
  },
  *timed(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input, { timeoutMs: 100 }));
    tellCell(plan, 'got', code === undefined ? status : `${status} ${code}`);
  },
});

async function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const store = memory();
  const clock = new TestClock();
  const adapter = outside(once);
  const world = await openKernelWorld({ store, app, clock, recheckEvery: 1, adapters: [adapter], ...options });
  return { store, clock, adapter, world };
}

describe('given an adapter that answers', () => {
  const outcomes: readonly (readonly [string, unknown, string])[] = [
    [
      'an error',
      { status: 'error', code: 'provider_error_terminal/refusal', retryable: false },
      'error provider_error_terminal/refusal',
    ],
    ['a timeout of its own', { status: 'timeout' }, 'timeout adapter_timeout'],
    ['that it was cancelled', { status: 'cancelled' }, 'cancelled'],
    ['that it does not know', { status: 'outcome_unknown' }, 'outcome_unknown'],
    ['a payload of another shape', { status: 'ok', payload: { other: 1 } }, 'error validation_error'],
    ['no payload', { status: 'ok' }, 'error validation_error/not_canonical'],
    ['a payload that is too large', ok({ got: 'x'.repeat(VALUE_BYTES_MAX) }), 'error validation_error/too_large'],
    [
      'a link to content that is not there',
      ok({ got: Ref.fromHex('a'.repeat(64)) }),
      'error validation_error/blob_missing',
    ],
    ['nothing', undefined, 'outcome_unknown adapter_error/bad_outcome'],
    ['null', null, 'outcome_unknown adapter_error/bad_outcome'],
    ['text', 'ok', 'outcome_unknown adapter_error/bad_outcome'],
    ['a list', [], 'outcome_unknown adapter_error/bad_outcome'],
    ['no status', {}, 'outcome_unknown adapter_error/bad_outcome'],
    ['an unknown status', { status: 'fine' }, 'outcome_unknown adapter_error/bad_outcome'],
    ['a refusal that only the gate can give', { status: 'denied' }, 'outcome_unknown adapter_error/bad_outcome'],
    ['an error without a code', { status: 'error' }, 'outcome_unknown adapter_error/bad_outcome'],
    ['an unknown code', { status: 'error', code: 'it broke' }, 'outcome_unknown adapter_error/bad_outcome'],
    ['a code that is no text', { status: 'error', code: 5 }, 'outcome_unknown adapter_error/bad_outcome'],
    [
      'a very long code',
      { status: 'error', code: `adapter_error/${'a'.repeat(200)}` },
      'outcome_unknown adapter_error/bad_outcome',
    ],
    [
      'an odd retryable',
      { status: 'error', code: 'adapter_error', retryable: 'yes' },
      'outcome_unknown adapter_error/bad_outcome',
    ],
    ['a bad timeout code', { status: 'timeout', code: 7 }, 'outcome_unknown adapter_error/bad_outcome'],
    ['usage below zero', { ...ok({ got: 1 }), usage: { tokens_in: -1 } }, 'outcome_unknown adapter_error/bad_outcome'],
    [
      'usage that is no number',
      { ...ok({ got: 1 }), usage: { tokens_in: Number.NaN } },
      'outcome_unknown adapter_error/bad_outcome',
    ],
    [
      'usage of unknown things',
      { ...ok({ got: 1 }), usage: { hours: 1 } },
      'outcome_unknown adapter_error/bad_outcome',
    ],
    ['usage that is text', { ...ok({ got: 1 }), usage: 'much' }, 'outcome_unknown adapter_error/bad_outcome'],
  ];
  it.each(outcomes)(
    'the receipt of an adapter that answers with %s has that status, and the journal stays sound [EFF-15]',
    async (_what, outcome, told) => {
      const { store, adapter, world } = await given();
      await ask(world, 'x', [start('call')]);
      (await adapter.call(0)).answer(outcome);
      await world.pump();
      expect(await seen(world, 'x')).toEqual([`got=${JSON.stringify(told)}`]);
      await closeSound(world, store, app);
    },
  );

  it.each([
    ['callAgain', again, 'error adapter_error/bad_outcome'],
    ['callAsked', asked, 'outcome_unknown adapter_error/bad_outcome'],
  ] as const)(
    'an invalid outcome for %s leads to a receipt that claims what its guarantee implies [EFF-17]',
    async (plan, effect, told) => {
      const adapter = outside(effect);
      const { store, world } = await given({ adapters: [adapter] });
      await ask(world, 'x', [start(plan)]);
      (await adapter.call(0)).answer({ status: 'fine' });
      await world.pump();
      expect(await seen(world, 'x')).toEqual([`got=${JSON.stringify(told)}`]);
      await closeSound(world, store, app);
    },
  );

  it.each(ILLEGAL.filter((what) => what !== 'bytes in state'))(
    'a payload with %s is a validation error [EFF-16]',
    async (what) => {
      const { store, adapter, world } = await given();
      await ask(world, 'x', [start('call')]);
      (await adapter.call(0)).answer({ status: 'ok', payload: { got: illegal(what) } });
      await world.pump();
      expect((await seen(world, 'x'))?.[0]).toContain('error validation_error');
      await closeSound(world, store, app);
    },
  );

  it.each([new Error('x'), 'text', undefined, null, Object.create(null)])(
    'a value that an adapter throws is an adapter error %# [EFF-17]',
    async (thrown) => {
      const { store, adapter, world } = await given();
      await ask(world, 'x', [start('call')]);
      (await adapter.call(0)).break(thrown);
      await world.pump();
      expect(await seen(world, 'x')).toEqual(['got="error adapter_error/threw"']);
      await closeSound(world, store, app);
    },
  );

  it('an adapter that throws synchronously is an adapter error as well', async () => {
    const { store, adapter, world } = await given();
    adapter.doExecute = () => {
      throw new Error('at once');
    };
    await ask(world, 'x', [start('call')]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got="error adapter_error/threw"']);
    await closeSound(world, store, app);
  });

  it('later changes of the parameters or the payload by the adapter change nothing recorded [EFF-5]', async () => {
    const { store, adapter, world } = await given();
    await ask(world, 'x', [start('call', { list: [1] })]);
    const call = await adapter.call(0);
    (call.params as { list: number[] }).list.push(2);
    const payload = { got: [1] };
    call.answer(ok(payload));
    payload.got.push(2);
    await world.pump();
    expect(JSON.stringify((await recordsOf(store, 'receipt'))[0]?.receipt.payload)).toMatch(/^{"got":\[1(,2)?\]}$/);
    expect((await recordsOf(store, 'effect'))[0]?.params).toEqual({ list: [1] });
    await closeSound(world, store, app);
  });

  it('a payload that links content as a value, and is not one, makes a validation error [EFF-16]', async () => {
    const { store, adapter, world } = await given();
    await ask(world, 'x', [start('call', 1), start('call', 2)]);
    const raw = (await world.content.put(Uint8Array.of(0xff, 0xff))).asValue();
    const hollow = await putValue(world.content, { inside: Ref.fromHex('b'.repeat(64)) });
    (await adapter.call(0)).answer(ok({ got: raw }));
    (await adapter.call(1)).answer(ok({ got: hollow }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual([
      'got="error validation_error/not_a_value"',
      'got="error validation_error/blob_missing"',
    ]);
    await closeSound(world, store, app);
  });

  it('content that an adapter stored and linked in its payload stays stored [CON-2]', async () => {
    const { store, adapter, world } = await given();
    await ask(world, 'x', [start('call')]);
    const call = await adapter.call(0);
    const ref = await putValue(call.context.content, { text: 'long' });
    call.answer(ok({ got: ref }));
    await world.pump();
    await closeSound(world, store, app);
    const reading = await store.openReadonly();
    expect(await reading.content.get(ref)).toEqual(encode({ text: 'long' }));
    await reading.close();
  });
});

describe('given an effect that nothing can execute', () => {
  it('an effect without an adapter is settled as an error, and the plan continues [EFF-6]', async () => {
    const { store, world } = await given({ adapters: [] });
    await ask(world, 'x', [start('call')]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got="error adapter_error/no_adapter"']);
    expect((await recordsOf(store, 'receipt'))[0]?.receipt.retryable).toBe(false);
    expect(await recordsOf(store, 'attempt')).toEqual([]);
    await closeSound(world, store, app);
  });
});

describe('given an effect with a deadline', () => {
  it('a deadline before the answer makes a timeout, and the late answer is recorded and changes nothing [EFF-14]', async () => {
    const { store, clock, adapter, world } = await given();
    await ask(world, 'x', [start('timed')]);
    const call = await adapter.call(0);
    expect(call.context.deadline).toBe(clock.wall() + 100);
    clock.advance(99);
    expect(await isPending(until(() => call.context.signal.aborted))).toBe(true);
    clock.advance(1);
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect(call.context.signal.aborted).toBe(true);
    // Authors who catch what `fetch` throws know it by its name.
    expect(call.context.signal.reason).toMatchObject({ name: 'AbortError', why: 'deadline' });
    const { seq } = world.head;
    call.answer(ok({ got: 'late' }));
    await until(() => world.head.seq > seq, 'the late answer');
    const late = (await recordsOf(store, 'late')).map(({ status, settled }) => [status, settled]);
    expect(late).toEqual([['ok', 'timeout']]);
    expect(await world.openEffects()).toEqual([]);
    expect(await seen(world, 'x')).toEqual(['got="timeout adapter_timeout"']);
    await closeSound(world, store, app);
  });

  it('a deadline after the answer does nothing', async () => {
    const { store, clock, adapter, world } = await given();
    await ask(world, 'x', [start('timed')]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    const { head } = world;
    clock.advance(1_000);
    await world.pump();
    expect(world.head).toEqual(head);
    expect(await seen(world, 'x')).toEqual(['got="ok"']);
    await closeSound(world, store, app);
  });

  it('a waiting effect times out at its deadline and never starts [EFF-18]', async () => {
    const adapter = outside(once, { concurrency: 1 });
    const { store, clock, world } = await given({ adapters: [adapter] });
    await ask(world, 'hog', [start('call')]);
    await adapter.call(0);
    await ask(world, 'x', [start('timed')]);
    clock.advance(100);
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect(await seen(world, 'x')).toEqual(['got="timeout adapter_timeout"']);
    adapter.calls[0]?.answer(ok({ got: 1 }));
    await world.pump();
    expect(adapter.calls).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('an effect whose deadline passed while the world was closed times out and does not start [EFF-18]', async () => {
    const { store, clock, world } = await given({ drive: 'manual' });
    await ask(world, 'x', [start('timed')]);
    await world.close();
    clock.advance(1_000);
    const adapter = outside(once);
    const later = await openKernelWorld({ store, app, clock, adapters: [adapter] });
    await later.pump();
    expect(await seen(later, 'x')).toEqual(['got="timeout adapter_timeout"']);
    expect(adapter.calls).toHaveLength(0);
    await closeSound(later, store, app);
  });
});

describe('given an adapter that throws when it is asked to stop', () => {
  it.each([
    ['call', 'got="outcome_unknown"', once],
    ['callAgain', 'got="cancelled"', again],
    ['callAsked', 'got="outcome_unknown"', asked],
  ] as const)(
    'the receipt of an effect of the class %s claims only what is known [EFF-17]',
    async (plan, told, effect) => {
      const { app: cancelling } = lab({
        *call(input, run) {
          const handle = run.emitEffect(effect, input);
          yield* run.awaitReceipt(handle, { within: 10 });
          run.cancel(handle);
          tellCell(run, 'got', (yield* run.awaitReceipt(handle)).status);
        },
      });
      const store = memory();
      const clock = new TestClock();
      const adapter = outside(effect);
      const world = await openKernelWorld({ store, app: cancelling, clock, adapters: [adapter] });
      await ask(world, 'x', [start('call')]);
      const call = await adapter.call(0);
      clock.advance(10);
      await until(() => call.context.signal.aborted);
      call.break(new Error('stopped'));
      await world.pump();
      expect([plan, await seen(world, 'x')]).toEqual([plan, [told]]);
      await closeSound(world, store, cancelling);
    },
  );
});

describe('given a payload with a secret', () => {
  const parts = (secret: string) => ({ links: { firstBad: async () => undefined }, scrubber: new Scrubber([secret]) });
  const receiptBy = (receipt: z.ZodType, payload: unknown, secret: string) => {
    const effect = defineEffect({ kind: 'test.told@1', params: z.null(), receipt });
    const adapter = { effect, name: 'teller', doExecute: async () => ({ status: 'cancelled' }) } as never;
    const leaf = { attempt: 1, guarantee: 'idempotent' } as never;
    return receiptOf(adapter, leaf, ok(payload as never), parts(secret) as never);
  };

  it('what is left of it is checked, though the whole fitted [EFF-24]', async () => {
    const key = z.strictObject({ key: z.string().regex(/^sk-/) });
    const whole = { key: 'sk-0123456789' };
    expect(await receiptBy(key, whole, 'another-secret')).toMatchObject({ status: 'ok', payload: whole });
    const said = await receiptBy(key, whole, 'sk-0123456789');
    expect(said).toEqual({ adapter: 'teller', attempts: 1, status: 'error', code: 'validation_error' });
  });

  it('a payload without a field that has a default gets it', async () => {
    const filled = z.strictObject({ got: z.int(), more: z.int().default(7) });
    expect(await receiptBy(filled, { got: 1 }, 'a-secret')).toMatchObject({ payload: { got: 1, more: 7 } });
  });
});
