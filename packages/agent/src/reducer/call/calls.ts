/**
 * Runs the tool calls of one step: a batch.
 *
 * Invariants
 * B1  A call starts when it may run beside every earlier call that has not settled: neither must run alone, and they do
 *     not need the same resource. Independent calls run together; all others run in the order of the model.
 * B2  A call that cannot run is settled without an effect, with a text that the model reads.
 * B3  The batch ends when each call has its outcome, also when the run is stopping.
 * B4  When the outcome of a call is unknown, the tool's `on_unknown` may repeat the call or ask a person. Like any
 *     start of a call, that never happens while the run is paused or stopping.
 * B6  A call that was not run since its tool has changed is emitted again with an approval, where a person decided or has
 *     to decide on it. Only a decision makes it run, so it is never repeated by itself.
 * B5  Of calls that together exceed the bound of a state, the first ones that fit are executed, and all behind them are
 *     refused as data: what a model wrote last may build on what it wrote before. A table stores the outputs of a batch
 *     (`kept.ts`).
 */

import type { LlmToolCall, NOTICES, PlanAddress, SessionOp } from '@reprise/contracts';
import { present, startOfText } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import type { LoopPolicy } from '../../contracts/config.js';
import type { NonExecution } from '../../contracts/non-execution.js';
import type { toolResult } from '../../contracts/session.js';
import type { PendingCall, SessionState, ToolOutcome } from '../../contracts/state.js';
import { humanAskPlan } from '../../plans/human-ask.js';
import { toolCallPlan } from '../../plans/tool-call.js';
import { countUsage } from '../account/budget.js';
import { batchLimit } from '../account/limits.js';
import type { Next } from '../run/moves.js';
import { findLoop, markOf } from '../transcript/loops.js';
import { appendResults, settleCall } from '../transcript/results.js';
import { place, sayToModel } from '../transcript/say.js';
import { CALLS_BYTES_MAX, sizeOf } from '../transcript/sizes.js';
import { executeOp } from './children.js';
import { callOwner, passCalls, startedCall } from './owner.js';
import { followCalls } from './waiting.js';

/** How often a call with an unknown outcome is repeated, where its tool permits that. */
const RETRIES_MAX = 2;

/** Takes up the calls of a model's answer. */
export function startCalls(draft: SessionState, calls: readonly LlmToolCall[], ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  draft.calls = bounded(calls);
  const reached = batchLimit(run, calls.length);
  if (reached !== undefined) {
    if (run.config.limits.on_limit === 'fail') refuseAll(draft, ctx);
    return { do: 'limit', reached, next: 'calls' };
  }
  return beginBatch(draft);
}

/** Begins the batch, which a limit may have delayed. */
export function beginBatch(draft: SessionState): Next {
  if (draft.run !== null) draft.run.tool_rounds++;
  return { do: 'schedule' };
}

function refuseAll(draft: SessionState, ctx: ReducerContext): void {
  for (const call of draft.calls) settleCall(draft, call, { non_execution: { kind: 'cancelled' } }, ctx);
  appendResults(draft, ctx);
}

/** The calls of a batch, of which those beyond the bound of a state are refused (B5). */
function bounded(calls: readonly LlmToolCall[]): PendingCall[] {
  if (sizeOf(calls) <= CALLS_BYTES_MAX) return calls.map(pendingCall);
  const least = calls.map(leastOf);
  let bytes = sizeOf(least);
  const beyond = calls.findIndex((call, i) => {
    bytes += Math.max(0, sizeOf(call) - sizeOf(least[i]));
    return bytes > CALLS_BYTES_MAX;
  });
  return calls.map((call, i) =>
    i < beyond ? pendingCall(call) : { ...pendingCall(leastOf(call)), issue: 'tool_args_invalid/too_large' },
  );
}

/** What is stored of a call that is refused for its size. */
function leastOf({ call_id, tool, args_ref, signature }: LlmToolCall): LlmToolCall {
  return { call_id, tool: startOfText(tool, 64), args_ref, signature };
}

function pendingCall(call: LlmToolCall): PendingCall {
  const { call_id, tool, args_ref, signature, issue, fingerprint, entry_ref, timeout_ms, approval } = call;
  const { resource, session, meaning, judged_ref } = call;
  return present({
    call_id,
    tool,
    args_ref,
    signature,
    phase: 'queued' as const,
    plan: null,
    guarantee: call.guarantee ?? 'at_most_once',
    parallel: call.parallel ?? true,
    polling: call.polling ?? false,
    on_unknown: call.on_unknown ?? 'tell_model',
    unknown: 0,
    outcome: null,
    issue: issue === undefined ? undefined : refusalOf(issue),
    issue_ref: call.issue_ref,
    fingerprint,
    meaning,
    judged_ref,
    entry_ref,
    timeout_ms,
    approval,
    resource,
    session,
  });
}

/** The failure code of a call that cannot run (B2). */
function refusalOf(issue: NonNullable<LlmToolCall['issue']>): NonNullable<PendingCall['issue']> {
  return issue === 'tool_not_found' ? 'tool_not_found' : `tool_args_invalid/${issue}`;
}

/** Starts the calls that may run now; ends the batch when all have settled. */
export function schedule(draft: SessionState, ctx: ReducerContext): Next {
  if (draft.run === null || draft.stopping !== null) return undefined;
  if (draft.lifecycle !== 'Paused') {
    const started = [...draft.calls.entries()].flatMap(([i, call]) => {
      if (!mayStart(draft.calls, i)) return [];
      startCall(draft, call, ctx);
      return startedCall(call, i) ?? [];
    });
    passCalls(draft, started, ctx);
  }
  if (draft.calls.every(({ phase }) => phase === 'settled')) return endBatch(draft, ctx);
  followCalls(draft, ctx);
  return undefined;
}

/** Whether a call may start beside the calls before it (B1). */
function mayStart(calls: readonly PendingCall[], index: number): boolean {
  const call = calls[index];
  if (call === undefined || call.phase !== 'queued') return false;
  return calls.slice(0, index).every((earlier) => {
    if (earlier.phase === 'settled') return true;
    const apart = earlier.resource === undefined || earlier.resource !== call.resource;
    return call.parallel && earlier.parallel && apart;
  });
}

function startCall(draft: SessionState, call: PendingCall, ctx: ReducerContext): void {
  const { call_id, tool, args_ref, asked_ref = args_ref } = call;
  ctx.record('aos.agent/ToolCallRequested@1', { ...place(draft), call_id, tool, args_ref: asked_ref });
  if (call.issue !== undefined) return settleCall(draft, call, issueOutcome(call, call.issue), ctx);
  const { session } = call;
  if (session?.op === 'ask') return askPerson(draft, call, session, ctx);
  if (session?.op === 'owner') return callOwner(draft, call, ctx);
  if (session !== undefined) return executeOp(draft, call, session, ctx);
  if (call.unknown === 0 || call.on_unknown === 'retry') return callTool(draft, call, ctx);
  const { unknown_question_ref } = draft.run?.config ?? draft.config;
  askPerson(draft, call, { question_ref: unknown_question_ref }, ctx);
}

/** The text that tells the model why a call cannot run. */
function issueOutcome({ issue_ref }: PendingCall, code: string) {
  if (issue_ref === undefined) return { non_execution: { kind: 'failed', code } satisfies NonExecution };
  const [kind] = code.split('/');
  return {
    output_ref: issue_ref,
    operator_output_ref: issue_ref,
    truncated: false,
    is_error: true,
    ...(kind === undefined ? {} : { error_code: kind }),
  };
}

function callTool(draft: SessionState, call: PendingCall, ctx: ReducerContext): void {
  const { session_epoch, step_epoch } = draft;
  const { call_id, tool, args_ref, asked_ref, fingerprint, entry_ref, guarantee, timeout_ms, approval } = call;
  const { meaning, judged_ref, before_ref } = call;
  call.plan = ctx.emit({
    plan: toolCallPlan,
    input: {
      session_epoch,
      step_epoch,
      call: present({
        tool,
        call_id,
        session: { key: ctx.address[1], labels: draft.labels },
        at: place(draft),
        args_ref,
        asked_ref,
        guarantee,
        fingerprint,
        meaning,
        judged_ref,
        before_ref,
        entry_ref,
        needs_approval: approval === undefined ? undefined : (true as const),
        to: approval?.to,
        reason_ref: approval?.reason_ref,
      }),
      ...(timeout_ms === undefined ? {} : { timeout_ms }),
      ...(approval === undefined ? {} : { approval: approval.to === undefined ? {} : { to: approval.to } }),
    },
  });
  call.phase = 'running';
}

function askPerson(
  draft: SessionState,
  call: PendingCall,
  { question_ref, to, within_ms, default_ref }: Omit<Extract<SessionOp, { op: 'ask' }>, 'op'>,
  ctx: ReducerContext,
): void {
  const { session_epoch, step_epoch } = draft;
  const session = { key: ctx.address[1], labels: draft.labels };
  call.plan = ctx.emit({
    plan: humanAskPlan,
    input: {
      session_epoch,
      step_epoch,
      call_id: call.call_id,
      question: { question_ref, session, ...(to === undefined ? {} : { to }) },
      ...(within_ms === undefined ? {} : { within_ms }),
      ...(default_ref === undefined ? {} : { default_ref }),
    },
  });
  call.phase = 'running';
}

/** Takes the outcome of a call from its plan. */
export function callSettled(draft: SessionState, value: z.infer<typeof toolResult>, ctx: ReducerContext): Next {
  const call = draft.calls.find(({ plan, phase }) => plan === ctx.plan && phase !== 'settled');
  if (draft.run === null || call === undefined) return undefined;
  countUsage(draft.run, value.usage);
  const unknown = isUnknown(value.outcome);
  if (unknown) call.unknown++;
  if (unknown && draft.stopping === null && mayGoOn(call)) return { do: 'schedule' };
  if (draft.stopping === null && isAskedAgain(call, value)) return { do: 'schedule' };
  if (value.reason_ref !== undefined) call.note_ref = value.reason_ref;
  settleCall(draft, call, value.outcome, ctx, value.bytes);
  if (draft.stopping !== null) return { do: 'settle' };
  if (!unknown || call.on_unknown !== 'fail') return { do: 'schedule' };
  const code = 'adapter_error/outcome_unknown';
  const stop = { kind: 'Failed', code, retryable: false, stage: 'tool_call' } as const;
  return { do: 'stop', stopping: { commands: [], stop } };
}

/** Queues a call again whose tool has changed: with the new terms, and for the people that decide about them (B6). */
function isAskedAgain(call: PendingCall, { changed, outcome }: z.infer<typeof toolResult>): boolean {
  if (changed?.again === undefined) return false;
  const { again, judged_ref: before_ref, now_ref: judged_ref } = changed;
  const edited = 'edited_args_ref' in outcome ? outcome.edited_args_ref : undefined;
  const args = edited === undefined ? {} : { args_ref: edited, asked_ref: call.asked_ref ?? call.args_ref };
  delete call.timeout_ms;
  Object.assign(call, present({ ...again, ...args, before_ref, judged_ref, phase: 'queued' as const, plan: null }));
  return true;
}

function isUnknown(outcome: ToolOutcome): boolean {
  return 'non_execution' in outcome && outcome.non_execution.kind === 'outcome_unknown';
}

/** Queues a call with an unknown outcome again, where its tool permits a repetition. */
function mayGoOn(call: PendingCall): boolean {
  const again = call.on_unknown === 'retry' && call.unknown <= RETRIES_MAX;
  const asked = call.on_unknown === 'ask_human' && call.unknown === 1;
  if (again || asked) Object.assign(call, { phase: 'queued', plan: null });
  return again || asked;
}

/** Notes that the effect of a call waits for outside input. */
export function callWaits(
  draft: SessionState,
  { plan, for: what, effect }: z.infer<(typeof NOTICES)['sys/EffectWaiting@1']>,
  ctx: ReducerContext,
): Next {
  const call = callOfPlan(draft, plan);
  if (call === undefined) return undefined;
  const phase = what === 'approval' ? 'approval' : 'ask';
  const { call_id, tool } = call;
  call.phase = phase;
  ctx.record('aos.agent/ToolCallWaiting@1', { ...place(draft), call_id, tool, for: phase, effect });
  if (draft.stopping === null) followCalls(draft, ctx);
  return undefined;
}

/** Notes that the effect of a call continues. The comment of its approval is shown with its result. */
export function callContinues(
  draft: SessionState,
  { plan, reason_ref }: z.infer<(typeof NOTICES)['sys/EffectGoesOn@1']>,
  ctx: ReducerContext,
): Next {
  const call = callOfPlan(draft, plan);
  if (call === undefined) return undefined;
  call.phase = 'running';
  if (reason_ref !== undefined) call.note_ref = reason_ref;
  if (draft.stopping === null) followCalls(draft, ctx);
  return undefined;
}

function callOfPlan(draft: SessionState, [, , ordinal]: PlanAddress): PendingCall | undefined {
  return draft.calls.find((known) => known.plan === ordinal && known.phase !== 'settled');
}

/** Ends the batch and continues with the next step (B3). */
function endBatch(draft: SessionState, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  followCalls(draft, ctx);
  const policy = run.config.loop;
  const mark = policy === null ? undefined : markOf(draft.calls);
  appendResults(draft, ctx);
  if (policy === null || mark === undefined) return { do: 'step' };
  run.recent = [...run.recent, [...mark] as [string, string]].slice(-policy.window);
  return draft.lifecycle === 'Paused' ? { do: 'step' } : meetLoop(draft, policy, ctx);
}

function meetLoop(draft: SessionState, policy: LoopPolicy, ctx: ReducerContext): Next {
  const { run } = draft;
  const loop = run === null ? undefined : findLoop(run.recent, policy);
  if (run === null || loop === undefined) return { do: 'step' };
  const action = policy.actions[Math.min(run.loops, policy.actions.length - 1)] ?? 'fail';
  run.loops++;
  run.recent = []; // the next finding needs new rounds
  ctx.record('aos.agent/LoopDetected@1', { ...place(draft), ...loop, action });
  if (action === 'complete_with_warning') return { do: 'end', stop: { kind: 'Completed', warning: 'loop_detected' } };
  if (action === 'fail') {
    const code = 'validation_error/loop_detected';
    return { do: 'end', stop: { kind: 'Failed', code, retryable: false, stage: 'loop' } };
  }
  sayToModel(draft, 'loop', { parts: [{ kind: 'text', text_ref: policy.steer_ref }] }, ctx);
  return { do: 'step' };
}
