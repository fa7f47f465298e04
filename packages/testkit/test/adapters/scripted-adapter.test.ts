import { memory, openKernelWorld } from '@reprise/kernel';
import { defineApp } from '@reprise/kernel/define';
import { type Script, scriptedAdapter, seededRandom, VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { audit, charge, order, payPlan } from '../given/shop.js';

const app = defineApp({ reducers: [order, audit], plans: [payPlan] });
const address = ['shop/Order@1', 'a'] as [string, string];
const paidWith = { status: 'ok', payload: { id: 'r-1' } } as const;

async function worldWith(script: Script<{ cents: number }, { id: string }>, concurrency?: number) {
  const clock = new VirtualClock();
  const adapter = scriptedAdapter(charge, script, concurrency === undefined ? {} : { concurrency });
  const world = await openKernelWorld({ store: memory(), app, adapters: [adapter], clock, random: seededRandom('s') });
  const send = async (key: string) =>
    world.request([address[0], key], { name: 'shop/Ordered@1', value: { cents: 5 } }, { id: key });
  return { world, clock, adapter, send, state: (key: string) => world.state([address[0], key]) };
}

describe('a scripted adapter', () => {
  it('a scripted adapter answers by its list, in order, and reports the end of the list', async () => {
    const { world, clock, adapter, send, state } = await worldWith([{ status: 'timeout' }, paidWith]);
    await send('a');
    await clock.settle();
    expect(await state('a')).toMatchObject({ paid: true });
    expect(adapter.calls.map(({ params, attempt }) => [params.cents, attempt])).toEqual([
      [5, 1],
      [5, 1],
    ]);
    adapter.assertDone();
    await world.close();
  });

  it('a script that is too long or too short is found', async () => {
    const long = await worldWith([paidWith, paidWith]);
    await long.send('a');
    await long.clock.settle();
    expect(() => long.adapter.assertDone()).toThrow(/2 answers but got 1 calls/);
    await long.world.close();
    const short = await worldWith([]);
    await short.send('a');
    await short.clock.settle();
    expect(() => short.adapter.assertDone()).toThrow(/0 answers but got 1 calls/);
    await short.world.close();
  });

  it('a scripted adapter answers by a function of the call', async () => {
    const { world, clock, send, state } = await worldWith((call, n) =>
      n === 0 ? { status: 'error', code: 'adapter_error' } : { ...paidWith, payload: { id: call.idempotencyKey } },
    );
    await send('a');
    await clock.settle();
    await send('b');
    await clock.settle();
    expect([await state('a'), await state('b')]).toMatchObject([{ paid: false }, { paid: true }]);
    await world.close();
  });

  it('a scripted adapter hangs until it is released: the oldest call first, or a named one', async () => {
    const { world, clock, adapter, send, state } = await worldWith(() => ({ hang: paidWith }));
    for (const key of ['a', 'b', 'c']) await send(key);
    await clock.settle();
    expect(adapter.hanging).toHaveLength(3);
    expect(adapter.release(adapter.hanging[1])).toBe(true);
    await clock.settle();
    expect([await state('a'), await state('b')]).toMatchObject([{ paid: false }, { paid: true }]);
    expect(adapter.release(undefined, { status: 'error', code: 'adapter_error' })).toBe(true);
    await clock.settle();
    expect(await state('a')).toMatchObject({ paid: false });
    expect(adapter.releaseAll()).toBe(1);
    expect(adapter.release()).toBe(false);
    await world.close();
  });

  it('a hanging answer is cancelled by its signal, a missing answer is not', async () => {
    const hanging = await worldWith(() => ({ hang: paidWith }));
    await hanging.send('a');
    await hanging.clock.settle();
    await hanging.world.close();
    expect(hanging.adapter.hanging).toHaveLength(0);

    const never = await worldWith(() => ({ never: true }));
    await never.send('a');
    await never.clock.settle();
    const closed = never.world.close();
    await never.clock.advance(10_000);
    await closed;
    expect(never.adapter.calls[0]?.signal.aborted).toBe(true);
  });

  it('a scripted adapter throws as scripted, and counts executions by key', async () => {
    const { world, clock, adapter, send } = await worldWith(() => ({ throws: new Error('broken') }));
    await send('a');
    await clock.settle();
    expect([...adapter.executions.values()]).toEqual([1]);
    expect(adapter.executionsOf(adapter.calls[0]?.idempotencyKey ?? '')).toBe(1);
    expect(adapter.executionsOf('another')).toBe(0);
    await world.close();
  });
});
