/** The app of the long worlds of `scripts/long/verify.ts`, in a module that the threads of a verification can load. */
import { creates, defineApp, defineReducer, ref } from '@reprise/kernel';
import * as z from 'zod';

const account = defineReducer({
  name: 'long/Account@1',
  state: z.strictObject({ balance: z.int(), moves: z.int(), note: z.string() }),
  events: { 'long/Moved@1': creates(z.strictObject({ by: z.int(), note: z.string(), at: ref() })) },
  facts: { 'long/Balance@1': z.strictObject({ balance: z.int() }) },
  logs: { moves: z.strictObject({ by: z.int(), note: z.string() }) },
  init: () => ({ balance: 0, moves: 0, note: '' }),
  reduce(draft, event, ctx) {
    draft.balance += event.value.by;
    draft.moves += 1;
    draft.note = event.value.note;
    ctx.append('moves', { by: event.value.by, note: event.value.note });
    ctx.record('long/Balance@1', { balance: draft.balance });
    ctx.send(['long/Ledger@1', `l${draft.moves % 16}`], { name: 'long/Counted@1', value: { by: event.value.by } });
  },
});
const ledger = defineReducer({
  name: 'long/Ledger@1',
  state: z.strictObject({ sum: z.int(), count: z.int() }),
  events: { 'long/Counted@1': creates(z.strictObject({ by: z.int() })) },
  init: () => ({ sum: 0, count: 0 }),
  reduce(draft, event) {
    draft.sum += event.value.by;
    draft.count += 1;
  },
});
export default defineApp({ reducers: [account, ledger] });
