/**
 * A running plan that is kept while a fold is abandoned: the plan looks at a cell that is not in memory yet, the cell is
 * loaded, and the frame is folded again from the beginning.
 */
import assert from 'node:assert/strict';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { memory, openKernelWorld } from '../../src/index.js';
import { add, ask, cell, lab, once, start, tellCell } from '../support/lab.js';
import { ok, outside } from '../support/outside.js';

const { app } = lab({
  *look(_input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, null));
    const seen = yield* plan.peek(cell('other'));
    tellCell(plan, 'other', seen);
  },
});

/** Holds what a plan sees of a cell to the state of that cell. @throws Error when they differ */
export async function holdRunningPlans(): Promise<void> {
  const [store, clock, random] = [memory(), new VirtualClock(), seededRandom('plans')];
  const adapter = outside(once);
  const open = () => openKernelWorld({ store, app, clock, random, adapters: [adapter], recheckEvery: 0 });
  const before = await open();
  await ask(before, 'other', [add(7)]);
  await before.snapshot();
  await before.close();
  await using world = await open();
  await ask(world, 'own', [start('look')]);
  (await adapter.call(0)).answer(ok({ got: 1 }));
  for (let i = 0; i < 20; i++) await clock.settle();
  const { seen } = (await world.state(cell('own'))) as unknown as { readonly seen: readonly string[] };
  assert.deepEqual(seen, [`other=${JSON.stringify(await world.state(cell('other')))}`]);
}
