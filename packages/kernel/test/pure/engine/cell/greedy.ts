/** Plans that go on, flood and emit without measure: what the bounds are tried with. */
import { memory, openKernelWorld } from '../../../../src/index.js';
import { lab, once } from '../../../support/lab.js';
import { outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

/** An app whose plans ask for more than there is room for. */
export const { app } = lab({
  // biome-ignore lint/correctness/useYield: it goes on as another before it waits
  *again(input, plan) {
    plan.continueAs(input);
  },
  *flood(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
    for (let i = 0; i < 20_000; i++) plan.raiseEvent({ name: 'lab/Got@1', value: { what: 'i', value: i } });
  },
  *many(input, plan) {
    const handles = Array.from({ length: Number(input) }, () => plan.emitEffect(once, input));
    yield* plan.awaitAll(handles);
  },
});

/** A world of it in memory, with a clock and an outside of the test's own. */
export async function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const store = memory();
  const clock = new TestClock();
  const adapter = outside(once);
  const world = await openKernelWorld({ store, app, clock, recheckEvery: 0, adapters: [adapter], ...options });
  return { store, clock, adapter, world };
}
