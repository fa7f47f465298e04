/**
 * The stores of an entity and of its groups. Each operation is an effect with the store as its object: the gate decides,
 * by the whole chain of rights. What is refused here is what the gate cannot see: emergency mode, and who may judge.
 */

import { formatAddress, present, type Value } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { beginRound, READ_ITEMS_MAX, type ReadItem, someRows } from '@reprise/org/contracts';
import {
  authorOf,
  entityOfAuthor,
  groupOfStore,
  stagingKeyIn,
  stagingOfStore,
  storeOf,
} from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { Row, SocietyCallOf } from '../../contracts/entity-parts.js';
import type { MemoryAct, MemoryEnded } from '../../contracts/memory/acts.js';
import { itemIdOf, itemOf, MEMORY_BOUNDS } from '../../contracts/memory/tools.js';
import { memoryPlan } from '../../plans/memory.js';
import { actorOfCall, goOnWith, isForModel, listed, roomFor, startForCall } from '../call/answers.js';
import { type Answer, checkOf, deny, isDenial, type OperationsOf, refuse } from '../call/operations.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { aboutStaged, shownStaging } from '../context/staged.js';
import { tellGroup } from '../group/told-groups.js';
import { mayAsk } from '../rights/may-ask.js';
import { storedItem } from './archive.js';
import { assess, judging } from './trust.js';
import { linkWrite, writeOf } from './writes.js';

/** The tools of stores, besides `memory_assess`. */
type StoreTool = `memory_${'write_warm' | 'read_warm' | 'search' | 'share' | 'validate'}`;

export const memoryOperations: OperationsOf<StoreTool> = {
  memory_write_warm: (draft, asked, call, ctx) => {
    if (asked.visibility === 'public') deny('visibility');
    const store = targetOf(asked, ctx) ?? refuse('group_required', { hint: 'Name the group.' });
    requireWritable(draft, store, ctx);
    const superseded = asked.supersedes === undefined ? undefined : itemOf(asked.supersedes);
    if (superseded !== undefined && superseded.store !== store) refuse('other_store');
    return act(call, writing(asked, store, superseded?.id, call, ctx), ctx);
  },
  memory_read_warm: (draft, { item_id, group, after = 0, limit = USUAL_ITEMS }, call, ctx) => {
    if ((item_id === undefined) === (group === undefined)) refuse('item_or_group');
    const composed = isForModel(call, ctx);
    if (group !== undefined) {
      const store = storeFor(group);
      requireReadable(draft, store, ctx);
      const count = Math.min(limit, composed ? READ_ITEMS_MAX : MEMORY_BOUNDS.read);
      const own = formatAddress(ctx.address);
      return act(call, { act: 'page', store, after, limit: count, own, composed }, ctx);
    }
    const { store, id } = itemOf(storedItem(item_id ?? '', ctx));
    requireReadable(draft, store, ctx);
    return act(call, { act: 'read', store, ids: [id], composed }, ctx);
  },
  memory_search: (draft, { query, groups, k = 10 }, call, ctx) => {
    const named = groups?.map(storeOf.group) ?? storesOf(ctx);
    const stores = named.filter((store) => mayAsk(draft, store, ctx)).slice(0, MEMORY_BOUNDS.stores);
    if (stores.length === 0) return { value: { items: [], withheld: named.length } };
    return act(call, { act: 'search', stores, query, k }, ctx);
  },
  memory_share: (draft, { item_id, group_id }, call, ctx) => {
    const { store, id } = itemOf(item_id);
    const to = storeOf.group(group_id);
    if (store === to) refuse('same_store');
    requireReadable(draft, store, ctx);
    requireWritable(draft, to, ctx);
    const key = `share:${ctx.hash(item_id).slice(0, 32)}`;
    const write = writeOf(to, ctx);
    linkWrite(write, 'share', ctx);
    return act(call, { act: 'share', store, id, to, key, ...write }, ctx);
  },
  memory_validate: (draft, { item_id }, call, ctx) => {
    const { store } = itemOf(item_id);
    requireReadable(draft, store, ctx);
    requireWritable(draft, store, ctx);
    return act(call, judging(draft, item_id, ctx), ctx);
  },
};

/** A plan of an operation has ended: the call is answered, or goes on. */
export function memoryEnded(draft: EntityState, ended: MemoryEnded, call: string, ctx: EntityContext): void {
  goOnWith(draft, call, ctx, ({ name, args }) => {
    if (ended.code !== null) return refuseFor(ended.code);
    const cameTo: CameTo<Value> = CAME_TO[name as keyof typeof CAME_TO];
    return cameTo(draft, args, ended, call, ctx);
  });
}

/** An entity that leaves a group archives the copies from it that it does not keep. */
export function archiveCopies(group: string, departure: Row<'terms'>['departure_policy'], ctx: EntityContext): void {
  beginRound(ctx, `copies ${group} ${departure}`, () => archiveSomeCopies(group, departure, ctx));
}

/** Archives the next copies from a group that the entity has left. */
export function archiveSomeCopies(group: string, departure: string, ctx: EntityContext): string | undefined {
  const copies = ctx.table('copies');
  const archived: string[] = [];
  const range = { from: `${group} `, before: `${group}!` };
  const last = someRows(copies, range, (key, { copy, own }) => {
    copies.delete(key);
    if (departure === 'permissive' || (departure === 'standard' && own)) return;
    archived.push(copy);
    const { store, id } = itemOf(copy);
    ctx.emit({ plan: memoryPlan, input: { call: null, act: { act: 'move', store, id, state: 'archived' } } });
  });
  if (archived.length > 0) ctx.record('society/CopiesArchived@1', { group_id: group, copies: archived });
  return last;
}

/** The items of a page, where a call does not say how many. */
const USUAL_ITEMS = 20;

/** The room of what stands beside the rows of an answer. */
const HEAD_BYTES = 512;

/** What each tool answers when its plan has ended; undefined where another one follows. */
const CAME_TO: { readonly [N in StoreTool | 'memory_assess']: CameTo<SocietyCallOf<N>> } = {
  // The group of the store hears of the item, unless it is quarantined.
  memory_write_warm: (_, asked, { written }, _call, ctx) => {
    if (written === null) return refuse('internal_error');
    const store = targetOf(asked, ctx) ?? storeOf.private(idOf(ctx));
    const item_id = itemIdOf(store, written.id);
    const isKept = isDoubted(asked.confidence_ppm ?? null);
    if (!isKept && !written.existed) tellOfItem(store, { item_id, type: asked.type }, ctx);
    return { value: { item_id, state: isKept ? 'quarantined' : 'live' } };
  },
  // A quarantined item is listed to its author only; by its id all who may read the store see it, and its state. A model is
  // shown one text between marks, others the content of each item.
  memory_read_warm: (_, { item_id, group = '' }, { items, texts, next }, call, ctx) => {
    const isModel = isForModel(call, ctx);
    const known = item_id === undefined ? undefined : storedItem(item_id, ctx);
    if (known !== undefined && items.length === 0) refuse('item_unknown');
    const store = known === undefined ? storeFor(group) : itemOf(known).store;
    const rows = items.map((item) => rowOf(store, item, isModel, ctx));
    const more = known === undefined ? { ...present({ next: next ?? undefined }), ...shownStaging(store, ctx) } : {};
    const refs = isModel ? texts.map(({ ref }) => ({ label: 'items', ref })) : [];
    return { value: { items: rows, ...more } as unknown as Value, refs };
  },
  memory_search: (_, _args, { found: items, texts, withheld }, call, ctx) => {
    const rows = items.map(({ store, id, score, rank }) => ({ item_id: itemIdOf(store, id), score, rank }));
    const refs = texts.map(({ store, ref }) => ({ label: store.slice(0, 64), ref }));
    return { value: { ...listed('items', rows, roomFor(call, ctx) - HEAD_BYTES), withheld }, refs };
  },
  memory_share: (_, { item_id, group_id }, { written, items: [item] }, _call, ctx) => {
    if (written === null || item === undefined) return refuse('internal_error');
    const copy_id = itemIdOf(storeOf.group(group_id), written.id);
    const { type } = item;
    const author = authorOf(item);
    const from = groupOfStore(itemOf(item_id).store);
    const own = author === formatAddress(ctx.address);
    if (from !== undefined)
      ctx.table('copies').set(`${from} ${ctx.hash(copy_id).slice(0, 32)}`, { copy: copy_id, own });
    if (!written.existed) {
      ctx.record('society/Shared@1', { item_id, copy_id, author });
      tellOfItem(storeOf.group(group_id), { item_id: copy_id, type }, ctx);
    }
    return { value: { item_id: copy_id, origin: item_id, state: 'live' } };
  },
  memory_assess: (_, args, ended, call, ctx) => assess(args, ended, call, ctx),
  // First the item was read, and who may judge it found; then it was moved.
  memory_validate: (draft, { item_id }, { act: done, standing, items: [item] }, call, ctx) => {
    const { store, id } = itemOf(item_id);
    if (done === 'move') {
      ctx.record('society/Validated@1', { item_id, by: actorOfCall(call, ctx) });
      return { value: { item_id, state: 'live' } };
    }
    if (item === undefined) return refuse('item_unknown');
    if (standing === 'self' || standing === 'below' || standing === 'swarm') refuse('not_authorized', { standing });
    if (item.state !== 'quarantined') return { value: { item_id, state: item.state } };
    requireWritable(draft, store, ctx);
    return act(call, { act: 'move', store, id, state: 'live' }, ctx);
  },
};

type CameTo<A> = {
  run(draft: EntityState, args: A, ended: MemoryEnded, call: string, ctx: EntityContext): Answer | undefined;
}['run'];

/** The store of a write: the one that is named, else what its visibility means. */
function targetOf(
  { store, group, visibility }: SocietyCallOf<'memory_write_warm'>,
  ctx: EntityContext,
): string | undefined {
  if (store === 'notes') return storeOf.notes(idOf(ctx));
  if (store === 'private' || (store === undefined && visibility === 'private')) return storeOf.private(idOf(ctx));
  if (group !== undefined) return storeOf.group(group);
  const memberships = ctx.table('memberships');
  const only = memberships.size === 1 ? memberships.first() : undefined;
  return only === undefined ? undefined : storeOf.group(only[0]);
}

/** Denies the reading of a store in which the entity has no part: the gate is not asked. */
function requireReadable(draft: EntityState, store: string, ctx: EntityContext): void {
  if (!mayAsk(draft, store, ctx)) deny('visibility');
}

/** Refuses a write that the gate need not be asked about. A staging store is written by its cell alone. */
export function requireWritable(draft: EntityState, store: string, ctx: EntityContext): void {
  if (stagingOfStore(store) !== undefined || !mayAsk(draft, store, ctx)) deny('visibility');
  const group = groupOfStore(store);
  const role = group === undefined ? undefined : ctx.table('memberships').get(group);
  if (group !== undefined && (role === undefined || role === 'viewer')) deny('visibility');
  const isEmergency = draft.emcon || (group !== undefined && ctx.table('terms').get(group)?.emcon === true);
  if (isEmergency) refuse('emcon', { hint: 'Reads go on; write again when the emergency is over.' });
}

function writing(
  asked: SocietyCallOf<'memory_write_warm'>,
  store: string,
  supersedes: number | undefined,
  call: string,
  ctx: EntityContext,
): MemoryAct {
  const { content_ref, summary_ref, type, confidence_ppm = null, subject_key = null } = asked;
  const write = writeOf(store, ctx);
  const { origin, expires_at } = write;
  linkWrite(write, 'write', ctx, content_ref);
  const words = { content_ref, summary_ref, tags: [], type, confidence_ppm, subject_key };
  const operation = {
    op: 'store' as const,
    key: `call:${call}`,
    origin,
    ...words,
    expires_at,
    ...present({ supersedes }),
  };
  return { act: 'write', store, operation, quarantine: isDoubted(confidence_ppm) };
}

/** Whether an item is kept and not found until another entity validates it. */
function isDoubted(confidence_ppm: number | null): boolean {
  return confidence_ppm !== null && confidence_ppm < MEMORY_BOUNDS.quarantined_below_ppm;
}

export function tellOfItem(
  store: string,
  { of: by, item_id, type }: { readonly item_id: string; readonly type: string; readonly of?: string },
  ctx: EntityContext,
): void {
  const group = groupOfStore(store);
  if (group !== undefined) tellGroup(group, ['item', item_id, by ?? null, type], ctx);
}

/** The store of a group, or the one that holds what an agent has brought back. */
function storeFor(group: string): string {
  const staging = stagingKeyIn(group);
  return staging === undefined ? storeOf.group(group) : storeOf.staging(staging);
}

/** A client reads the words of an item by their link; a model is shown them in one text. */
function rowOf(store: string, item: ReadItem, isModel: boolean, ctx: EntityContext): Value {
  const { id, type, state, confidence_ppm, subject_key, created_at, expires_at } = item;
  const about = { item_id: itemIdOf(store, id), type, state, confidence_ppm, subject_key, created_at, expires_at };
  const words = isModel ? {} : { link: item.content_ref };
  return { ...about, ...whoseItem(item), ...words, ...aboutStaged(store, id, ctx) };
}

/** The author of an item, and where it was taken over: from whom, or by whom without a review. */
function whoseItem(item: ReadItem): Readonly<Record<string, Value>> {
  const shown = (cell: string) => entityOfAuthor(cell) ?? cell;
  const [author, of] = [shown(authorOf(item)), item.origin?.of];
  if (item.origin?.unreviewed === true) return { author, merged_by: shown(item.author) };
  return of === undefined ? { author } : { author, taken_over_from: shown(of) };
}

/** The stores that a search asks when none is named: those of the entity, of its groups, and the public one. */
function storesOf(ctx: EntityContext): readonly string[] {
  const own = [...allRows(ctx.table('stores'))].map(([store]) => store);
  const groups = [...allRows(ctx.table('memberships'))].map(([group]) => storeOf.group(group));
  return [...own, ...groups, storeOf.public];
}

function refuseFor(code: string): never {
  return isDenial(code) ? deny(checkOf(code, 'visibility')) : refuse(code.replace(/^validation_error\//, ''));
}

function act(call: string, input: MemoryAct, ctx: EntityContext): undefined {
  return startForCall(ctx, call, memoryPlan, { call, act: input });
}
