/** One step: a model call and its answer. */

import type * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import { mayBeCharged } from '../../contracts/config.js';
import type { StopReason } from '../../contracts/lifecycle.js';
import type { llmStepCompleted, llmStepFailed } from '../../contracts/session.js';
import type { CurrentRun, SessionState } from '../../contracts/state.js';
import { llmStepPlan } from '../../plans/llm-step.js';
import { callEnded, weighCall } from '../account/budget.js';
import { asSteered, type Reached, stepLimit, tellBudgetPressure, tellContextPressure } from '../account/limits.js';
import { childWorks } from '../call/children.js';
import { waitBehindChildren } from '../call/waiting.js';
import type { Next } from '../run/moves.js';
import { applied } from '../transcript/ends.js';
import { countRead, tokensIn } from '../transcript/prompt-size.js';
import { refuseCalls, settleCall } from '../transcript/results.js';
import { appendItem, place, sayToModel, tellOwner } from '../transcript/say.js';
import { CONTEXT_LIMIT } from '../transcript/window.js';
import { compactFirst, compactSoon } from './compact.js';
import { fenceOf, stepParams } from './model-call.js';
import { refreshToolsets } from './toolsets.js';

/** How often a model call that timed out is retried. */
const RETRIES_MAX = 1;

/**
 * Calls the model, unless a limit or a pause forbids it. Waiting steers are taken up first, but only when the step does
 * follow.
 *
 * @param refreshed whether the toolsets have just been refreshed
 */
export function startStep(draft: SessionState, refreshed: boolean, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null || draft.stopping !== null) return undefined;
  draft.suspended = draft.lifecycle === 'Paused' ? 'step' : null;
  if (draft.suspended !== null) return undefined;
  const reached = stepLimit(asSteered(draft, run), ctx.now);
  if (reached !== undefined) return { do: 'limit', reached, next: 'step' };
  measureWindow(draft, ctx);
  const compacts = compactFirst(draft, run, ctx);
  if (typeof compacts === 'object') return meetBudget(draft, compacts.reached, ctx);
  if (compacts) return undefined;
  const weighed = weighCall(draft, run, run.config.price);
  if (weighed.reached !== undefined) return meetBudget(draft, weighed.reached, ctx);
  if (!refreshed && refreshToolsets(draft, ctx)) return undefined;
  takeSteers(draft, run, ctx);
  draft.step_epoch++;
  const { config, config_rev } = run;
  ctx.record('aos.agent/LlmStepRequested@1', { ...place(draft), model: config.model, config_rev });
  const { reserve, ...bound } = weighed;
  const params = { ...stepParams(draft, run, ctx), ...bound };
  run.reserve = reserve;
  run.step_plan = ctx.emit({ plan: llmStepPlan, input: { ...fenceOf(draft), params } });
  return undefined;
}

/** Handles a model call that exceeds the budget. When children may still return enough, the step waits for them. */
function meetBudget(draft: SessionState, reached: Reached, ctx: ReducerContext): Next {
  const { used, of, needs = 0 } = reached;
  if (used + needs > of || !childWorks(draft, ctx)) return { do: 'limit', reached, next: 'step' };
  waitBehindChildren(draft, ctx);
  return undefined;
}

/** Another model has another window, so the last reading is compared with that window before its first step. */
function measureWindow(draft: SessionState, ctx: ReducerContext): void {
  const { reading } = draft.window;
  if (reading !== null && reading.of !== (draft.run?.config.context_window ?? null)) tellReading(draft, reading, ctx);
}

/** Begins the step with the waiting steers. */
function takeSteers(draft: SessionState, run: CurrentRun, ctx: ReducerContext): void {
  for (const { command_id, parts, pin } of draft.steers)
    sayToModel(draft, 'steer', { command_id, parts, ...(pin === undefined ? {} : { pin }) }, ctx);
  run.tally.steps++;
  for (const { command_id } of draft.steers) applied(draft, { command_id, type: 'Steer' }, ctx);
  draft.steers = [];
}

/** Takes a model's answer to the current step. */
export function stepCompleted(draft: SessionState, value: z.infer<typeof llmStepCompleted>, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  run.retries = 0;
  run.squeezed = false;
  run.context ??= value.context ?? null;
  const { finish_reason, output_ref, by, tool_calls } = value;
  const interrupted = finish_reason === 'interrupted';
  callEnded(draft, run, { usage: value.usage, charged: true, isOver: !interrupted }, ctx);
  run.step_plan = null;
  const calls = tool_calls.map(({ call_id, tool, args_ref }) => ({ call_id, tool, args_ref }));
  const dropped = value.dropped_calls === undefined ? {} : { dropped_calls: value.dropped_calls };
  const stopped = interrupted ? { interrupted: true as const } : {};
  appendItem(draft, { role: 'assistant', output_ref, by, calls, ...dropped, ...stopped }, ctx);
  const warnings = value.warnings_ref === undefined ? {} : { warnings_ref: value.warnings_ref };
  ctx.record('aos.agent/LlmStepAnswered@1', {
    ...place(draft),
    output_ref,
    finish_reason,
    calls: calls.map(({ call_id }) => call_id),
    ...dropped,
    tally: { ...run.tally },
    ...warnings,
  });
  tellPressure(draft, value, ctx);
  run.output_ref = output_ref;
  run.value_ref = value.returns !== undefined && 'value_ref' in value.returns ? value.returns.value_ref : null;
  run.issue_ref = value.returns !== undefined && 'issue_ref' in value.returns ? value.returns.issue_ref : null;
  run.truncated = finish_reason === 'length';
  const failure = failureBy(finish_reason);
  if (draft.stopping !== null || failure !== undefined) refuseCalls(draft, tool_calls, 'cancelled', ctx);
  if (draft.stopping !== null) return { do: 'settle' };
  if (failure !== undefined) return { do: 'end', stop: failure };
  if (tool_calls.length > 0) return { do: 'calls', calls: tool_calls };
  // Its adapter was stopped but the run was not: the model continues after its partial answer.
  return interrupted ? { do: 'step' } : { do: 'finish' };
}

function failureBy(finish: string): StopReason | undefined {
  if (finish === 'error') return failed('provider_error_terminal');
  return finish === 'content_filter' ? failed('provider_error_terminal/refusal') : undefined;
}

function failed(code: 'provider_error_terminal' | 'provider_error_terminal/refusal'): StopReason {
  return { kind: 'Failed', code, retryable: false, stage: 'llm_step' };
}

/** Takes the final failure of the current model call; its adapter has already made its own retries. */
export function stepFailed(draft: SessionState, value: z.infer<typeof llmStepFailed>, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  const { code, retryable } = value;
  callEnded(draft, run, { usage: value.usage, charged: mayBeCharged(code) }, ctx);
  run.step_plan = null;
  const again = code === 'adapter_timeout' && run.retries < RETRIES_MAX && draft.stopping === null;
  ctx.record('aos.agent/LlmStepGaveUp@1', { ...place(draft), code, retryable, again });
  if (draft.stopping !== null) return { do: 'settle' };
  if (code === CONTEXT_LIMIT) return { do: 'overlong' };
  if (!again) return { do: 'end', stop: { kind: 'Failed', code, retryable, stage: 'llm_step' } };
  run.retries++;
  return { do: 'step' };
}

/** Handles a plan of the run that failed by its own fault: its report may be incomplete. */
export function planFailed(draft: SessionState, ordinal: number, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  const call = draft.calls.find(({ plan, phase }) => plan === ordinal && phase !== 'settled');
  if (run.step_plan !== ordinal && call === undefined) return undefined;
  if (run.step_plan === ordinal) {
    callEnded(draft, run, { usage: undefined, charged: true }, ctx);
    run.step_plan = null;
  }
  const code = 'internal_invariant_violation';
  if (call !== undefined) settleCall(draft, call, { non_execution: { kind: 'outcome_unknown', code } }, ctx);
  if (draft.stopping !== null) return { do: 'settle' };
  const stop: StopReason = { kind: 'Failed', code, retryable: false, stage: 'plan' };
  return { do: 'stop', stopping: { commands: [], stop } };
}

function tellPressure(
  draft: SessionState,
  { usage, request_bytes }: z.infer<typeof llmStepCompleted>,
  ctx: ReducerContext,
): void {
  // A call whose request was sent again counts the prompt once for each attempt that reported usage.
  const attempts = Math.max(1, usage?.calls ?? 1);
  const counted = usage?.tokens_in === undefined ? undefined : Math.ceil(usage.tokens_in / attempts);
  const reading =
    counted === undefined
      ? { tokens: tokensIn(request_bytes), by: 'bytes' as const }
      : { tokens: counted + (usage?.tokens_out ?? 0), by: 'usage' as const };
  tellReading(draft, reading, ctx);
  countRead(draft);
  const budget = tellBudgetPressure(draft, ctx);
  if (budget !== undefined) tellOwner(draft, { kind: 'pressure', of: 'budget', level: budget }, ctx);
}

/**
 * Reports how full the window is; at the level that the definition states, a compaction becomes due before the next
 * step.
 */
function tellReading(
  draft: SessionState,
  { tokens, by }: { readonly tokens: number; readonly by: 'usage' | 'bytes' },
  ctx: ReducerContext,
): void {
  draft.window.reading = { tokens, by, of: draft.run?.config.context_window ?? null };
  const level = tellContextPressure(draft, { tokens, by }, ctx);
  if (level === undefined) return;
  tellOwner(draft, { kind: 'pressure', of: 'context', level }, ctx);
  const policy = draft.run?.config.compaction ?? null;
  if (policy !== null && level >= policy.at) compactSoon(draft, 'pressure');
}
