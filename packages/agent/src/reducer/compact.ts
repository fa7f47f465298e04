/**
 * Making room: the older part of the conversation is replaced by a summary that a model writes. The transcript keeps
 * every item; only what the model is shown moves on.
 *
 * Invariants
 * K1  It is done before a step and never beside one: nothing is under way but the call that writes the summary.
 * K2  Without a summary nothing moves. A window that fills up is then used as it is; one that a model has refused as too
 *     long ends the run, or waits for somebody to decide.
 * K3  A step is tried once behind a summary; refused again, nothing more is taken from its window.
 */
import type { LlmGenerateParams } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type * as z from 'zod';
import type { CompactionPolicy } from '../contracts/config.js';
import type { compacted, compactionFailed } from '../contracts/session.js';
import type { CurrentRun, SessionState } from '../contracts/state.js';
import type { CompactionCause } from '../contracts/window.js';
import { compactionPlan } from '../plans/compaction.js';
import { callEnded, mayBeCharged, weighCall } from './budget.js';
import { applied, dropCommand, dropDue } from './ends.js';
import type { Reached } from './limits.js';
import { fenceOf, stepParams } from './model-call.js';
import type { Next } from './moves.js';
import { moveWindow, nextStart } from './window.js';

/** How much is told of each tool's result where the whole was too long already, in bytes. */
const HEAD_BYTES = 2_048;

/** Has room made before the next step. What was asked for first is why. */
export function compactSoon(draft: SessionState, cause: CompactionCause, command_id: string | null = null): void {
  draft.window.due ??= { cause, command_id };
}

/**
 * Asks for a summary where one is due.
 *
 * @returns whether the step has to wait for it; or the limit that forbids the summary, which stays due
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

/** The conversation as the step would tell it, tools included, so that what a provider has kept of it is of use. */
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

/** A summary was written: it is what the model is shown from now on of all that was before. */
export function windowCompacted(draft: SessionState, value: z.infer<typeof compacted>, ctx: ReducerContext): Next {
  const { run } = draft;
  const made = run?.compacting ?? null;
  if (run === null || made === null) return undefined;
  const { base_ref, usage } = value;
  const { from } = draft.window;
  run.step_plan = null;
  callEnded(draft, run, { usage, charged: false }, ctx);
  moveWindow(draft, made.to, base_ref);
  draft.context_pressure = 0; // the next reading is of another window
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

/** No summary was written. */
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

/** @returns the command that asked for the summary, if one did */
function finish(run: CurrentRun): string | null {
  const command_id = run.compacting?.command_id ?? null;
  run.compacting = null;
  return command_id;
}
