import { creates, defineApp, defineReducer } from '@reprise/kernel';
import * as z from 'zod';

/** Cells that fail on a negative number: a defect. */
const fragile = defineReducer({
  name: 'demo/Fragile@1',
  state: z.strictObject({ total: z.int() }),
  events: {
    'demo/Add@1': creates(z.strictObject({ by: z.int() })),
    'demo/Tell@1': creates(z.strictObject({ to: z.string(), by: z.int() })),
  },
  init: () => ({ total: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'demo/Tell@1') {
      const { to, by } = event.value;
      return ctx.send(['demo/Fragile@1', to], { name: 'demo/Add@1', value: { by } });
    }
    if (event.value.by < 0) throw new Error('a defect');
    draft.total += event.value.by;
  },
});

export const app = defineApp({ reducers: [fragile] });
