/**
 * `memory/Store@1`: a store of items that organizations remember.
 *
 * Invariants
 * M1  Cells change and read the store by effects whose object is this store, and which this cell resolves. A person or
 *     the app changes it by a request, which becomes such an effect of this cell.
 * M2  An item is never deleted. It leaves the searches by its state, and comes back by it.
 * M3  One author, organization, result, task, node and key are one item.
 * M4  The table `order` holds each live item once, at its place; `expiry` each live item that expires.
 * M5  At most `max` items are live, and none that has expired, except while this cell archives the rest.
 */
import { formatAddress, type PlanAddress, type Ref, type Settlement } from '@reprise/contracts';
import {
  defineReducer,
  type EffectDefinition,
  type EventHandlers,
  handledBy,
  reducerOnUse,
} from '@reprise/kernel/define';
import { leaveRest, Refused } from '../kit/index.js';
import { memoryFacts } from './calls.js';
import { memoryRead, memoryWrite, storeFacts, type WriteOperation } from './effects.js';
import { Items, type StoreContext } from './items.js';
import { ARCHIVED_AT_ONCE, LIVE_ITEMS_MAX, SCOPE, STORE } from './names.js';
import { memoryNews, memoryOperate } from './owner.js';
import { type StoreState, storeCommands, storeNews, storeOpening, storeState, storeTables } from './store-contract.js';
import { write } from './write.js';

const EVENTS = { ...storeOpening, ...storeCommands, ...storeNews } as const;

const HANDLERS: EventHandlers<StoreState, typeof EVENTS, typeof storeTables> = {
  'memory/Open@1': (_draft, _, ctx) => requireScope(ctx),
  'memory/Bound@1': (draft, { max }, ctx) => {
    requireScope(ctx);
    draft.max = max;
    archiveRest(draft, ctx);
  },
  'memory/Say@1': (draft, { operation, said_ref, tag }, ctx) => {
    const said = said_ref === undefined ? operation : saidBy(draft, operation, said_ref, ctx);
    memoryOperate(ctx, { store: ctx.address[1], operation: said, tag });
  },
  'org/Rest@1': (draft, _, ctx) => archiveRest(draft, ctx),
  'memory/Done@1': (_draft, value, ctx) => void memoryNews(ctx, { name: 'memory/Done@1', value }),
  'sys/PlanFailed@1': (_draft, value, ctx) => void memoryNews(ctx, { name: 'sys/PlanFailed@1', value }),
  'sys/TimerFired@1': (draft, _, ctx) => archiveRest(draft, ctx),
  'sys/EffectOpened@1': (draft, { effect, name, params, from }, ctx) => {
    const outcome = resolve(draft, ctx, { name, params, from });
    ctx.command('sys/Settle@1', { effect, outcome });
    archiveRest(draft, ctx);
  },
};

/** The reducer of stores: part of the app of every world with memories. */
export const storeReducer = reducerOnUse(STORE, () =>
  defineReducer({
    name: STORE,
    state: storeState,
    events: EVENTS,
    facts: { ...storeFacts, ...memoryFacts },
    tables: storeTables,
    init: (): StoreState => ({ next: 1, messages: 0, live: 0, max: LIVE_ITEMS_MAX }),
    reduce: handledBy(HANDLERS),
  }),
);

interface Opened {
  readonly name: string;
  readonly params: unknown;
  readonly from: PlanAddress;
}

/** The outcome of an effect whose object is this store. */
function resolve(draft: StoreState, ctx: StoreContext, opened: Opened): Settlement {
  const writing = paramsOf(memoryWrite, opened);
  const reading = paramsOf(memoryRead, opened);
  if (writing === undefined && reading === undefined) return failure('operation_unknown');
  // The gate judged `store`; it must be the store that is changed.
  if ((writing ?? reading)?.store !== ctx.address[1]) return { status: 'error', code: 'validation_error/other_store' };
  const items = new Items(draft, ctx);
  try {
    if (writing !== undefined)
      return { status: 'ok', payload: { ...write(items, writing.operation, writerOf(ctx, opened.from)) } };
    const { ids = [], shown } = reading ?? {};
    const take = shown === true ? peek : read;
    return { status: 'ok', payload: { items: [...new Set(ids)].flatMap((id) => take(items, id)) } };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return failure(error.code);
  }
}

/** The parameters of an effect of this kind: the kernel has checked them. Undefined for another kind. */
function paramsOf<I>(effect: EffectDefinition<I>, { name, params }: Opened): I | undefined {
  return name === effect.name ? (params as I) : undefined;
}

function failure(reason: string): Settlement {
  return { status: 'error', code: `validation_error/${reason}` };
}

function read(items: Items, id: number) {
  const item = items.get(id);
  if (item === undefined) return [];
  const used = { ...item, uses: item.uses + 1, last_used_at: items.now };
  items.score(id, item, used);
  return [{ id, ...used }];
}

/** An item as it is, without a use of it. */
function peek(items: Items, id: number) {
  const item = items.get(id);
  return item === undefined ? [] : [{ id, ...item }];
}

/** The cell that wrote: the kernel vouches for it. A request from outside became a plan of this store. */
function writerOf(
  ctx: StoreContext,
  [reducer, key]: PlanAddress,
): { readonly author: string; readonly isPeople: boolean } {
  const isPeople = reducer === ctx.address[0] && key === ctx.address[1];
  return { author: isPeople ? 'people' : formatAddress([reducer, key]), isPeople };
}

/** The words of a person are the origin of what the person stores. */
function saidBy(draft: StoreState, operation: WriteOperation, text_ref: Ref, ctx: StoreContext): WriteOperation {
  if (operation.op !== 'store') return ctx.reject('nothing_said');
  const id = ++draft.messages;
  ctx.record('memory/Linked@1', { kind: 'message', id, title: `message ${id}`, from: [], text_ref });
  return { ...operation, origin: { cell: formatAddress(ctx.address), message: id } };
}

/** Archives items that have expired, and those beyond the bound: some now, the rest before any other input. */
function archiveRest(draft: StoreState, ctx: StoreContext): void {
  const items = new Items(draft, ctx);
  for (let archived = 0; archived < ARCHIVED_AT_ONCE; archived++) {
    const expired = items.expired();
    const lowest = expired === undefined && draft.live > draft.max ? items.lowest() : undefined;
    const id = expired ?? lowest;
    if (id === undefined) return items.awaitExpiry();
    items.move(id, 'archived');
    ctx.record('memory/Archived@1', { id, why: expired === undefined ? 'bound' : 'expired' });
  }
  leaveRest(ctx);
}

function requireScope({ address, reject }: StoreContext): void {
  if (!SCOPE.test(address[1])) reject('invalid_scope');
}
