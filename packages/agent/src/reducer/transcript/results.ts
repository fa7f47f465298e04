/** Writes calls and their results to the transcript: together, in the order of the calls. */
import { endOfText, type LlmToolCall } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { NonExecution } from '../../contracts/non-execution.js';
import type { ChildEntry, PendingCall, SessionState, StoredOutcome, ToolOutcome } from '../../contracts/state.js';
import type { Artifact } from '../../contracts/tool-call.js';
import type { ChildResult, TranscriptItem } from '../../contracts/transcript.js';
import { markOfOutcome } from './loops.js';
import { bytesOfChild, bytesOfFiles, countEstimate, countUnread } from './prompt-size.js';
import { appendItem, place } from './say.js';
import { RESULT_FILES_BYTES_MAX, sizeOf } from './sizes.js';
import { answerIn, childrenIn, filesIn, storeOutcome, takeDetails } from './stored-outcomes.js';
import { closeTurnCalls } from './turn-calls.js';

/**
 * Settles a call with its outcome. Once a call may have happened, no later outcome may claim that it did not.
 *
 * @param bytes the bytes of the outcome that a model is shown, where known
 */
export function settleCall(
  draft: SessionState,
  call: PendingCall,
  given: ToolOutcome,
  ctx: ReducerContext,
  bytes?: number,
): void {
  const unknown = call.unknown > 0 && 'non_execution' in given;
  const outcome: ToolOutcome = unknown ? { non_execution: { ...given.non_execution, kind: 'outcome_unknown' } } : given;
  storeOutcome(draft, call, outcome, ctx);
  closeTurnCalls(call, ctx);
  if (draft.run !== null && draft.run.config.loop !== null) call.mark = markOfOutcome(outcome);
  if (call.outcome !== null && bytes !== undefined) call.outcome.bytes = bytes;
  call.phase = 'settled';
  const { call_id, tool } = call;
  ctx.record('aos.agent/ToolCallSettled@1', { ...place(draft), call_id, tool, outcome });
}

/**
 * Appends the results of the step's calls to the transcript; every call has a result by then. Late answers follow them.
 */
export function appendResults(draft: SessionState, ctx: ReducerContext): void {
  for (const [at, call] of draft.calls.entries()) {
    const item = resultOf(call, at, ctx);
    countUnread(draft, call.outcome?.bytes);
    countEstimate(draft, bytesOfFiles(item.files ?? []) + bytesOfChildren(item.children ?? [], ctx));
    appendItem(draft, item, ctx);
  }
  for (const item of draft.late) appendItem(draft, item, ctx);
  Object.assign(draft, { calls: [], late: [] });
}

function bytesOfChildren(children: readonly ChildResult[], ctx: ReducerContext): number {
  const table = ctx.table<ChildEntry>('children');
  const tokens = children.map(({ child, output_ref }) => (output_ref && table.get(child)?.tally.tokens_out) ?? 0);
  return tokens.reduce((sum, said) => sum + bytesOfChild(said), 0);
}

/** Answers calls that are not executed at all. */
export function refuseCalls(
  draft: SessionState,
  calls: readonly LlmToolCall[],
  kind: NonExecution['kind'],
  ctx: ReducerContext,
): void {
  for (const { call_id, tool } of calls) {
    const outcome = { non_execution: { kind } };
    ctx.record('aos.agent/ToolCallSettled@1', { ...place(draft), call_id, tool, outcome });
    appendItem(draft, { role: 'tool', call_id, tool, non_execution: { kind }, is_error: true }, ctx);
  }
}

function resultOf({ call_id, tool, outcome, note_ref }: PendingCall, at: number, ctx: ReducerContext): ToolItem {
  const base = { role: 'tool' as const, call_id, tool, ...(note_ref === undefined ? {} : { note_ref }) };
  const { details: _, bytes: __, non_execution, is_error = false, ...text } = outcome ?? UNKNOWN;
  if (non_execution !== undefined) return { ...base, non_execution, is_error: true };
  const details = takeDetails(at, outcome ?? UNKNOWN, ctx);
  const answer = answerIn(details);
  if (answer !== undefined) return { ...base, answer, is_error };
  if (text.output_ref === undefined) return { ...base, children: childrenIn(details), is_error };
  const files = fitted(filesIn(details));
  return { ...base, ...text, is_error, ...(files.length === 0 ? {} : { files }) };
}

type ToolItem = TranscriptItem & { readonly role: 'tool' };

/** The length to which paths are shortened when they are too large together: sixteen files with any names then fit. */
const PATH_LENGTH_MAX = 64;

/**
 * The files as the transcript stores them. When they are too large, only the end of each path is stored; the fact has
 * the whole path.
 */
function fitted(files: readonly Artifact[]): Artifact[] {
  if (sizeOf(files) <= RESULT_FILES_BYTES_MAX) return [...files];
  return files.map((file) => ({ ...file, path: endOfText(file.path, PATH_LENGTH_MAX) }));
}

/** The outcome of a call without one. This never happens when a batch ends; the fallback keeps the types total. */
const UNKNOWN: StoredOutcome = { non_execution: { kind: 'outcome_unknown' }, details: 0 };
