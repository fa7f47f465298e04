/** Places of a shared limit: whatever an adapter does, it gives back the place that it took. */
import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld } from '../../../src/index.js';
import type { Throttle } from '../../../src/run/dispatch/throttle.js';
import { until } from '../../support/judge.js';
import { ask, lab, once, seen, start, tellCell } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';

const { app } = lab({
  *call(input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'call', receipt.status);
  },
});

/** A limit of one place, first come, first served. */
function onePlace(): Throttle & { readonly taken: () => number } {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const leave = () => {
    taken--;
    waiting.shift()?.();
  };
  const enter = async () => {
    while (taken > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    taken++;
    return leave;
  };
  return { enter, taken: () => taken };
}

describe('a shared limit of effects', () => {
  it.each([
    ['throws', (call: { break(error: unknown): void }) => call.break(new Error('a defect'))],
    ['fails', (call: { answer(outcome: unknown): void }) => call.answer({ status: 'error', code: 'adapter_error' })],
    ['answers with what is no outcome', (call: { answer(outcome: unknown): void }) => call.answer('done')],
  ])('an adapter that %s gives its place to the next effect [HOST-7]', async (_, ends) => {
    const [throttle, adapter] = [onePlace(), outside(once)];
    const world = await openKernelWorld({ store: memory(), app, adapters: [adapter], throttle });
    await ask(world, 'x', [start('call', 1)]);
    const first = await adapter.call(0);
    await ask(world, 'y', [start('call', 2)]);
    expect(throttle.taken()).toBe(1);
    ends(first);
    const late = new Promise<void>((resolve) => setTimeout(resolve, 60_000).unref());
    const next = await Promise.race([adapter.call(1), late]);
    expect(next).toBeDefined();
    if (next) next.answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'y'))?.includes('call="ok"') === true);
    expect(throttle.taken()).toBe(0);
    await world.close();
  });
});
