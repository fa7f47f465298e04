/**
 * An organization that remembers: it states messages, tasks, results and narratives, where each comes from, and does
 * operations on a store as its own. Batches of them are one request.
 */
import { formatAddress, type Ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, defineReducer, type ReducerContext } from '@reprise/kernel/define';
import {
  type ItemOrigin,
  linkedFact,
  memoryEvents,
  memoryFacts,
  memoryNews,
  memoryOperate,
  memoryOperation,
  memoryTables,
  openStore,
} from '@reprise/org/contracts';

/** The desk's cell. */
export const DESK: [string, string] = ['law/Desk@1', 'desk'];

/** One thing that a desk does: it states a place, or works on a store. */
const act = z.union([
  z.strictObject({ place: linkedFact }),
  z.strictObject({ store: z.string(), operation: memoryOperation, tag: z.string() }),
]);

/** One thing that a desk does. */
export type DeskAct = z.infer<typeof act>;

/** The reducer of desks. */
export const deskReducer = defineReducer({
  name: DESK[0],
  state: z.strictObject({ done: z.int() }),
  events: {
    'law/Open@1': creates(z.strictObject({ stores: z.array(z.string()), max: z.int() })),
    'law/Do@1': z.strictObject({ acts: z.array(act) }),
    ...memoryEvents,
  },
  facts: memoryFacts,
  tables: memoryTables,
  init: () => ({ done: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'law/Open@1')
      for (const store of event.value.stores) openStore(ctx, store, { max: event.value.max });
    else if (event.name === 'law/Do@1') for (const one of event.value.acts) perform(one, ctx);
    else if (memoryNews(ctx, event) !== 'other') draft.done++;
  },
});

function perform(one: DeskAct, ctx: ReducerContext): void {
  if ('place' in one) ctx.record('memory/Linked@1', one.place);
  else memoryOperate(ctx, { store: one.store, operation: one.operation, tag: one.tag });
}

/** An item's origin at the desk. */
export function atDesk(places: Omit<ItemOrigin, 'cell'>): ItemOrigin {
  return { cell: formatAddress(DESK), ...places };
}

/** The links of a text that was kept. */
export interface Kept {
  readonly content_ref: Ref;
  readonly summary_ref: Ref;
}
