/** Reviving a failed cell with the event that it takes next, in one frame. */
import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { creates, defineApp, defineReducer, memory, openKernelWorld, verifyStore } from '../../../../src/index.js';
import { TestClock } from '../../../support/test-clock.js';

const CELL = 'test/Counter@1';

const app = defineApp({
  reducers: [
    defineReducer({
      name: CELL,
      state: z.strictObject({ sum: z.int() }),
      events: {
        'test/Add@1': creates(z.strictObject({ by: z.int() })),
        'test/Tell@1': creates(z.strictObject({ by: z.int() })),
        'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
      },
      init: () => ({ sum: 0 }),
      reduce(draft, event, ctx) {
        if (event.name === 'test/Tell@1') ctx.send([CELL, 'x'], { name: 'test/Add@1', value: event.value });
        if (event.name !== 'test/Add@1') return;
        if (event.value.by < 0) throw new Error('a defect');
        draft.sum += event.value.by;
      },
    }),
  ],
});

async function failed() {
  const store = memory();
  const world = await openKernelWorld({ store, app, clock: new TestClock() });
  const add = (by: number) => world.request([CELL, 'x'], { name: 'test/Add@1', value: { by } });
  await add(1);
  // A request that faults is refused; an event of another cell that faults fails the cell.
  await world.request([CELL, 'other'], { name: 'test/Tell@1', value: { by: -1 } });
  return { store, world, add };
}

const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'done',
    (error: unknown) => (isRepriseError(error) ? error.code : error),
  );

describe('revival of a failed cell with its next event', () => {
  it.each([
    ['a value that does not fit its schema', { name: 'test/Add@1', value: { by: 'one' } }, 'event_invalid'],
    ['an unknown field', { name: 'test/Add@1', value: { by: 1, more: 1 } }, 'event_invalid'],
    ['no value', { name: 'test/Add@1' }, 'invalid_value'],
    ['an event that the cell does not take', { name: 'test/Other@1', value: {} }, 'unknown_event'],
    ['a notice of the kernel', { name: 'sys/TimerFired@1', value: { name: 't', due: 1 } }, 'invalid_argument'],
    ['another revival', { name: 'sys/Revive@1', value: {} }, 'invalid_argument'],
    ['a name that is no text', { name: 7, value: {} }, 'invalid_argument'],
    ['null', null, 'invalid_argument'],
    ['a list', ['test/Add@1', { by: 1 }], 'invalid_argument'],
    ['a value that is too large', { name: 'test/Add@1', value: { by: 'x'.repeat(100_000) } }, 'bound_exceeded'],
    ['a lone surrogate', { name: 'test/Add@1', value: { by: '\ud800' } }, 'invalid_value'],
  ])(
    'a revival with %s is refused, leaves nothing, and the cell stays failed [REQ-5, RED-12]',
    async (_what, next, code) => {
      const { store, world, add } = await failed();
      const { head } = world;
      expect(await codeOf(world.revive([CELL, 'x'], { next: next as never }))).toBe(code);
      expect(world.head).toEqual(head);
      expect(await codeOf(add(1))).toBe('cell_failed');
      expect(await codeOf(world.revive([CELL, 'x'], { next: { name: 'test/Add@1', value: { by: 5 } } }))).toBe('done');
      expect(await world.state([CELL, 'x'])).toEqual({ sum: 6 });
      await world.close();
      const reading = await store.openReadonly();
      expect((await verifyStore(reading, { app })).unverified).toBe(0);
      await reading.close();
    },
  );

  it('a revival with a next event that fails the cell again is refused, and the cell can still be revived [RED-12]', async () => {
    const { world } = await failed();
    expect(await codeOf(world.revive([CELL, 'x'], { next: { name: 'test/Add@1', value: { by: -1 } } }))).toBe(
      'delivery_faulted',
    );
    expect(await world.state([CELL, 'x'])).toEqual({ sum: 1 });
    expect(await codeOf(world.revive([CELL, 'x'], { next: { name: 'test/Add@1', value: { by: 2 } } }))).toBe('done');
    expect(await world.state([CELL, 'x'])).toEqual({ sum: 3 });
    await world.close();
  });

  it('the revival of a missing cell is refused [REQ-5]', async () => {
    const { world } = await failed();
    const next = { name: 'test/Add@1', value: { by: 1 } };
    expect(await codeOf(world.revive([CELL, 'y'], { next }))).toBe('cell_absent');
    expect(await world.state([CELL, 'y'])).toBeUndefined();
    await world.close();
  });
});
