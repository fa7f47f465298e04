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

import { formatAddress, type Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import { mergesAlone } from '../compile/automatic.js';
import {
  type Arrival,
  agentOfStaging,
  type EntityState,
  entityAt,
  IDENTITY_BOUNDS,
  itemIdOf,
  itemOf,
  returnCalls,
  type returnNews,
  type StagedRow,
  stagingAt,
  stagingIdOf,
  stagingKeyIn,
  stagingKeyOf,
  stagingOfStore,
  storeOf,
} from '../contracts/index.js';
import { comparePlan, copyPlan } from '../plans/returns.js';
import { actorOfCall } from './actors.js';
import { answerCall } from './answers.js';
import { callOfPlan, startPlan } from './call-plans.js';
import { rowKeyOf } from './caller.js';
import { mayAsk, mayOperate } from './may-ask.js';
import { refusedWrite, tellGroup } from './memory.js';
import { writeOf } from './memory-writes.js';
import { type Answer, denied, type Operations, operation, refusal } from './operations.js';
import { changeRights } from './rights.js';
import { reviewOf, stagedTable } from './staged.js';
import { tierByVerdicts } from './trust.js';

type News<N extends keyof typeof returnNews> = z.infer<(typeof returnNews)[N]['schema']>;
type Review = NonNullable<StagedRow['review']>;

/** The operation of a parent that decides. */
export const reviewOperations: Operations = {
  staging_review: operation(returnCalls.staging_review, {
    run: (draft: EntityState, { staging_group_id, decision, items }, call, ctx) => {
      const key = stagingKeyIn(staging_group_id);
      const row = key === undefined ? undefined : stagedTable(ctx).get(key);
      if (key === undefined || row === undefined || !hasArrived(row)) return refusal('staging_unknown');
      if (row.review !== null) return refusal('review_under_way');
      if ((decision === 'partial') !== (items !== undefined)) return refusal('items_with_partial');
      if (decision === 'approve' && reviewOf(row) === 'forced') return refusal('review_forced', FORCED); // W6
      const named = (items ?? []).map((item_id) => numberOf(item_id, key, row));
      const unknown = (items ?? []).filter((_, i) => named[i] === undefined);
      if (unknown.length > 0) return refusal('item_unknown', { items: unknown });
      const approved = decision === 'approve' ? row.left : row.left.filter((item) => named.includes(item));
      begin(draft, key, { call, decision, approved }, ctx);
      return undefined;
    },
  }),
};

/** An agent of this entity has come back: its items get a store of their own, and are compared with their targets. */
export function arrived(draft: EntityState, arrival: Arrival, ctx: ReducerContext): void {
  const { call, agent_id, chain, divergence, willing, items } = arrival;
  const table = stagedTable(ctx);
  if (table.size >= IDENTITY_BOUNDS.staged) return tellAgent(agent_id, call, refusal('too_many_returns'), ctx);
  draft.staged_at = Math.max(ctx.now, draft.staged_at + 1);
  const key = stagingKeyOf(agent_id, draft.staged_at);
  const groups = items.map(({ store }) => store.slice(GROUP_STORE.length));
  const about = groups.filter((group, i) => groups.indexOf(group) === i);
  const unread = about.filter((group) => !mayAsk(draft, storeOf.group(group), ctx));
  const row: StagedRow = {
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
  startPlan(ctx, planTag(key), comparePlan, { staging: key, targets });
}

/** The staging store has its items, or could not be filled. */
export function stagingFilled(
  draft: EntityState,
  { code }: News<'society/Filled@1'>,
  row: StagedRow,
  ctx: ReducerContext,
): void {
  const key = rowKeyOf(ctx);
  if (code === null) return settle(draft, key, { ...row, filled: true }, ctx);
  changeRights(draft, ctx, () => stagedTable(ctx).delete(key));
  if (row.call !== null) tellAgent(agentOfStaging(key), row.call, refusal('staging_failed', { cause: code }), ctx);
}

/** The items were compared with their targets. */
export function stagingCompared(
  draft: EntityState,
  { staging, conflicts, unread }: News<'society/Compared@1'>,
  ctx: ReducerContext,
): void {
  const row = rowOfPlan(callOfPlan(ctx), staging, ctx);
  if (row !== undefined) settle(draft, staging, { ...row, conflicts, unread: [...row.unread, ...unread] }, ctx);
}

/** An approved item was written, or was refused: the next one follows. */
export function itemCopied(draft: EntityState, news: News<'society/Copied@1'>, ctx: ReducerContext): void {
  const { staging, item, code, written } = news;
  const row = rowOfPlan(callOfPlan(ctx), staging, ctx);
  if (row === undefined || row.review === null) return;
  if (code !== null || written === null)
    return goOn(draft, staging, refusedItem(row, item, isDenial(code) ? DENIED : (code ?? 'internal_error')), ctx);
  const store = storeOf.group(row.groups[item - 1] as string);
  const copy_id = itemIdOf(store, written.id);
  const item_id = itemIdOf(storeOf.staging(staging), item);
  const by = actorOfCall(row.review.call, ctx);
  ctx.record('society/Merged@1', { agent_id: agentOfStaging(staging), item_id, copy_id, by });
  // SOC-84: what was merged without a review stays the agent's.
  const of = row.review.decision === 'automatic' ? { of: agentOfStaging(staging) } : {};
  if (!written.existed && !written.quarantined) tellGroup(store, { item_id: copy_id, type: written.type, ...of }, ctx);
  const review = { ...row.review, copied: [...row.review.copied, { item, id: written.id }] };
  goOn(draft, staging, { ...row, review: without(review, item) }, ctx);
}

/** A plan of this entity for a return failed as a plan: what it was to find out is unknown, what it was to write stays staged. */
export function stagingPlanFailed(draft: EntityState, tag: string, code: string, ctx: ReducerContext): void {
  const key = tag.slice(PLAN_TAG.length);
  const row = tag.startsWith(PLAN_TAG) ? stagedTable(ctx).get(key) : undefined;
  if (row === undefined) return;
  const [item] = row.review?.pending ?? [];
  if (item !== undefined) return goOn(draft, key, refusedItem(row, item, code.slice(0, 96)), ctx);
  settle(draft, key, { ...row, conflicts: [], unread: [...new Set(row.groups)] }, ctx);
}

/** Whether a plan is for a review that is under way. */
export function isReviewing(tag: string, ctx: ReducerContext): boolean {
  if (!tag.startsWith(PLAN_TAG)) return false;
  return (stagedTable(ctx).get(tag.slice(PLAN_TAG.length))?.review ?? null) !== null;
}

/** The plan of a review ended with the cell of this entity: its item is written now, if it was not before (W2). */
export function resumeReview(draft: EntityState, tag: string, ctx: ReducerContext): void {
  const key = tag.slice(PLAN_TAG.length);
  const row = stagedTable(ctx).get(key);
  if (row !== undefined) goOn(draft, key, row, ctx);
}

/** Keeps what is known of an arrival; when all is, the return is shown, or merged where nothing speaks against it. */
function settle(draft: EntityState, key: string, row: StagedRow, ctx: ReducerContext): void {
  stagedTable(ctx).set(key, row);
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

function begin(draft: EntityState, key: string, { call, decision, approved }: Decided, ctx: ReducerContext): void {
  const row = stagedTable(ctx).get(key) as StagedRow;
  const rejected = row.left.filter((item) => !approved.includes(item));
  const review: Review = { call, decision, pending: [...approved], copied: [], rejected, refused: [] };
  goOn(draft, key, { ...row, review }, ctx);
}

/** Writes the next approved item that this entity may write now; ends the review when none is left. */
function goOn(draft: EntityState, key: string, given: StagedRow, ctx: ReducerContext): void {
  let row = given;
  for (let [item] = pendingOf(row); item !== undefined; [item] = pendingOf(row)) {
    const to = storeOf.group(row.groups[item - 1] as string);
    const refused = mayOperate(draft) ? refusedWrite(draft, to, ctx) : refusal('agent_not_active');
    if (refused === undefined) {
      stagedTable(ctx).set(key, row);
      return copy({ key, item, to, isReviewed: row.review?.decision !== 'automatic' }, ctx);
    }
    const { code, error } = refused.value as { readonly code?: string; readonly error?: string };
    row = refusedItem(row, item, code ?? error ?? 'refused');
  }
  if (row.review !== null) endReview(draft, key, row, row.review, ctx);
}

function copy(
  {
    key,
    item,
    to,
    isReviewed,
  }: { readonly key: string; readonly item: number; readonly to: string; readonly isReviewed: boolean },
  ctx: ReducerContext,
): void {
  const { origin: own, expires_at } = writeOf(to, ctx);
  const { message: id } = own;
  const of = formatAddress(entityAt(agentOfStaging(key)));
  const origin = { ...own, of, ...(isReviewed ? {} : { unreviewed: true as const }) };
  ctx.record('memory/Linked@1', { kind: 'message', id, title: `return ${id}`, from: [] });
  const once = `return:${ctx.hash([key, item]).slice(0, 32)}`; // W2
  startPlan(ctx, planTag(key), copyPlan, { staging: key, item, to, key: once, origin, expires_at });
}

/** Everything asked for is written or refused: the review is answered, and a store in which nothing is left ends. */
function endReview(draft: EntityState, key: string, row: StagedRow, review: Review, ctx: ReducerContext): void {
  const { call, decision, copied, rejected, refused } = review;
  const agent_id = agentOfStaging(key);
  const left = refused.map(({ item }) => item);
  const taken = row.taken || copied.length > 0;
  const counts = { copied: copied.length, rejected: rejected.length, refused: refused.length };
  const by = actorOfCall(call, ctx);
  ctx.record('society/Reviewed@1', { agent_id, staging_group_id: stagingIdOf(key), decision, ...counts, by });
  if (left.length > 0) stagedTable(ctx).set(key, { ...row, call: null, left, taken, review: null });
  else {
    changeRights(draft, ctx, () => stagedTable(ctx).delete(key));
    ctx.send(stagingAt(key), { name: 'society/EndStaging@1', value: {} });
    if (taken && ctx.takes(entityAt(agent_id), 'society/Synced@1'))
      ctx.send(entityAt(agent_id), { name: 'society/Synced@1', value: row.chain }); // W4
  }
  if (call === null) tellReturned(key, row, left.length === 0, ctx);
  else answerCall(draft, call, reviewAnswer(key, row, review), ctx);
}

function reviewAnswer(key: string, { groups }: StagedRow, { copied, rejected, refused }: Review): Answer {
  const staged = (item: number) => itemIdOf(storeOf.staging(key), item);
  const value = {
    staging_group_id: stagingIdOf(key),
    copied: copied.map(({ item, id }) => itemIdOf(storeOf.group(groups[item - 1] as string), id)),
    rejected: rejected.map(staged),
    refused: refused.map(({ item, code }) => ({ item: staged(item), code })),
  };
  const [first] = refused;
  if (first === undefined || copied.length > 0 || rejected.length > 0) return { value };
  const answer = first.code === DENIED ? denied('cap_denied', 'visibility') : refusal(first.code);
  return { ...answer, value: { ...(answer.value as { readonly [key: string]: Value }), refused: value.refused } };
}

function tellReturned(key: string, row: StagedRow, merged: boolean, ctx: ReducerContext): void {
  const { call, divergence, groups, conflicts } = row;
  if (call === null) return;
  if (stagedTable(ctx).get(key) !== undefined) stagedTable(ctx).set(key, { ...row, call: null, review: null });
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

function tellAgent(agent: string, call: string, { value, is_error = false }: Answer, ctx: ReducerContext): void {
  if (!ctx.takes(entityAt(agent), 'society/Staged@1')) return;
  ctx.send(entityAt(agent), { name: 'society/Staged@1', value: { call, is_error, value } });
}

function subjectsOf(items: Arrival['items'], group: string) {
  return items.flatMap(({ store, subject_key, content_ref }, i) =>
    store !== storeOf.group(group) || subject_key === undefined ? [] : [{ item: i + 1, subject_key, content_ref }],
  );
}

function hasArrived({ filled, conflicts }: StagedRow): boolean {
  return filled && conflicts !== null;
}

function numberOf(item_id: string, key: string, { left }: StagedRow): number | undefined {
  const { store, id } = itemOf(item_id);
  return stagingOfStore(store) === key && left.includes(id) ? id : undefined;
}

function rowOfPlan(tag: string, key: string, ctx: ReducerContext): StagedRow | undefined {
  if (tag !== planTag(key)) ctx.reject('not_yours');
  return stagedTable(ctx).get(key);
}

function refusedItem(row: StagedRow, item: number, code: string): StagedRow {
  if (row.review === null) return row;
  const review = { ...row.review, refused: [...row.review.refused, { item, code }] };
  return { ...row, review: without(review, item) };
}

function without(review: Review, item: number): Review {
  return { ...review, pending: review.pending.filter((one) => one !== item) };
}

function pendingOf({ review }: StagedRow): readonly number[] {
  return review?.pending ?? [];
}

function isDenial(code: string | null): boolean {
  return code !== null && (code.startsWith('cap_denied') || code.startsWith('policy_denied') || code === 'denied');
}

const DENIED = 'capability_denied';

const FORCED = { hint: 'Decide partial, and name the items that you approve; or reject.' };

/** Begins what a plan is known by, for the return whose key follows. */
const PLAN_TAG = 'staged.';

function planTag(key: string): string {
  return `${PLAN_TAG}${key}`;
}

const GROUP_STORE = 'group:';
