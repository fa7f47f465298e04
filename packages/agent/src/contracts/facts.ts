/** The facts that a session states: what watchers, views and `AgentEvent@1` are made from. */
import { droppedCalls, failureCode, RECEIPT_STATUSES, ref } from '@reprise/contracts';
import * as z from 'zod';
import { CANCEL_SCOPES, commandId, REJECTIONS, runCause } from './commands.js';
import { LOOP_ACTIONS, limitAmounts, tally } from './config.js';
import { INPUT_DROPS, LIFECYCLES, stopReason, WAITS } from './lifecycle.js';
import { nonExecution } from './non-execution.js';
import { toolOutcome } from './state.js';
import { toolsetCounts, toolsetName } from './toolset.js';
import { USER_ORIGINS } from './transcript.js';
import { COMPACTION_CAUSES } from './window.js';

const count = z.int().min(0);
const callId = z.string().min(1).max(128);
const at = { run: count, turn: count, step: count };
/** Where in the run at hand it happened; absent when there was none. */
const atHand = { at: z.exactOptional(z.strictObject(at)) };

/** An input was accepted and is, or will be, the start or a turn of this run. Said again when it becomes another's. */
export const inputAccepted = z.strictObject({
  run: count,
  command_id: commandId,
  queued: z.boolean(),
  cause: runCause,
  first_ref: z.nullable(ref()),
  /** Said again: the run that it was told to be, which ended first. */
  moved_from: z.exactOptional(count),
});

/** An input that waited will not be said. It was to be the start of this run, or, with `turn`, a turn of it. */
export const inputDropped = z.strictObject({
  run: count,
  command_id: commandId,
  turn: z.exactOptional(z.literal(true)),
  why: z.enum(INPUT_DROPS),
});

/** A command was taken. */
export const sessionCommandAccepted = z.strictObject({
  command_id: commandId,
  type: z.string().max(32),
  /** Of a cancel: inputs that wait behind it still. */
  still_queued: z.exactOptional(count),
  /** Of a follow-up: the run it will be. */
  run: z.exactOptional(count),
  scope: z.exactOptional(z.enum(CANCEL_SCOPES)),
  /** Of a spawn: the child's session. */
  session: z.exactOptional(z.string().max(256)),
  /** Of a cancel: why, as text. */
  reason_ref: z.exactOptional(ref()),
  ...atHand,
});

/** A command was refused; nothing changed. */
export const sessionCommandRejected = z.strictObject({
  command_id: commandId,
  type: z.string().max(32),
  code: z.enum(REJECTIONS),
  ...atHand,
});

/** What a command asked for has come about: a steer was said, a configuration counts, a cancel is over. */
export const sessionCommandApplied = z.strictObject({
  command_id: commandId,
  type: z.string().max(32),
  step: count,
  ...atHand,
});

/** Why a command that was accepted never came about. */
export const COMMAND_DROPS = [
  ...INPUT_DROPS,
  /** A steer: its run ended before a step took it up. */
  'run_ended',
  /** A compaction: the definition says that there is none. */
  'compaction_off',
  /** A compaction: no summary was written. */
  'compaction_failed',
  /** A compaction: another one is due in its place. */
  'replaced',
] as const;

/** Why a command that was accepted never came about. */
export type CommandDrop = (typeof COMMAND_DROPS)[number];

/** What a command asked for will not come about. */
export const sessionCommandDropped = z.strictObject({
  command_id: commandId,
  type: z.string().max(32),
  why: z.enum(COMMAND_DROPS),
  ...atHand,
});

/** The lifecycle changed. A run that ended says why. */
export const lifecycleChanged = z.strictObject({
  run: count,
  from: z.enum(LIFECYCLES),
  to: z.enum(LIFECYCLES),
  waiting: z.exactOptional(z.strictObject({ for: z.enum(WAITS), until: z.nullable(count) })),
  stop: z.exactOptional(stopReason),
  output_ref: z.exactOptional(ref()),
  value_ref: z.exactOptional(ref()),
  usage: z.exactOptional(tally),
  depth: z.exactOptional(count),
});

/** Something was said to the model in the user's place. */
export const turnStarted = z.strictObject({
  ...at,
  origin: z.enum(USER_ORIGINS),
  /** The input or the steer that was said. */
  command_id: z.exactOptional(commandId),
});

/** A model is asked. */
export const stepRequested = z.strictObject({ ...at, model: z.string().max(128), config_rev: count });

/** A model answered. */
export const stepCompleted = z.strictObject({
  ...at,
  output_ref: ref(),
  finish_reason: z.string().max(32),
  calls: z.array(callId).max(64),
  dropped_calls: z.exactOptional(droppedCalls),
  tally,
  warnings_ref: z.exactOptional(ref()),
});

/** A model call failed for good. */
export const stepFailed = z.strictObject({
  ...at,
  code: z.string().max(96),
  retryable: z.boolean(),
  again: z.boolean(),
});

/** A tool is called. */
export const callRequested = z.strictObject({
  ...at,
  call_id: callId,
  tool: z.string().max(128),
  args_ref: ref(),
});

/** A call waits for somebody. */
export const callWaiting = z.strictObject({
  ...at,
  call_id: callId,
  tool: z.string().max(128),
  for: z.enum(['approval', 'ask', 'children']),
  effect: z.nullable(z.string().max(64)),
});

/** A call has its result. */
export const callSettled = z.strictObject({ ...at, call_id: callId, tool: z.string().max(128), outcome: toolOutcome });

/** A call that was reported without an output was answered after all. */
export const callLate = z.strictObject({
  call_id: callId,
  tool: z.string().max(128),
  reported: z.nullable(nonExecution),
  status: z.enum(RECEIPT_STATUSES),
  output_ref: z.exactOptional(ref()),
  /** Where it was called. */
  ...atHand,
});

/** The same calls came round again. */
export const loopDetected = z.strictObject({
  ...at,
  length: z.int().min(1),
  repeats: z.int().min(2),
  by: z.enum(['calls_and_results', 'calls']),
  action: z.enum(LOOP_ACTIONS),
});

/** `aos.agent/ContextPressure@1`: so much of the model's window is in use. Told once for each level on the way up. */
export const contextPressure = z.strictObject({
  run: count,
  level: z.union([z.literal(70), z.literal(85), z.literal(95)]),
  tokens: count,
  window: count,
  /** Whether the provider counted, or the size of the request was divided by four. */
  by: z.enum(['usage', 'bytes']),
});

/** A model is asked for a summary of the items before `to`. */
export const compactionStarted = z.strictObject({
  run: count,
  cause: z.enum(COMPACTION_CAUSES),
  model: z.string().max(128),
  from: count,
  to: count,
});

/** The items before `to` are shown as this summary from now on; the transcript keeps them. */
export const contextCompacted = z.strictObject({
  run: count,
  cause: z.enum(COMPACTION_CAUSES),
  from: count,
  to: count,
  base_ref: ref(),
  tally,
});

/** There is no summary: `nothing_to_compact`, or the code of a failure. */
export const compactionGaveUp = z.strictObject({
  run: count,
  cause: z.enum(COMPACTION_CAUSES),
  code: z.string().max(96),
});

/** `aos.agent/BudgetPressure@1`: so much of a limit is used up. */
export const budgetPressure = z.strictObject({
  run: count,
  level: z.union([z.literal(70), z.literal(85), z.literal(95)]),
  limit: z.enum(['max_tokens', 'max_micro_money']),
  used: count,
  of: count,
});

/** A limit was reached. Of tokens and money also what is set aside for children, and what the next model call needs. */
export const limitReached = z.strictObject({
  ...at,
  limit: z.string().max(64),
  used: count,
  of: count,
  set_aside: z.exactOptional(count),
  needs: z.exactOptional(count),
});

/** How what a model call used differs from what was reserved for it. */
export const USAGE_DIFFERS = ['above_reserve', 'unknown', 'late'] as const;

/**
 * What a model call used is not what was reserved for it: it is more, nobody told what it is (then the reserve counts),
 * or it was told after the call had been given up.
 */
export const usageDiffers = z.strictObject({
  ...at,
  how: z.enum(USAGE_DIFFERS),
  reserved: limitAmounts,
  used: limitAmounts,
});

/** The configuration changed, and from which step on it counts. */
export const configChanged = z.strictObject({
  config_rev: count,
  def_ref: ref(),
  model: z.string().max(128),
  from_run: z.nullable(count),
  ...atHand,
});

/** A child session was made, or came to something. `run` is the run at hand then; null when there was none. */
export const childChanged = z.strictObject({
  run: z.nullable(count),
  child: z.string().max(64),
  session: z.string().max(256),
  agent: z.string().max(64),
  status: z.enum(['spawned', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'closed']),
  output_ref: z.exactOptional(ref()),
});

/** What a toolset offers is not what the session held of it; from the next step on this counts. */
export const toolsetChanged = z.strictObject({
  ...at,
  toolset: toolsetName,
  version: z.string().regex(/^[0-9a-f]{64}$/),
  tools_ref: ref(),
  ...toolsetCounts,
  diff_ref: ref(),
  /** Whether a person is asked about what is held back. */
  asked: z.boolean(),
});

/** Somebody decided about what was held back of a toolset. */
export const toolsetDecided = z.strictObject({ ...at, toolset: toolsetName, approved: z.boolean() });

/** A toolset cannot be reached: calls of its tools fail until it can. */
export const toolsetUnreachable = z.strictObject({
  ...at,
  toolset: toolsetName,
  code: failureCode,
  why_ref: z.exactOptional(ref()),
});

/** A toolset that could not be reached can be. */
export const toolsetReachable = z.strictObject({ ...at, toolset: toolsetName });

/** Something came back for a step that is over; recorded, and changes nothing. */
export const staleIgnored = z.strictObject({ event: z.string().max(128), session_epoch: count, step_epoch: count });

/** The facts by name. */
export const SESSION_FACTS = {
  'aos.agent/InputAccepted@1': inputAccepted,
  'aos.agent/InputDropped@1': inputDropped,
  'aos.agent/HostCommandAccepted@1': sessionCommandAccepted,
  'aos.agent/HostCommandRejected@1': sessionCommandRejected,
  'aos.agent/HostCommandApplied@1': sessionCommandApplied,
  'aos.agent/HostCommandDropped@1': sessionCommandDropped,
  'aos.agent/LifecycleChanged@1': lifecycleChanged,
  'aos.agent/TurnStarted@1': turnStarted,
  'aos.agent/LlmStepRequested@1': stepRequested,
  'aos.agent/LlmStepAnswered@1': stepCompleted,
  'aos.agent/LlmStepGaveUp@1': stepFailed,
  'aos.agent/ToolCallRequested@1': callRequested,
  'aos.agent/ToolCallWaiting@1': callWaiting,
  'aos.agent/ToolCallSettled@1': callSettled,
  'aos.agent/ToolCallLate@1': callLate,
  'aos.agent/LoopDetected@1': loopDetected,
  'aos.agent/ContextPressure@1': contextPressure,
  'aos.agent/BudgetPressure@1': budgetPressure,
  'aos.agent/CompactionStarted@1': compactionStarted,
  'aos.agent/ContextCompacted@1': contextCompacted,
  'aos.agent/CompactionGaveUp@1': compactionGaveUp,
  'aos.agent/LimitReached@1': limitReached,
  'aos.agent/UsageDiffers@1': usageDiffers,
  'aos.agent/ConfigChanged@1': configChanged,
  'aos.agent/ChildChanged@1': childChanged,
  'aos.agent/ToolsetChanged@1': toolsetChanged,
  'aos.agent/ToolsetDecided@1': toolsetDecided,
  'aos.agent/ToolsetUnreachable@1': toolsetUnreachable,
  'aos.agent/ToolsetReachable@1': toolsetReachable,
  'aos.agent/StaleIgnored@1': staleIgnored,
} as const;
