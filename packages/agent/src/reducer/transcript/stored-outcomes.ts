/**
 * Where the outcomes of a batch are stored until it ends. The state is small: it holds the fields that every result
 * has, and a table holds one entry for each file and each child, and for the answer of the owner. The fact of a settled
 * call holds its whole outcome.
 */
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type { OwnerReply } from '../../contracts/owner.js';
import type { PendingCall, SessionState, StoredDetail, StoredOutcome, ToolOutcome } from '../../contracts/state.js';
import type { Artifact } from '../../contracts/tool-call.js';
import type { ChildResult } from '../../contracts/transcript.js';

/** Stores the outcome of a call. */
export function storeOutcome(draft: SessionState, call: PendingCall, outcome: ToolOutcome, ctx: ReducerContext): void {
  const details = detailsOf(outcome);
  const at = draft.calls.indexOf(call);
  for (const [n, detail] of details.entries()) tableOf(ctx).set(keyOf(at, n), detail);
  call.outcome = { ...smallOf(outcome), details: details.length };
}

/** Reads the stored outcome of a call and deletes it. */
export function takeDetails(at: number, { details }: StoredOutcome, ctx: ReducerContext): readonly StoredDetail[] {
  const table = tableOf(ctx);
  return Array.from({ length: details }, (_, n) => {
    const detail = table.get(keyOf(at, n));
    table.delete(keyOf(at, n));
    return detail;
  }).filter((detail) => detail !== undefined);
}

/** The children among the details of a call. */
export function childrenIn(details: readonly StoredDetail[]): ChildResult[] {
  return details.flatMap((detail) => ('child' in detail ? [detail] : []));
}

/** The files among the details of a call. */
export function filesIn(details: readonly StoredDetail[]): Artifact[] {
  return details.flatMap((detail) => ('blob_ref' in detail ? [detail] : []));
}

/** The answer of the session's owner to a call. */
export function answerIn(details: readonly StoredDetail[]): OwnerReply | undefined {
  return details.flatMap((detail) => ('refs' in detail ? [detail] : []))[0];
}

function detailsOf(outcome: ToolOutcome): readonly StoredDetail[] {
  if ('children' in outcome) return outcome.children;
  if ('answer' in outcome) return [outcome.answer];
  return 'files' in outcome ? (outcome.files ?? []) : [];
}

function smallOf(outcome: ToolOutcome): Omit<StoredOutcome, 'details'> {
  if ('non_execution' in outcome) return { non_execution: outcome.non_execution };
  if ('children' in outcome) return {};
  if ('answer' in outcome) return outcome.is_error ? { is_error: true } : {};
  const { output_ref, is_error, edited_args_ref } = outcome;
  return { output_ref, is_error, ...(edited_args_ref === undefined ? {} : { edited_args_ref }) };
}

function keyOf(call: number, detail: number): string {
  return `${String(call).padStart(2, '0')}.${String(detail).padStart(2, '0')}`;
}

function tableOf(ctx: ReducerContext): Table<StoredDetail> {
  return ctx.table<StoredDetail>('details');
}
