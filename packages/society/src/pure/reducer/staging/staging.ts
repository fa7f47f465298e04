/**
 * `society/Staging@1`: the cell behind a staging store. The parent of an agent that came back makes it.
 *
 * Invariants
 * G1  It is the one cell that writes to its store: the rights of entities name no staging store for writing.
 * G2  It writes what it was made with, once, and archives it when its maker says so.
 */

import { formatAddress, NOTICES } from '@reprise/contracts';
import {
  defineReducer,
  type EventHandlers,
  handledBy,
  type ReducerContext,
  reducerOnUse,
} from '@reprise/kernel/define';
import { openStore } from '@reprise/org/contracts';
import { STAGING, storeOf } from '../../contracts/cell/names.js';
import { type StagingState, stagingEvents, stagingFacts, stagingState } from '../../contracts/staging/returns.js';
import { endPlan, fillPlan } from '../../plans/returns.js';
import { sendUp } from '../context/entity.js';

const EVENTS = { ...stagingEvents, 'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'] } as const;

const HANDLERS: EventHandlers<StagingState, typeof EVENTS> = {
  'society/MakeStaging@1': (draft, { items }, ctx) => {
    if (draft.items > 0) ctx.reject('not_yours');
    draft.items = items.length;
    const store = storeOf.staging(ctx.address[1]);
    openStore(ctx, store);
    for (const [i, { content_ref }] of items.entries()) {
      const id = i + 1;
      ctx.record('memory/Linked@1', { kind: 'message', id, title: `returned ${id}`, from: [], text_ref: content_ref });
    }
    ctx.emit({ plan: fillPlan, input: { store, cell: formatAddress(ctx.address), items } });
  },
  'society/EndStaging@1': (draft, _, ctx) => {
    if (draft.status !== 'open') ctx.reject('not_yours');
    draft.status = 'ended';
    ctx.emit({ plan: endPlan, input: { store: storeOf.staging(ctx.address[1]), items: draft.items } });
  },
  'society/StagingChanged@1': (draft, { code }, ctx) => filled(draft, code, ctx),
  'sys/PlanFailed@1': (draft, { code }, ctx) => filled(draft, code.slice(0, 96), ctx),
};

/** The reducer of the cells behind staging stores. */
export const stagingReducer = reducerOnUse(STAGING, () =>
  defineReducer({
    name: STAGING,
    state: stagingState,
    events: EVENTS,
    facts: stagingFacts,
    init: (): StagingState => ({ status: 'filling', items: 0 }),
    reduce: handledBy(HANDLERS),
  }),
);

/** The parent hears, once, that the items are there, or why not. */
function filled(draft: StagingState, code: string | null, ctx: ReducerContext): void {
  if (draft.status !== 'filling') return;
  draft.status = 'open';
  sendUp(ctx.parent, { name: 'society/Filled@1', value: { code } }, ctx);
}
