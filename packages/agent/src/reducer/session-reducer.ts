/**
 * `aos.agent/SessionReducer@1`: the loop of an agent, as a pure reducer.
 *
 * user input → llm_step_plan → model answer → tool_call_plan for each call → results → llm_step_plan → … → end.
 *
 * Invariants
 * S1  Every event has exactly one handler; none throws on any state: what does not fit is rejected or recorded.
 * S2  A result counts only under the epochs it was started with; a late one is a `StaleIgnored` fact.
 * S3  The transcript never holds a call without a result: results are appended together, in the order of the calls.
 * S4  State does not grow with the session's age: what grows is in the transcript log.
 */
import { type LlmToolCall, planAddress } from '@reprise/contracts';
import {
  creates,
  defineReducer,
  type EventHandlers,
  type EventOf,
  handledBy,
  type ReducerContext,
} from '@reprise/kernel/define';
import * as z from 'zod';
import type { NonExecution } from '../contracts/non-execution.js';
import type { Lifecycle, PendingCall, SessionState, StopReason } from '../contracts/session.js';
import * as contract from '../contracts/session.js';
import { transcriptItem } from '../contracts/transcript.js';
import { llmStepPlan } from '../plans/llm-step.js';
import { toolCallPlan } from '../plans/tool-call.js';

const EVENTS = {
  'aos.agent/AgentAdopted@1': creates(contract.agentAdopted),
  'aos.agent/UserInput@1': contract.userInput,
  'aos.agent/LlmStepCompleted@1': contract.llmStepCompleted,
  'aos.agent/LlmStepFailed@1': contract.llmStepFailed,
  'aos.agent/ToolResult@1': contract.toolResult,
  'sys/PlanFailed@1': z.strictObject({ plan: planAddress, name: z.string(), code: z.string() }),
} as const;

type Events = EventOf<typeof EVENTS>;

const HANDLERS: EventHandlers<SessionState, typeof EVENTS> = {
  'aos.agent/AgentAdopted@1': (draft, { def_ref, config }) => {
    draft.def_ref = def_ref;
    draft.config = config;
  },
  'aos.agent/UserInput@1': (draft, { text_ref }, ctx) => {
    const queued = draft.lifecycle === 'Running';
    if (queued && draft.queue.length >= QUEUE_MAX) ctx.reject('queue_full');
    const input = { run: draft.runs++, text_ref };
    ctx.record('aos.agent/InputAccepted@1', { ...input, queued });
    if (queued) draft.queue.push(input);
    else startRun(draft, input, ctx);
  },
  'aos.agent/LlmStepCompleted@1': (draft, value, ctx) => {
    if (isStale(draft, value, 'aos.agent/LlmStepCompleted@1', ctx)) return;
    const run = draft.run;
    if (run !== null) {
      run.tokens_in += value.usage?.tokens_in ?? 0;
      run.tokens_out += value.usage?.tokens_out ?? 0;
    }
    const calls = value.tool_calls.map(({ call_id, tool, args_ref }) => ({ call_id, tool, args_ref }));
    ctx.append('transcript', { role: 'assistant', output_ref: value.output_ref, calls });
    if (value.finish_reason === 'content_filter' || value.finish_reason === 'error') {
      for (const call of calls) ctx.append('transcript', { role: 'tool', ...unperformed(call), is_error: true });
      const code = value.finish_reason === 'error' ? 'provider_error_terminal' : 'provider_error_terminal/refusal';
      return endRun(draft, { kind: 'Failed', code, retryable: false, stage: 'llm_step' }, value.output_ref, ctx);
    }
    if (calls.length === 0) return endRun(draft, { kind: 'Completed' }, value.output_ref, ctx);
    startCalls(draft, value.tool_calls, ctx);
  },
  'aos.agent/LlmStepFailed@1': (draft, value, ctx) => {
    if (isStale(draft, value, 'aos.agent/LlmStepFailed@1', ctx)) return;
    endRun(draft, { kind: 'Failed', code: value.code, retryable: value.retryable, stage: 'llm_step' }, null, ctx);
  },
  'aos.agent/ToolResult@1': (draft, value, ctx) => {
    if (isStale(draft, value, 'aos.agent/ToolResult@1', ctx)) return;
    const call = draft.calls.find(({ call_id, outcome }) => call_id === value.call_id && outcome === null);
    if (call === undefined)
      return ctx.record('aos.agent/StaleIgnored@1', { event: 'aos.agent/ToolResult@1', step_epoch: value.step_epoch });
    call.outcome = value.outcome;
    settleStep(draft, ctx);
  },
  'sys/PlanFailed@1': (draft, _value, ctx) => {
    if (draft.lifecycle !== 'Running') return;
    ctx.cancel('all');
    answerOpenCalls(draft, ctx);
    endRun(draft, { kind: 'Failed', code: 'internal_invariant_violation', retryable: false, stage: 'plan' }, null, ctx);
  },
};

/** Inputs that may wait for the current run. */
const QUEUE_MAX = 64;

/** The session reducer. */
export const sessionReducer = defineReducer({
  name: contract.SESSION_REDUCER,
  state: contract.sessionState,
  events: EVENTS,
  facts: {
    'aos.agent/InputAccepted@1': contract.inputAccepted,
    'aos.agent/LifecycleChanged@1': contract.lifecycleChanged,
    'aos.agent/StaleIgnored@1': contract.staleIgnored,
  },
  logs: { transcript: transcriptItem },
  init: (_key, event) => firstState(event),
  reduce: handledBy(HANDLERS),
});

function firstState(event: Events): SessionState {
  // Only an adoption creates a session, so there is none without a definition.
  const { def_ref, config } = (event as Extract<Events, { name: 'aos.agent/AgentAdopted@1' }>).value;
  return {
    def_ref,
    config,
    lifecycle: 'Idle',
    session_epoch: 0,
    step_epoch: 0,
    runs: 0,
    run: null,
    calls: [],
    queue: [],
    last: null,
  };
}

function startRun(draft: SessionState, { run, text_ref }: SessionState['queue'][number], ctx: ReducerContext): void {
  draft.run = { number: run, config: draft.config, steps: 0, tokens_in: 0, tokens_out: 0, started_at: ctx.now };
  draft.session_epoch++;
  ctx.append('transcript', { role: 'user', text_ref });
  moveTo(draft, 'Running', ctx);
  startStep(draft, ctx);
}

function startStep(draft: SessionState, ctx: ReducerContext): void {
  const { run } = draft;
  if (run === null) return;
  const { config } = run;
  if (run.steps >= config.limits.max_steps)
    return endRun(draft, { kind: 'LimitsExceeded', limit: 'max_steps' }, null, ctx);
  run.steps++;
  draft.step_epoch++;
  const params = {
    model: config.model,
    system_ref: config.system_ref,
    tools_ref: config.tools_ref,
    context_head: ctx.logHead('transcript'),
  };
  ctx.emit({ plan: llmStepPlan, input: { session_epoch: draft.session_epoch, step_epoch: draft.step_epoch, params } });
}

function startCalls(draft: SessionState, calls: readonly LlmToolCall[], ctx: ReducerContext): void {
  draft.calls = calls.map(({ call_id, tool, args_ref }) => ({ call_id, tool, args_ref, outcome: null }));
  if (calls.length > (draft.run ?? draft).config.limits.max_tool_calls_per_step) {
    answerOpenCalls(draft, ctx);
    return endRun(draft, { kind: 'LimitsExceeded', limit: 'max_tool_calls_per_step' }, null, ctx);
  }
  for (const [index, call] of calls.entries()) {
    const pending = draft.calls[index];
    if (call.issue !== undefined && pending !== undefined) pending.outcome = { non_execution: refusalOf(call.issue) };
    else startCall(draft, call, ctx);
  }
  settleStep(draft, ctx);
}

function startCall(draft: SessionState, call: LlmToolCall, ctx: ReducerContext): void {
  const { session_epoch, step_epoch } = draft;
  const { call_id, tool, args_ref } = call;
  const timeout = call.timeout_ms === undefined ? {} : { timeout_ms: call.timeout_ms };
  const delivery = call.delivery ?? 'at_most_once';
  ctx.emit({ plan: toolCallPlan, input: { session_epoch, step_epoch, call_id, tool, args_ref, delivery, ...timeout } });
}

/** A call that cannot run is settled without an effect, as data that the model reads. */
function refusalOf(issue: NonNullable<LlmToolCall['issue']>): NonExecution {
  return issue === 'tool_not_found'
    ? { kind: 'failed', code: 'tool_not_found' }
    : { kind: 'failed', code: `tool_args_invalid/${issue}` };
}

/** When every call of the step has its outcome: the results enter the transcript together and the next step starts. */
function settleStep(draft: SessionState, ctx: ReducerContext): void {
  if (draft.calls.some(({ outcome }) => outcome === null)) return;
  appendResults(draft.calls, ctx);
  draft.calls = [];
  startStep(draft, ctx);
}

/** Gives calls that will not be performed their result, so that the transcript stays whole. */
function answerOpenCalls(draft: SessionState, ctx: ReducerContext): void {
  appendResults(
    draft.calls.map((call) => ({
      ...call,
      outcome: call.outcome ?? { non_execution: { kind: 'cancelled' as const } },
    })),
    ctx,
  );
  draft.calls = [];
}

function unperformed({ call_id, tool }: { call_id: string; tool: string }) {
  return { call_id, tool, non_execution: { kind: 'cancelled' as const } };
}

function appendResults(calls: readonly PendingCall[], ctx: ReducerContext): void {
  for (const { call_id, tool, outcome } of calls) {
    if (outcome === null) continue;
    const result =
      'non_execution' in outcome
        ? { non_execution: outcome.non_execution, is_error: true }
        : { output_ref: outcome.output_ref, is_error: outcome.is_error };
    ctx.append('transcript', { role: 'tool', call_id, tool, ...result });
  }
}

function endRun(
  draft: SessionState,
  stop: StopReason,
  output_ref: SessionState['def_ref'] | null,
  ctx: ReducerContext,
): void {
  const { run } = draft;
  draft.last = { run: run?.number ?? 0, stop, output_ref };
  draft.step_epoch++; // what is still under way is stale from here on
  const usage = { steps: run?.steps ?? 0, tokens_in: run?.tokens_in ?? 0, tokens_out: run?.tokens_out ?? 0 };
  const output = output_ref === null ? {} : { output_ref };
  moveTo(draft, stop.kind === 'Completed' ? 'Completed' : 'Failed', ctx, { stop, usage, ...output });
  draft.run = null;
  const next = draft.queue.shift();
  if (next !== undefined) startRun(draft, next, ctx);
}

function moveTo(draft: SessionState, to: Lifecycle, ctx: ReducerContext, ending: object = {}): void {
  const from = draft.lifecycle;
  draft.lifecycle = to;
  ctx.record('aos.agent/LifecycleChanged@1', { run: draft.run?.number ?? 0, from, to, ...ending });
}

function isStale(
  draft: SessionState,
  fence: { session_epoch: number; step_epoch: number },
  event: string,
  ctx: ReducerContext,
): boolean {
  const current =
    fence.session_epoch === draft.session_epoch &&
    fence.step_epoch === draft.step_epoch &&
    draft.lifecycle === 'Running';
  if (!current) ctx.record('aos.agent/StaleIgnored@1', { event, step_epoch: fence.step_epoch });
  return !current;
}
