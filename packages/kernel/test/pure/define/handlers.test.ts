import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  creates,
  defineApp,
  defineReducer,
  type EventHandlers,
  handledBy,
  memory,
  openKernelWorld,
} from '../../../src/index.js';

const EVENTS = {
  'demo/Added@1': creates(z.strictObject({ by: z.int() })),
  'demo/Named@1': z.strictObject({ name: z.string() }),
} as const;
type State = { n: number; name: string };
const HANDLERS: EventHandlers<State, typeof EVENTS> = {
  'demo/Added@1': (draft, { by }, ctx) => {
    if (by < 0) ctx.reject('below_nothing');
    draft.n += by;
  },
  'demo/Named@1': (draft, { name }) => {
    draft.name = name;
  },
};
const app = defineApp({
  reducers: [
    defineReducer({
      name: 'demo/Counter@1',
      state: z.strictObject({ n: z.int(), name: z.string() }),
      events: EVENTS,
      init: () => ({ n: 0, name: '' }),
      reduce: handledBy(HANDLERS),
    }),
  ],
});
const CELL = ['demo/Counter@1', 'a'] as const;

describe('a reducer as a table of handlers', () => {
  it('a table of handlers gives each event to its own handler, with its value and the context', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    await world.request([...CELL], { name: 'demo/Added@1', value: { by: 2 } });
    await world.request([...CELL], { name: 'demo/Named@1', value: { name: 'two' } });
    await expect(world.request([...CELL], { name: 'demo/Added@1', value: { by: -1 } })).rejects.toMatchObject({
      code: 'request_rejected',
    });
    expect(await world.state([...CELL])).toEqual({ n: 2, name: 'two' });
    await world.verify();
  });

  it('a table of handlers does not compile while an event has no handler or a handler takes another value', () => {
    // @ts-expect-error demo/Named@1 has none
    const lacking: EventHandlers<State, typeof EVENTS> = { 'demo/Added@1': () => undefined };
    const other: EventHandlers<State, typeof EVENTS> = {
      ...HANDLERS,
      // @ts-expect-error its value has no `by`
      'demo/Named@1': (_draft, { by }) => by,
    };
    expect(Object.keys({ ...lacking, ...other })).toEqual(Object.keys(EVENTS));
  });
});
