import { ref } from '@reprise/contracts';
import { creates, defineApp, defineReducer } from '@reprise/kernel';
import * as z from 'zod';
import { ledgerApp } from './ledger.js';

/** The ledger's second version: it counts its entries. */
export const ledger2 = defineReducer({
  name: 'demo/Ledger@2',
  state: z.strictObject({ total: z.int(), entries: z.int() }),
  events: {
    'demo/Added@1': creates(z.strictObject({ by: z.int() })),
    'demo/Noted@1': z.strictObject({ text: z.string(), at: z.array(ref()) }),
  },
  facts: { 'demo/Totalled@1': z.strictObject({ total: z.int() }) },
  logs: { history: z.int() },
  migrates: {
    from: [...ledgerApp().reducers.values()][0]!,
    state: (old: { total: number }) => ({ total: old.total, entries: 0 }),
  },
  init: () => ({ total: 0, entries: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'demo/Noted@1') return;
    draft.total += event.value.by;
    draft.entries++;
    ctx.append('history', draft.total);
  },
});

export const app = defineApp({ reducers: [ledger2] });
