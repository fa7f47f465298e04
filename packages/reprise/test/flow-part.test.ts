/** The part `flow` of a world of agents. */
import { appOf } from '@reprise/agent';
import { creates, defineReducer, verifyStore } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { memory, openWorld } from '../src/index.js';
import { flow, QUEUE, queue, queueEvents } from '../src/org/org.js';
import { script } from '../src/providers.js';

/** A cell of the app that takes a slot. */
const baker = defineReducer({
  name: 'test/Baker@1',
  state: z.strictObject({ granted: z.array(z.string()) }),
  events: { 'test/Begin@1': creates(z.strictObject({ cake: z.string() })), ...queueEvents },
  init: () => ({ granted: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Begin@1') {
      return ctx.send([QUEUE, 'ovens'], { name: 'flow/Enqueue@1', value: { item: event.value.cake, value: null } });
    }
    if (event.name === 'flow/Granted@1') draft.granted.push(event.value.item);
  },
});

const bakers = { name: 'bakers', uses: [flow], reducers: [baker], handle: () => undefined };

describe('the part flow', () => {
  it('the part lets cells of other parts use a queue in a world whose policy is in force, and the world verifies', async () => {
    const store = memory();
    const world = await openWorld({ store, models: { main: script() }, parts: [bakers] });
    await world.kernel.request([QUEUE, 'ovens'], { name: 'flow/OpenQueue@1', value: { limit: 1 } });
    for (const cake of ['tart', 'bread']) {
      await world.kernel.request([baker, cake], { name: 'test/Begin@1', value: { cake } });
    }
    expect((await world.kernel.state([baker, 'tart']))?.granted).toEqual(['tart']);
    expect((await world.kernel.state([baker, 'bread']))?.granted).toEqual([]);
    await world.kernel.request([queue, 'ovens'], { name: 'flow/Done@1', value: { item: 'tart' } });
    expect((await world.kernel.state([baker, 'bread']))?.granted).toEqual(['bread']);
    await world.close();
    const reader = await store.openReadonly();
    expect((await verifyStore(reader, { app: appOf([bakers]) })).unverified).toBe(0);
    await reader.close();
  });
});
