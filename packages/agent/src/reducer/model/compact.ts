/**
 * Compaction: a model writes a summary that replaces the older part of the conversation. The transcript keeps every
 * item; only the part that the model is shown changes.
 *
 * Invariants
 * K1  Compaction happens before a step and never beside one: the call that writes the summary is the only work under
 *     way.
 * K2  Without a summary the window stays as it is. When the window only fills up, the run continues; when a model has
 *     refused it as too long, the run ends or waits for a decision.
 * K3  After a refusal, a step is tried once with a summary. When it is refused again, nothing more is removed from its
 *     window.
 */
import type { LlmGenerateParams } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import { type CompactionPolicy, mayBeCharged } from '../../contracts/config.js';
import type { compacted, compactionFailed } from '../../contracts/session.js';
import type { CurrentRun, SessionState } from '../../contracts/state.js';
import type { CompactionCause } from '../../contracts/window.js';
import { compactionPlan } from '../../plans/compaction.js';
import { callEnded, weighCall } from '../account/budget.js';
import type { Reached } from '../account/limits.js';
import type { Next } from '../run/moves.js';
import { applied, dropCommand, dropDue } from '../transcript/ends.js';
import { moveWindow, nextStart } from '../transcript/window.js';
import { fenceOf, stepParams } from './model-call.js';

/** How much of each tool result is shown when the whole conversation was too long, in bytes. */
const HEAD_BYTES = 2_048;

/** Schedules a compaction before the next step. The first reason stays. */
export function compactSoon(draft: SessionState, cause: CompactionCause, command_id: string | null = null): void {
  draft.window.due ??= { cause, command_id };
}

/** A summary that was not written becomes due before the next step, unless another summary is due already. */
export function compactLater(draft: SessionState, run: CurrentRun, ctx: ReducerContext): void {
  const { compacting } = run;
  run.compacting = null;
  if (compacting !== null) {
    const { cause, command_id } = compacting;
    if (draft.window.due === null) draft.window.due = { cause, command_id };
    else if (command_id !== null) dropCommand(draft, { command_id, type: 'Compact' }, 'replaced', ctx);
  }
  if (draft.status === 'Closed') dropDue(draft, 'closed', ctx);
}

/**
 * Requests a summary when one is due.
 *
 * @returns whether the step has to wait for it; or the limit that forbids the summary, which then stays due
 */
export function compactFirst(
  draft: SessionState,
  run: CurrentRun,
  ctx: ReducerContext,
): boolean | { readonly reached: Reached } {
  const { due, from } = draft.window;
  const policy = run.config.compaction;
  if (due === null) return false;
  if (policy === null) {
    dropDue(draft, 'compaction_off', ctx);
    return false;
  }
  draft.window.due = null;
  const to = nextStart(draft, policy.keep, due.cause);
  const weighed = weighCall(draft, run, policy.model === null ? run.config.price : policy.price);
  if (to !== undefined && weighed.reached !== undefined) {
    draft.window.due = due;
    return { reached: weighed.reached };
  }
  run.compacting = { to: to ?? from, ...due };
  if (to === undefined || weighed.reached !== undefined) {
    giveUp(draft, run, 'nothing_to_compact', ctx);
    return false;
  }
  draft.step_epoch++;
  const { reserve, ...bound } = weighed;
  const params = { ...summaryParams(draft, { run, policy, to, cause: due.cause }, ctx), ...bound };
  run.reserve = reserve;
  const { number } = run;
  ctx.record('aos.agent/CompactionStarted@1', { run: number, cause: due.cause, model: params.model, from, to });
  run.step_plan = ctx.emit({ plan: compactionPlan, input: { ...fenceOf(draft), params } });
  return true;
}

interface Summary {
  readonly run: CurrentRun;
  readonly policy: CompactionPolicy;
  readonly to: number;
  readonly cause: CompactionCause;
}

/**
 * The prompt of the summary repeats the conversation as the step would show it, tools included, so that the provider
 * can reuse its cache.
 */
function summaryParams(
  draft: SessionState,
  { run, policy, to, cause }: Summary,
  ctx: ReducerContext,
): LlmGenerateParams {
  const { response_format_ref: _, ...params } = stepParams(draft, run, ctx);
  const head = cause === 'context_limit' ? { head: HEAD_BYTES } : {};
  return {
    ...params,
    model: policy.model ?? params.model,
    tool_choice: 'none',
    context: run.context ?? [],
    summarise: { to, ask_ref: policy.ask_ref, ...head },
  };
}

/** A summary was written: from now on it stands in the window for all items before it. */
export function windowCompacted(draft: SessionState, value: z.infer<typeof compacted>, ctx: ReducerContext): Next {
  const { run } = draft;
  const made = run?.compacting ?? null;
  if (run === null || made === null) return undefined;
  const { base_ref, usage } = value;
  const { from } = draft.window;
  run.step_plan = null;
  callEnded(draft, run, { usage, charged: true, isOver: true }, ctx);
  moveWindow(draft, made.to, base_ref);
  draft.context_pressure = 0; // the next reading measures another window
  const tally = { ...run.tally };
  ctx.record('aos.agent/ContextCompacted@1', {
    run: run.number,
    cause: made.cause,
    from,
    to: made.to,
    base_ref,
    tally,
  });
  const command_id = finish(run);
  if (command_id !== null) applied(draft, { command_id, type: 'Compact' }, ctx);
  return draft.stopping === null ? { do: 'step' } : { do: 'settle' };
}

/** The summary was not written. */
export function compactionGaveUp(
  draft: SessionState,
  { code, usage }: z.infer<typeof compactionFailed>,
  ctx: ReducerContext,
): Next {
  const { run } = draft;
  const made = run?.compacting ?? null;
  if (run === null || made === null) return undefined;
  callEnded(draft, run, { usage, charged: mayBeCharged(code) }, ctx);
  run.step_plan = null;
  giveUp(draft, run, code, ctx);
  if (draft.stopping !== null) return { do: 'settle' };
  return made.cause === 'context_limit' ? { do: 'overlong' } : { do: 'step' }; // K2
}

function giveUp(draft: SessionState, run: CurrentRun, code: string, ctx: ReducerContext): void {
  const cause = run.compacting?.cause ?? 'command';
  ctx.record('aos.agent/CompactionGaveUp@1', { run: run.number, cause, code });
  const command_id = finish(run);
  if (command_id !== null) dropCommand(draft, { command_id, type: 'Compact' }, 'compaction_failed', ctx);
}

/** @returns the command that requested the summary, if one did */
function finish(run: CurrentRun): string | null {
  const command_id = run.compacting?.command_id ?? null;
  run.compacting = null;
  return command_id;
}
