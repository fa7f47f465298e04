/** What a revived cell hears of its revival. */
import { NOTICES } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { creates, defineApp, defineReducer, memory, openKernelWorld, verifyStore } from '../../../../src/index.js';
import { TestClock } from '../../../support/test-clock.js';

const HEARS = 'test/Hears@1';
const DEAF = 'test/Deaf@1';
const state = z.strictObject({ heard: z.array(z.string()) });
const own = { 'test/Add@1': creates(z.strictObject({ word: z.string() })) };

function add(draft: { heard: string[] }, word: string): void {
  if (word === 'fail') throw new Error('a defect');
  draft.heard.push(word);
}

const app = defineApp({
  reducers: [
    defineReducer({
      name: HEARS,
      state,
      events: { ...own, 'sys/Revived@1': NOTICES['sys/Revived@1'] },
      init: () => ({ heard: [] }),
      reduce: (draft, event) =>
        add(draft, event.name === 'test/Add@1' ? event.value.word : `revived ${event.value.code}`),
    }),
    defineReducer({
      name: DEAF,
      state,
      events: own,
      init: () => ({ heard: [] }),
      reduce: (draft, event) => add(draft, event.value.word),
    }),
    defineReducer({
      name: 'test/Teller@1',
      state: z.strictObject({}),
      events: { 'test/Fail@1': creates(z.strictObject({ cell: z.string() })) },
      init: () => ({}),
      reduce: (_, { value: { cell } }, ctx) => ctx.send([cell, 'x'], { name: 'test/Add@1', value: { word: 'fail' } }),
    }),
  ],
});

describe('a cell that is revived', () => {
  it.each([
    [HEARS, ['before', 'revived threw', 'next']],
    [DEAF, ['before', 'next']],
  ])(
    '%s hears of its revival before the event that it takes next, if its reducer lists the notice [RED-41]',
    async (cell, heard) => {
      const store = memory();
      const world = await openKernelWorld({ store, app, clock: new TestClock() });
      await world.request([cell, 'x'], { name: 'test/Add@1', value: { word: 'before' } });
      await world.request(['test/Teller@1', 't'], { name: 'test/Fail@1', value: { cell } });
      await world.revive([cell, 'x'], { next: { name: 'test/Add@1', value: { word: 'next' } } });
      expect(await world.state([cell, 'x'])).toEqual({ heard });
      await world.revive([cell, 'x']); // it has not failed: nothing is told
      expect(await world.state([cell, 'x'])).toEqual({ heard });
      await world.close();
      const reader = await store.openReadonly();
      expect((await verifyStore(reader, { app })).unverified).toBe(0);
      await reader.close();
    },
  );
});
