/**
 * The parent of an agent that came back: what it brought lies in a staging store until the parent has decided.
 *
 * Invariants
 * W1  Nothing reaches a target but an approved item, or one of a return that {@link mergesAlone} says so of; each is an
 *     effect of this entity, judged by its rights of that moment, one after the other.
 * W2  A write names its staging store and item: after a crash the rest follows, and none is written twice.
 * W3  What was approved and could not be written stays staged.
 * W4  The agent's hot context is told last, and only of a return of which something was taken over.
 * W5  What is merged without a review stays the agent's: it is written by this entity, and judged as the agent's.
 * W6  A return whose review is forced is approved item by item: nobody takes over at once what has diverged that far.
 */

import { formatAddress } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { refusalBy } from '@reprise/org/contracts';
import { mergesAlone } from '../../compile/automatic.js';
import { IDENTITY_BOUNDS } from '../../contracts/agent/identity.js';
import {
  agentOfStaging,
  entityAt,
  GROUP_STORE,
  stagingAt,
  stagingIdOf,
  stagingKeyIn,
  stagingKeyOf,
  stagingOfStore,
  storeOf,
} from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { News, Row } from '../../contracts/entity-parts.js';
import { itemIdOf, itemOf } from '../../contracts/memory/tools.js';
import type { returnNews } from '../../contracts/staging/returns.js';
import { comparePlan, copyPlan } from '../../plans/returns.js';
import { actorOfCall, answerCall, planOver, startPlan } from '../call/answers.js';
import { type Answer, DENIED, isDenial, type OperationsOf, refusal, refuse } from '../call/operations.js';
import { type EntityContext, type EntityHandlers, rowKeyOf } from '../context/entity.js';
import { reviewOf } from '../context/staged.js';
import { requireWritable, tellOfItem } from '../memory/memory.js';
import { tierByVerdicts } from '../memory/trust.js';
import { linkWrite, writeOf } from '../memory/writes.js';
import { mayAsk, mayOperate } from '../rights/may-ask.js';
import { changeRights } from '../rights/rights.js';

type Review = NonNullable<Row<'staged'>['review']>;

export const reviewOperations: OperationsOf<'staging_review'> = {
  staging_review: (draft, { staging_group_id, decision, items }, call, ctx) => {
    const key = stagingKeyIn(staging_group_id);
    const row = key === undefined ? undefined : ctx.table('staged').get(key);
    if (key === undefined || row === undefined || !hasArrived(row)) return refuse('staging_unknown');
    if (row.review !== null) refuse('review_under_way');
    if ((decision === 'partial') !== (items !== undefined)) refuse('items_with_partial');
    if (decision === 'approve' && reviewOf(row) === 'forced') refuse('review_forced', FORCED); // W6
    const named = (items ?? []).map((item_id) => numberOf(item_id, key, row));
    const unknown = (items ?? []).filter((_, i) => named[i] === undefined);
    if (unknown.length > 0) refuse('item_unknown', { items: unknown });
    const approved = decision === 'approve' ? row.left : row.left.filter((item) => named.includes(item));
    begin(draft, key, { call, decision, approved }, ctx);
    return undefined;
  },
};

type ReviewNews = Pick<typeof returnNews, `society/${'Stage' | 'Filled' | 'Compared' | 'Copied'}@1`>;

export const reviewHandlers: EntityHandlers<ReviewNews> = {
  // An agent of this entity has come back: its items get a store of their own, and are compared with their targets.
  'society/Stage@1': (draft, { call, agent_id, chain, divergence, willing, items }, ctx, agent) => {
    // An agent of this entity speaks for itself; one of its swarms passes on what an agent of the swarm says.
    if (agent !== null && ctx.rowKey !== agent_id) ctx.reject('not_yours');
    const table = ctx.table('staged');
    if (table.size >= IDENTITY_BOUNDS.staged) return tellAgent(agent_id, call, refusal('too_many_returns'), ctx);
    draft.staged_at = Math.max(ctx.now, draft.staged_at + 1);
    const key = stagingKeyOf(agent_id, draft.staged_at);
    const groups = items.map(({ store }) => store.slice(GROUP_STORE.length));
    const about = groups.filter((group, i) => groups.indexOf(group) === i);
    const unread = about.filter((group) => !mayAsk(draft, storeOf.group(group), ctx));
    const row: Row<'staged'> = {
      ...{ call, groups, chain, divergence, willing, unread },
      ...{ filled: false, conflicts: null, taken: false, review: null },
      left: items.map((_, i) => i + 1),
    };
    changeRights(draft, ctx, () => table.set(key, row));
    ctx.send(stagingAt(key), { name: 'society/MakeStaging@1', value: { items } });
    const targets = about
      .filter((group) => !unread.includes(group))
      .map((group) => ({ group, subjects: subjectsOf(items, group) }))
      .filter(({ subjects }) => subjects.length > 0);
    startPlan(ctx, { for: 'return', staging: key }, { plan: comparePlan, input: { staging: key, targets } });
  },
  'society/Filled@1': (draft, { code }, ctx, row) => {
    const key = rowKeyOf(ctx);
    if (code === null) return settle(draft, key, { ...row, filled: true }, ctx);
    changeRights(draft, ctx, () => ctx.table('staged').delete(key));
    if (row.call !== null) tellAgent(agentOfStaging(key), row.call, refusal('staging_failed', { cause: code }), ctx);
  },
  'society/Compared@1': (draft, { staging, conflicts, unread }, ctx) => {
    const row = rowOfPlan(staging, ctx);
    if (row === undefined) return;
    // They were found store by store: those who decide go through the items.
    const byItem = [...conflicts].sort((a, b) => a.item - b.item);
    settle(draft, staging, { ...row, conflicts: byItem, unread: [...row.unread, ...unread] }, ctx);
  },
  // An approved item was written, or was refused: the next one follows.
  'society/Copied@1': (draft, { staging, item, code, written }, ctx) => {
    const row = rowOfPlan(staging, ctx);
    if (row === undefined || row.review === null) return;
    if (code !== null || written === null) {
      const because = isDenial(code ?? '') ? DENIED : (code ?? 'internal_error');
      return goOn(draft, staging, refusedItem(row, item, because), ctx);
    }
    const store = storeOf.group(row.groups[item - 1] as string);
    const copy_id = itemIdOf(store, written.id);
    const agent_id = agentOfStaging(staging);
    const by = actorOfCall(row.review.call, ctx);
    ctx.record('society/Merged@1', { agent_id, item_id: itemIdOf(storeOf.staging(staging), item), copy_id, by });
    // SOC-84: what was merged without a review stays the agent's.
    const of = row.review.decision === 'automatic' ? { of: agent_id } : {};
    if (!written.existed && !written.quarantined)
      tellOfItem(store, { item_id: copy_id, type: written.type, ...of }, ctx);
    const review = { ...row.review, copied: [...row.review.copied, { item, id: written.id }] };
    goOn(draft, staging, { ...row, review: without(review, item) }, ctx);
  },
};

/** A plan of this entity for a return failed as a plan: what it was to find out is unknown, what it was to write stays staged. */
export function stagingPlanFailed(draft: EntityState, key: string, code: string, ctx: EntityContext): void {
  const row = ctx.table('staged').get(key);
  if (row === undefined) return;
  const [item] = row.review?.pending ?? [];
  if (item !== undefined) return goOn(draft, key, refusedItem(row, item, code.slice(0, 96)), ctx);
  settle(draft, key, { ...row, conflicts: [], unread: [...new Set(row.groups)] }, ctx);
}

/** Whether a plan is for a review that is under way. */
export function isReviewing(plan: Row<'plans'>, ctx: EntityContext): boolean {
  return plan.for === 'return' && (ctx.table('staged').get(plan.staging)?.review ?? null) !== null;
}

/** Reviews whose plans ended with the cell of this entity go on: the item of each is written now, if it was not before (W2). */
export function resumeReviews(draft: EntityState, ctx: EntityContext): void {
  const running = [...allRows(ctx.table('plans'))].map(([, purpose]) => purpose);
  for (const [key, row] of [...allRows(ctx.table('staged'))])
    if (row.review !== null && !running.some((plan) => isFor(plan, key))) goOn(draft, key, row, ctx);
}

/** Keeps what is known of an arrival; when all is, the return is shown, or merged where nothing speaks against it. */
function settle(draft: EntityState, key: string, row: Row<'staged'>, ctx: EntityContext): void {
  ctx.table('staged').set(key, row);
  if (!hasArrived(row)) return;
  const agent_id = agentOfStaging(key);
  const conflicts = row.conflicts?.length ?? 0;
  const { groups, divergence, willing } = row;
  const staging_group_id = stagingIdOf(key);
  ctx.record('society/Returned@1', { agent_id, staging_group_id, items: groups.length, divergence, conflicts });
  const tier = tierByVerdicts(agent_id, ctx);
  if (mergesAlone({ divergence, tier, willing, conflicts, unread: row.unread.length }))
    return begin(draft, key, { call: null, decision: 'automatic', approved: row.left }, ctx);
  tellReturned(key, row, false, ctx);
}

interface Decided {
  readonly call: string | null;
  readonly decision: Review['decision'];
  readonly approved: readonly number[];
}

function begin(draft: EntityState, key: string, { call, decision, approved }: Decided, ctx: EntityContext): void {
  const row = ctx.table('staged').get(key) as Row<'staged'>;
  const rejected = row.left.filter((item) => !approved.includes(item));
  const review: Review = { call, decision, pending: [...approved], copied: [], rejected, refused: [] };
  goOn(draft, key, { ...row, review }, ctx);
}

/** Writes the next approved item that this entity may write now; ends the review when none is left. */
function goOn(draft: EntityState, key: string, given: Row<'staged'>, ctx: EntityContext): void {
  let row = given;
  for (let [item] = pendingOf(row); item !== undefined; [item] = pendingOf(row)) {
    const to = storeOf.group(row.groups[item - 1] as string);
    const refused = refusalBy(() => {
      if (!mayOperate(draft)) refuse('agent_not_active');
      requireWritable(draft, to, ctx);
    });
    if (refused === undefined) {
      ctx.table('staged').set(key, row);
      return copy(key, item, to, row.review?.decision !== 'automatic', ctx);
    }
    row = refusedItem(row, item, refused.code);
  }
  if (row.review !== null) endReview(draft, key, row, row.review, ctx);
}

function copy(key: string, item: number, to: string, isReviewed: boolean, ctx: EntityContext): void {
  const write = writeOf(to, ctx);
  const { origin: own, expires_at } = write;
  linkWrite(write, 'return', ctx);
  const of = formatAddress(entityAt(agentOfStaging(key)));
  const origin = { ...own, of, ...(isReviewed ? {} : { unreviewed: true as const }) };
  const once = `return:${ctx.hash([key, item]).slice(0, 32)}`; // W2
  const input = { staging: key, item, to, key: once, origin, expires_at };
  startPlan(ctx, { for: 'return', staging: key }, { plan: copyPlan, input });
}

/** Everything asked for is written or refused: the review is answered, and a store in which nothing is left ends. */
function endReview(draft: EntityState, key: string, row: Row<'staged'>, review: Review, ctx: EntityContext): void {
  const { call, decision, copied, rejected, refused } = review;
  const agent_id = agentOfStaging(key);
  const left = refused.map(({ item }) => item);
  const taken = row.taken || copied.length > 0;
  const counts = { copied: copied.length, rejected: rejected.length, refused: refused.length };
  const by = actorOfCall(call, ctx);
  ctx.record('society/Reviewed@1', { agent_id, staging_group_id: stagingIdOf(key), decision, ...counts, by });
  if (left.length > 0) ctx.table('staged').set(key, { ...row, call: null, left, taken, review: null });
  else {
    changeRights(draft, ctx, () => ctx.table('staged').delete(key));
    ctx.send(stagingAt(key), { name: 'society/EndStaging@1', value: {} });
    if (taken && ctx.takes(entityAt(agent_id), 'society/Synced@1'))
      ctx.send(entityAt(agent_id), { name: 'society/Synced@1', value: row.chain }); // W4
  }
  if (call === null) tellReturned(key, row, left.length === 0, ctx);
  else answerCall(draft, call, reviewAnswer(key, row, review), ctx);
}

function reviewAnswer(key: string, { groups }: Row<'staged'>, { copied, rejected, refused }: Review): Answer {
  const staged = (item: number) => itemIdOf(storeOf.staging(key), item);
  const value = {
    staging_group_id: stagingIdOf(key),
    copied: copied.map(({ item, id }) => itemIdOf(storeOf.group(groups[item - 1] as string), id)),
    rejected: rejected.map(staged),
    refused: refused.map(({ item, code }) => ({ item: staged(item), code })),
  };
  const [first] = refused;
  if (first === undefined || copied.length > 0 || rejected.length > 0) return { value };
  const details = first.code === DENIED ? { detail: 'visibility' } : {};
  return refusal(first.code, { ...details, refused: value.refused });
}

function tellReturned(key: string, row: Row<'staged'>, merged: boolean, ctx: EntityContext): void {
  const { call, divergence, groups, conflicts } = row;
  if (call === null) return;
  if (ctx.table('staged').get(key) !== undefined) ctx.table('staged').set(key, { ...row, call: null, review: null });
  const value = {
    staging_group_id: stagingIdOf(key),
    divergence,
    conflicts: (conflicts ?? []).map(({ item, with: other, subject_key }) => ({
      item: itemIdOf(storeOf.staging(key), item),
      with: itemIdOf(storeOf.group(groups[item - 1] as string), other),
      subject_key,
    })),
    items: groups.length,
    merged,
    review: merged ? 'none' : reviewOf(row),
  };
  tellAgent(agentOfStaging(key), call, { value }, ctx);
}

function tellAgent(agent: string, call: string, { value, is_error = false }: Answer, ctx: EntityContext): void {
  if (!ctx.takes(entityAt(agent), 'society/Staged@1')) return;
  ctx.send(entityAt(agent), { name: 'society/Staged@1', value: { call, is_error, value } });
}

function subjectsOf(items: News<'society/Stage@1'>['items'], group: string) {
  return items.flatMap(({ store, subject_key, content_ref }, i) =>
    store !== storeOf.group(group) || subject_key === undefined ? [] : [{ item: i + 1, subject_key, content_ref }],
  );
}

function hasArrived({ filled, conflicts }: Row<'staged'>): boolean {
  return filled && conflicts !== null;
}

function numberOf(item_id: string, key: string, { left }: Row<'staged'>): number | undefined {
  const { store, id } = itemOf(item_id);
  return stagingOfStore(store) === key && left.includes(id) ? id : undefined;
}

function rowOfPlan(key: string, ctx: EntityContext): Row<'staged'> | undefined {
  if (!isFor(planOver(ctx), key)) ctx.reject('not_yours');
  return ctx.table('staged').get(key);
}

function refusedItem(row: Row<'staged'>, item: number, code: string): Row<'staged'> {
  if (row.review === null) return row;
  const review = { ...row.review, refused: [...row.review.refused, { item, code }] };
  return { ...row, review: without(review, item) };
}

function without(review: Review, item: number): Review {
  return { ...review, pending: review.pending.filter((one) => one !== item) };
}

function pendingOf({ review }: Row<'staged'>): readonly number[] {
  return review?.pending ?? [];
}

const FORCED = { hint: 'Decide partial, and name the items that you approve; or reject.' };

function isFor(plan: Row<'plans'>, key: string): boolean {
  return plan.for === 'return' && plan.staging === key;
}
