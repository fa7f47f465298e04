/** The facts that a session records: watchers, views and `AgentEvent@1` are derived from them. */
import { digestHex, droppedCalls, failureCode, RECEIPT_STATUSES, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { CANCEL_SCOPES, commandId, REJECTIONS, runCause } from './commands.js';
import { LOOP_ACTIONS, limitAmounts, tally } from './config.js';
import { INPUT_DROPS, LIFECYCLES, stopReason, WAITS } from './lifecycle.js';
import { nonExecution } from './non-execution.js';
import { ownerAnswered } from './owner.js';
import { toolOutcome } from './state.js';
import { toolsetCounts, toolsetName } from './toolset.js';
import { USER_ORIGINS } from './transcript.js';
import { COMPACTION_CAUSES } from './window.js';

const count = z.int().min(0);
const callId = z.string().min(1).max(128);
const at = { run: count, turn: count, step: count };
/** The place in the current run; absent without a run. */
const atHand = { at: z.exactOptional(z.strictObject(at)) };

/** An input was accepted; it starts this run or is a turn of it. Recorded again when it moves to another run. */
export const inputAccepted = z.strictObject({
  run: count,
  command_id: commandId,
  queued: z.boolean(),
  cause: runCause,
  first_ref: z.nullable(ref()),
  /** Recorded again: the run that the input was announced for, and which ended first. */
  moved_from: z.exactOptional(count),
});

/** A waiting input was dropped. It was meant to start this run or, with `turn`, to be a turn of it. */
export const inputDropped = z.strictObject({
  run: count,
  command_id: commandId,
  turn: z.exactOptional(z.literal(true)),
  why: z.enum(INPUT_DROPS),
});

/** A fact: the session accepted a command. */
export const sessionCommandAccepted = z.strictObject({
  command_id: commandId,
  type: z.string().max(32),
  /** Of a cancel: the number of inputs that still wait behind it. */
  still_queued: z.exactOptional(count),
  /** Of a follow-up: the number of its future run. */
  run: z.exactOptional(count),
  scope: z.exactOptional(z.enum(CANCEL_SCOPES)),
  /** Of a spawn: the key of the child session. */
  session: z.exactOptional(z.string().max(256)),
  /** Of a cancel: the reason, as text. */
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

/** A command was applied: a steer was shown to the model, a configuration counts, a cancel is over. */
export const sessionCommandApplied = z.strictObject({
  command_id: commandId,
  type: z.string().max(32),
  step: count,
  ...atHand,
});

/** Why an accepted command was not applied. */
export const COMMAND_DROPS = [
  ...INPUT_DROPS,
  /** A steer: its run ended before a step took it up. */
  'run_ended',
  /** A compaction: the definition permits none. */
  'compaction_off',
  /** A compaction: no summary was written. */
  'compaction_failed',
  /** A compaction: another one is due in its place. */
  'replaced',
] as const;

/** Why an accepted command was not applied. */
export type CommandDrop = (typeof COMMAND_DROPS)[number];

/** A command was dropped without being applied. */
export const sessionCommandDropped = z.strictObject({
  command_id: commandId,
  type: z.string().max(32),
  why: z.enum(COMMAND_DROPS),
  ...atHand,
});

/** The lifecycle changed. An ended run states its reason. */
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

/** The model was shown a message in the user's role. */
export const turnStarted = z.strictObject({
  ...at,
  origin: z.enum(USER_ORIGINS),
  /** The input or the steer that the model was shown. */
  command_id: z.exactOptional(commandId),
});

/** A fact: a step asks a model, configured as `config_rev` says. */
export const stepRequested = z.strictObject({ ...at, model: z.string().max(128), config_rev: count });

/** A fact: the model of a step answered. */
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

/** A fact: a step calls a tool. */
export const callRequested = z.strictObject({
  ...at,
  call_id: callId,
  tool: z.string().max(128),
  args_ref: ref(),
});

/** A call waits for outside input. */
export const callWaiting = z.strictObject({
  ...at,
  call_id: callId,
  tool: z.string().max(128),
  for: z.enum(['approval', 'ask', 'owner', 'children']),
  effect: z.nullable(z.string().max(64)),
});

/** A call has its result. */
export const callSettled = z.strictObject({ ...at, call_id: callId, tool: z.string().max(128), outcome: toolOutcome });

/** A call that was settled without an output was answered later. */
export const callLate = z.strictObject({
  call_id: callId,
  tool: z.string().max(128),
  reported: z.nullable(nonExecution),
  status: z.enum(RECEIPT_STATUSES),
  output_ref: z.exactOptional(ref()),
  /** The place of the call. */
  ...atHand,
});

/** The run repeats the same calls. */
export const loopDetected = z.strictObject({
  ...at,
  length: z.int().min(1),
  repeats: z.int().min(2),
  by: z.enum(['calls_and_results', 'calls']),
  action: z.enum(LOOP_ACTIONS),
});

/**
 * `aos.agent/ContextPressure@1`: how much of the model's window is in use. Recorded once for each level on the way up.
 */
export const contextPressure = z.strictObject({
  run: count,
  level: z.union([z.literal(70), z.literal(85), z.literal(95)]),
  tokens: count,
  window: count,
  /** Whether the provider counted the tokens, or the size of the request was divided by four. */
  by: z.enum(['usage', 'bytes']),
});

/** A model was asked for a summary of the items before `to`. */
export const compactionStarted = z.strictObject({
  run: count,
  cause: z.enum(COMPACTION_CAUSES),
  model: z.string().max(128),
  from: count,
  to: count,
});

/** This summary replaces the items before `to` in the window; the transcript keeps them. */
export const contextCompacted = z.strictObject({
  run: count,
  cause: z.enum(COMPACTION_CAUSES),
  from: count,
  to: count,
  base_ref: ref(),
  tally,
});

/** No summary was written: `nothing_to_compact`, or the code of a failure. */
export const compactionGaveUp = z.strictObject({
  run: count,
  cause: z.enum(COMPACTION_CAUSES),
  code: z.string().max(96),
});

/** `aos.agent/BudgetPressure@1`: how much of a limit is used. */
export const budgetPressure = z.strictObject({
  run: count,
  level: z.union([z.literal(70), z.literal(80), z.literal(95)]),
  limit: z.enum(['max_tokens', 'max_micro_money']),
  used: count,
  of: count,
});

/**
 * A limit was reached. Of tokens and money: also the amount set aside for children, and the amount that the next model
 * call needs.
 */
export const limitReached = z.strictObject({
  ...at,
  limit: z.string().max(64),
  used: count,
  of: count,
  set_aside: z.exactOptional(count),
  needs: z.exactOptional(count),
});

/** How the usage of a model call differs from its reserve. */
export const USAGE_DIFFERS = ['above_reserve', 'unknown', 'late'] as const;

/**
 * The usage of a model call differs from its reserve: it is more, it is unknown (then the reserve counts), or it was
 * reported after the call had been abandoned.
 */
export const usageDiffers = z.strictObject({
  ...at,
  how: z.enum(USAGE_DIFFERS),
  reserved: limitAmounts,
  used: limitAmounts,
});

/** The configuration changed, and the step from which it counts. */
export const configChanged = z.strictObject({
  config_rev: count,
  def_ref: ref(),
  model: z.string().max(128),
  from_run: z.nullable(count),
  ...atHand,
});

/** A child session was made, or changed its status. `run` is the current run at that time; null without a run. */
export const childChanged = z.strictObject({
  run: z.nullable(count),
  child: z.string().max(64),
  session: z.string().max(256),
  agent: z.string().max(64),
  status: z.enum(['spawned', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'closed']),
  output_ref: z.exactOptional(ref()),
});

/** A toolset offers other tools than the session has taken up. The change counts from the next step on. */
export const toolsetChanged = z.strictObject({
  ...at,
  toolset: toolsetName,
  version: digestHex(),
  tools_ref: ref(),
  ...toolsetCounts,
  diff_ref: ref(),
  /** Whether a person is asked about the withheld tools. */
  asked: z.boolean(),
});

/** A person decided about the withheld tools of a toolset. */
export const toolsetDecided = z.strictObject({ ...at, toolset: toolsetName, approved: z.boolean() });

/** A toolset cannot be reached: calls of its tools fail until it can. */
export const toolsetUnreachable = z.strictObject({
  ...at,
  toolset: toolsetName,
  code: failureCode,
  why_ref: z.exactOptional(ref()),
});

/** An unreachable toolset can be reached again. */
export const toolsetReachable = z.strictObject({ ...at, toolset: toolsetName });

/** A result of an ended step arrived; it is recorded, and changes nothing. */
export const staleIgnored = z.strictObject({ event: z.string().max(128), session_epoch: count, step_epoch: count });

/** The schema of each fact of a session, by its wire name. */
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
  'aos.agent/OwnerAnswered@1': ownerAnswered,
  'aos.agent/StaleIgnored@1': staleIgnored,
} as const;
