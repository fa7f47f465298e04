/**
 * `society/memory_plan@1`: what an entity does with the stores of a society. Each store is asked by an effect of its own,
 * with that store as the object of the gate's decision.
 */

import { address, present, type Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { encode } from '@reprise/kernel/codec';
import type { PlanBody, PlanContext, ReceiptOf } from '@reprise/kernel/define';
import {
  memoryWrite,
  planOf,
  READ_ITEMS_MAX,
  type ReadItem,
  storeAt,
  type WriteOperation,
} from '@reprise/org/contracts';
import { authorOf, entityAt, entityOfAuthor, SOCIETY_BOUNDS, SWARM } from '../contracts/cell/names.js';
import { type MemoryAct, type MemoryEnded, memoryAct, memoryEnded } from '../contracts/memory/acts.js';
import { GATED_READS, isDenied, readAsked, searchAsked } from './content-gate.js';

type Outcome = Omit<MemoryEnded, 'call' | 'act'>;

const NOTHING: Outcome = {
  ...{ code: null, written: null, items: [], next: null, found: [], texts: [], standing: 'other', withheld: 0 },
};

/** `society/memory_plan@1`: does what a memory call asks of one store. */
export const memoryPlan = planOf('society/memory_plan@1', () => ({
  input: z.strictObject({ call: memoryEnded.shape.call, act: memoryAct }),
  effects: [memoryWrite, ...GATED_READS],
  *run({ call, act }, plan) {
    const outcome = yield* ACTS[act.act](plan, act as never);
    plan.raiseEvent({ name: 'society/MemoryEnded@1', value: { call, act: act.act, ...outcome } });
  },
}));

type Of<A extends MemoryAct['act']> = Extract<MemoryAct, { act: A }>;

const ACTS: { readonly [A in MemoryAct['act']]: (plan: PlanContext, act: Of<A>) => PlanBody<Outcome> } = {
  ...{ write, page, judge, search, share },
  read: (plan, act) => (act.composed ? compose(plan, act) : read(plan, act.store, act.ids)),
  move: (plan, { store, id, state }) => change(plan, store, { op: 'move', id, state }),
};

/** A write that was made before stays as it is: it may have been validated since. */
export function* write(plan: PlanContext, { store, operation, quarantine }: Of<'write'>): PlanBody<Outcome> {
  const stored = yield* change(plan, store, operation);
  if (!quarantine || stored.written === null || stored.written.existed) return stored;
  const { id } = stored.written;
  const kept = yield* change(plan, store, { op: 'move', id, state: 'quarantined' });
  return kept.code === null ? stored : kept;
}

function* read(plan: PlanContext, store: string, ids: readonly number[]): PlanBody<Outcome> {
  const receipt = yield* readAsked(plan, store, ids);
  return receipt.status === 'ok' ? { ...NOTHING, items: receipt.payload.items } : refused(receipt);
}

/** The bytes of the items of one page: a value has 64 KiB at most. */
const PAGE_BYTES = 40_000;

/** The readings of one page: where most items of a store are not in use any more, the next page goes on. */
const READINGS_MAX = 16;

/** A page ends with its limit, with its bytes, or with the store. What it does not show is not read, as far as possible. */
function* page(plan: PlanContext, { store, after, limit, own, composed }: Of<'page'>): PlanBody<Outcome> {
  const items: ReadItem[] = [];
  let last = after;
  let bytes = 0;
  for (let n = 0; n < READINGS_MAX && items.length < limit && bytes < PAGE_BYTES; n++) {
    const count = Math.min(READ_ITEMS_MAX, limit - items.length);
    const seen = yield* read(
      plan,
      store,
      Array.from({ length: count }, (_, place) => last + 1 + place),
    );
    if (seen.code !== null) return seen;
    const listed = seen.items.filter((item) => item.state === 'live' || isOwn(own, item));
    items.push(...listed);
    bytes += encode(listed as unknown as Value).length;
    last += count;
    if (seen.items.length < count) return yield* shown(plan, store, { ...NOTHING, items }, composed);
  }
  return yield* shown(plan, store, { ...NOTHING, items, next: last }, composed);
}

function isOwn(own: string, item: ReadItem): boolean {
  return item.state === 'quarantined' && authorOf(item) === own;
}

function* shown(plan: PlanContext, store: string, page: Outcome, composed: boolean): PlanBody<Outcome> {
  const live = page.items.filter(({ state }) => state === 'live').map(({ id }) => id);
  return composed ? yield* withTexts(plan, store, page, live) : page;
}

function* compose(plan: PlanContext, { store, ids }: Of<'read'>): PlanBody<Outcome> {
  const seen = yield* read(plan, store, ids);
  const ones = seen.items.map(({ id }) => id);
  return yield* withTexts(plan, store, seen, ones);
}

/** The words of items can be erased, and are data of others: a model gets them between marks, in one bounded text. */
function* withTexts(plan: PlanContext, store: string, seen: Outcome, shown: readonly number[]): PlanBody<Outcome> {
  if (shown.length === 0) return seen;
  const receipt = yield* plan.awaitReceipt(searchAsked(plan, store, { ids: [...shown], k: shown.length, all: true }));
  if (receipt.status !== 'ok') return refused(receipt);
  const { text_ref } = receipt.payload;
  return { ...seen, texts: text_ref === null ? [] : [{ store, ref: text_ref }] };
}

function* judge(plan: PlanContext, { store, id, judge: by, parent }: Of<'judge'>): PlanBody<Outcome> {
  const { item, seen } = yield* readOne(plan, store, id);
  return item === undefined ? seen : { ...seen, standing: yield* standingOf(plan, by, parent, authorOf(item)) };
}

function* readOne(plan: PlanContext, store: string, id: number): PlanBody<{ item?: ReadItem; seen: Outcome }> {
  const seen = yield* read(plan, store, [id]);
  const [item] = seen.items;
  return item === undefined ? { seen: { ...seen, code: seen.code ?? 'item_unknown' } } : { item, seen };
}

/** Reads an item that is to be copied: one that is not in use is refused. */
export function* readLive(plan: PlanContext, store: string, id: number): PlanBody<{ item?: ReadItem; seen: Outcome }> {
  const { item, seen } = yield* readOne(plan, store, id);
  if (item === undefined || item.state === 'live') return { ...present({ item }), seen };
  return { seen: { ...NOTHING, code: `item_${item.state}` } };
}

/** What the entities between a judge and an author say of themselves: at most 8 stand above one another. */
function* standingOf(
  plan: PlanContext,
  by: string,
  parent: string | null,
  author: string,
): PlanBody<MemoryEnded['standing']> {
  const id = entityOfAuthor(author);
  if (id === undefined) return 'stranger';
  if (id === by) return 'self';
  const maker = kinOf(yield* plan.peek(entityAt(id)));
  if (maker.isOfSwarm && maker.parent === by) return 'swarm';
  let above = parent;
  for (let n = 0; n <= SOCIETY_BOUNDS.depth && above !== null; n++) {
    if (above === id) return 'below';
    above = kinOf(yield* plan.peek(entityAt(above))).parent;
  }
  return 'other';
}

/** The part of an entity's state that says who made it. */
const kin = z.object({ parent_entity_id: z.nullable(z.string()), maker: z.nullable(address) });

function kinOf(state: Value): { readonly parent: string | null; readonly isOfSwarm: boolean } {
  const parsed = kin.safeParse(state);
  if (!parsed.success) return { parent: null, isOfSwarm: false };
  const { parent_entity_id: parent, maker } = parsed.data;
  return { parent, isOfSwarm: maker !== null && maker[0] === SWARM };
}

/** The effects of all stores run at once. A store that is denied is left out, and counted. */
function* search(plan: PlanContext, { stores, query, k }: Of<'search'>): PlanBody<Outcome> {
  const handles = stores.map((store) => searchAsked(plan, store, { query, k, all: false }));
  const receipts = (yield* plan.awaitAll(handles)) ?? [];
  const found: MemoryEnded['found'] = [];
  const texts: MemoryEnded['texts'] = [];
  let withheld = 0;
  for (const [place, receipt] of receipts.entries()) {
    const store = stores[place] as string;
    if (receipt.status !== 'ok') {
      if (!isDenied(receipt)) return refused(receipt);
      withheld++;
      continue;
    }
    const { items, text_ref } = receipt.payload;
    for (const item of items) found.push({ store, ...item });
    if (text_ref !== null) texts.push({ store, ref: text_ref });
  }
  const best = found.sort(byRank).slice(0, k);
  const shown = new Set(best.map(({ store }) => store));
  return { ...NOTHING, found: best, texts: texts.filter(({ store }) => shown.has(store)), withheld };
}

/** The best first; equal ranks by the name of the store and the number, so that the order is always the same. */
function byRank(a: MemoryEnded['found'][number], b: typeof a): number {
  if (a.rank !== b.rank) return b.rank - a.rank;
  return a.store === b.store ? a.id - b.id : a.store < b.store ? -1 : 1;
}

/** A copy has content, words and confidence of the item as it is now: what the item becomes later does not change it. */
function* share(plan: PlanContext, { store, id, to, key, origin, expires_at }: Of<'share'>): PlanBody<Outcome> {
  const { item, seen } = yield* readLive(plan, store, id);
  if (item === undefined) return seen;
  const { content_ref, summary_ref, tags, type, trust, confidence_ppm, subject_key, memory_of_refs } = item;
  const sources = [content_ref, ...memory_of_refs.filter((one) => one.hex !== content_ref.hex)].slice(0, 8);
  const of = item.origin?.of; // whose words these are, where the author took them over
  const from = of === undefined || origin === null ? origin : { ...origin, of };
  const operation = { op: 'store', key, origin: from, content_ref, summary_ref, tags, type, trust } as const;
  const copy = { ...operation, confidence_ppm, subject_key, memory_of_refs: sources, expires_at };
  return { ...(yield* change(plan, to, copy)), items: [item] };
}

function* change(plan: PlanContext, store: string, operation: WriteOperation): PlanBody<Outcome> {
  const receipt = yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at: storeAt(store), operation }));
  return receipt.status === 'ok' ? { ...NOTHING, written: receipt.payload } : refused(receipt);
}

function refused({ status, code: because }: Pick<ReceiptOf<unknown>, 'status' | 'code'>): Outcome {
  return { ...NOTHING, code: because === undefined ? status : (CODES.get(because) ?? because) };
}

/** The kernel's codes about the cell of a store, as refusals of calls. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['adapter_error/no_settler', 'store_unknown'],
  ['adapter_error/cell_failed', 'cell_failed'],
]);
