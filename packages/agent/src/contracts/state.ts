/** The state of a session: small and flat, whatever its age. What grows is in its log and its tables. */
import { contextText, inputPart, ON_UNKNOWN, ref, sessionOp } from '@reprise/contracts';
import * as z from 'zod';
import { commandId, runCause } from './commands.js';
import { adopted, agentConfig, bounds, limitAmounts, tally } from './config.js';
import { LIFECYCLES, stopReason, WAITS } from './lifecycle.js';
import { nonExecution } from './non-execution.js';
import { artifact } from './tool-call.js';
import { childResult, lateItem } from './transcript.js';
import { compactionDue, contextWindow } from './window.js';

const count = z.int().min(0);
const callId = z.string().min(1).max(128);

/** What a tool call came to. */
export const toolOutcome = z.union([
  z.strictObject({
    output_ref: ref(),
    operator_output_ref: ref(),
    truncated: z.boolean(),
    is_error: z.boolean(),
    error_code: z.exactOptional(z.string().max(96)),
    files: z.exactOptional(z.array(artifact).max(16)),
    artifacts: z.exactOptional(z.array(artifact).max(64)),
    edited_args_ref: z.exactOptional(ref()),
  }),
  z.strictObject({ children: z.array(childResult).max(64) }),
  z.strictObject({ non_execution: nonExecution }),
]);

/** What a tool call came to. */
export type ToolOutcome = z.infer<typeof toolOutcome>;

/** What the state keeps of an outcome until the batch ends; files and children, so many, are in the table `details`. */
export const keptOutcome = z.strictObject({
  output_ref: z.exactOptional(ref()),
  is_error: z.exactOptional(z.boolean()),
  edited_args_ref: z.exactOptional(ref()),
  non_execution: z.exactOptional(nonExecution),
  /** The bytes that a model is told of it. */
  bytes: z.exactOptional(count),
  details: z.int().min(0).max(64),
});

/** What the state keeps of an outcome. */
export type KeptOutcome = z.infer<typeof keptOutcome>;

/** An entry of the table `details`: a file that a call of the batch gave, or what one of its children came to. */
export const keptDetail = z.union([artifact, childResult]);

/** An entry of the table `details`. */
export type KeptDetail = z.infer<typeof keptDetail>;

/** Where a call of the step at hand stands. */
export const CALL_PHASES = ['queued', 'running', 'approval', 'ask', 'children', 'settled'] as const;

/** A tool call of the step at hand, in the order in which the model asked. */
export const pendingCall = z.strictObject({
  call_id: callId,
  tool: z.string().min(1).max(128),
  args_ref: ref(),
  signature: z.string().regex(/^[0-9a-f]{16}$/),
  phase: z.enum(CALL_PHASES),
  /** The ordinal of its plan, once it was started. */
  plan: z.nullable(count),
  fingerprint: z.exactOptional(z.string().regex(/^[0-9a-f]{64}$/)),
  entry_ref: z.exactOptional(ref()),
  guarantee: z.enum(['idempotent', 'at_most_once', 'reconcile']),
  timeout_ms: z.exactOptional(z.int().min(1)),
  approval: z.exactOptional(
    z.strictObject({ to: z.exactOptional(z.string().max(256)), reason_ref: z.exactOptional(ref()) }),
  ),
  resource: z.exactOptional(z.string().min(1).max(256)),
  parallel: z.boolean(),
  polling: z.boolean(),
  on_unknown: z.enum(ON_UNKNOWN),
  /** How often it came to nobody knows what: whatever comes of it later, it may have happened. */
  unknown: count,
  session: z.exactOptional(sessionOp),
  /** Why it cannot run, and what the model is told about that. */
  issue: z.exactOptional(z.string().max(96)),
  issue_ref: z.exactOptional(ref()),
  note_ref: z.exactOptional(ref()),
  outcome: z.nullable(keptOutcome),
  /** Equal for equal outcomes, for loop detection. */
  mark: z.exactOptional(z.string().max(16)),
});

/** A tool call of the step at hand. */
export type PendingCall = z.infer<typeof pendingCall>;

/** What a run that is held goes on with: its next step, the calls that its model asked for, or the answer it gave. */
export const NEXT_MOVES = ['step', 'calls', 'answer'] as const;

/** What a run that is held goes on with. */
export type NextMove = (typeof NEXT_MOVES)[number];

/** The run at hand. */
export const currentRun = z.strictObject({
  number: count,
  cause: runCause,
  def_ref: ref(),
  config: agentConfig,
  config_rev: count,
  /** Inputs and steers answered. */
  turns: count,
  tool_rounds: count,
  tally,
  /** The ordinal of the plan behind the model call under way. */
  step_plan: z.nullable(count),
  /** Set while that call writes a summary: the item from which on the conversation stays, and why. */
  compacting: z.nullable(z.strictObject({ to: count, ...compactionDue.shape })),
  /** Whether the step at hand was refused as too long before, and is tried again behind a summary. */
  squeezed: z.boolean(),
  /** What children of this run have used, and what is set aside for what they may still use. */
  children_tally: tally,
  carved: limitAmounts,
  /** What the cell that made this session has set aside for this run, by its own run; null when nobody did. */
  allowance: z.nullable(z.strictObject({ run: count, ...bounds.shape })),
  /** What the model call under way may use; null while there is none, or nothing limits it. */
  reserve: z.nullable(limitAmounts),
  /** What calls may have used of which nobody told what they used, here and below. It counts as used. */
  unaccounted: limitAmounts,
  /** Calls that were given up and may still tell what they used, with what is counted for them until then. */
  abandoned: z.array(z.strictObject({ plan: count, ...limitAmounts.shape })).max(8),
  started_at: count,
  /** Time in which it waited for somebody outside, in milliseconds; such time counts in no limit. */
  waited_ms: count,
  /** Since when it waits or is paused; null while its time counts. */
  parked_since: z.nullable(count),
  /** Answers that did not fit `returns`. */
  repairs: count,
  /** Model calls that were asked for again because their adapter ran out of time. */
  retries: count,
  /** The last steps: what was called, and what was called and came back. Short digests, oldest first. */
  recent: z.array(z.tuple([z.string().max(16), z.string().max(16)])).max(32),
  /** Loops found so far. */
  loops: count,
  context: z.nullable(z.array(contextText).max(16)),
  /** The highest pressure on its budget told of, in percent; 0 for none. */
  budget_pressure: z.int().min(0).max(100),
  /** The last answer, once there is one. */
  output_ref: z.nullable(ref()),
  value_ref: z.nullable(ref()),
  /** What is wrong with the last answer, by the agent's `returns`. */
  issue_ref: z.nullable(ref()),
  truncated: z.boolean(),
});

/** The run at hand. */
export type CurrentRun = z.infer<typeof currentRun>;

/** Something to say before the next step. */
export const steer = z.strictObject({
  command_id: commandId,
  parts: z.array(inputPart).min(1).max(16),
  pin: z.exactOptional(z.literal(true)),
});

/** An input that waits its turn: an entry of the table `queue`, in the order in which inputs are taken up. */
export const queuedInput = z.strictObject({
  /** The run that it was told it would be. */
  run: count,
  /** Whether that is the run at hand, of which it is to be a turn, and not one of its own. */
  joins: z.boolean(),
  command_id: commandId,
  kind: z.enum(['input', 'follow_up']),
  cause: runCause,
  parts: z.array(inputPart).min(1).max(16),
  pin: z.exactOptional(z.literal(true)),
  priority: z.int(),
  /** The entry of the table `allowances` that pays for it. */
  allowance: z.exactOptional(count),
});

/** An input that waits its turn. */
export type QueuedInput = z.infer<typeof queuedInput>;

/** A child session: an entry of the table `children`, under the name that the model knows it by. */
export const childEntry = z.strictObject({
  session: z.string().min(1).max(256),
  agent: z.string().min(1).max(64),
  /** The run of this session that it works for: that made it, or gave it its last input; null when the host made it. */
  run: z.nullable(count),
  status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'closed']),
  /** What of that run's budget is set aside for it, and for how many inputs that have not ended. */
  carved: limitAmounts,
  inputs: count,
  /** What one input of it may use by its own limits, and what may still be set aside for it at all. */
  each: bounds,
  may: bounds,
  code: z.nullable(z.string().max(96)),
  output_ref: z.nullable(ref()),
  value_ref: z.nullable(ref()),
  tally,
});

/** A child session. */
export type ChildEntry = z.infer<typeof childEntry>;

/**
 * What the cell that made this session has set aside for inputs of one of its runs: an entry of the table `allowances`,
 * by the number of that run.
 */
export const allowance = z.strictObject({
  /** What may still be used. */
  ...bounds.shape,
  /** How much of that is set aside for sessions below by runs that have ended. */
  below: limitAmounts,
  /** The inputs that have not ended. */
  inputs: count,
});

/** What is set aside for inputs of one run of the cell that made this session. */
export type Allowance = z.infer<typeof allowance>;

/** A run that has ended while something was set aside for its children: an entry of the table `ended`, by its number. */
export const endedRun = z.strictObject({ allowance: count, carved: limitAmounts });

/** Cancels that wait for the end of one run; beside them there may be one close. */
export const STOP_COMMANDS_MAX = 8;

/** A command that waits for a run to have stopped. */
export const stopCommand = z.strictObject({ command_id: commandId, type: z.enum(['Cancel', 'Close']) });

/** A session's state. */
export const sessionState = z.strictObject({
  status: z.enum(['Open', 'Closed']),
  /** The definition that the next run begins with. */
  def_ref: ref(),
  config: agentConfig,
  /** Counts what was adopted and reconfigured. */
  config_rev: count,
  lifecycle: z.enum(LIFECYCLES),
  waiting: z.nullable(z.strictObject({ for: z.enum(WAITS), until: z.nullable(count) })),
  /** What a run that is paused or waits goes on with. */
  suspended: z.nullable(z.enum(NEXT_MOVES)),
  /** How a run that is stopping will have ended, without `stop` only its turn; and the commands that asked for it. */
  stopping: z.nullable(
    z.strictObject({ commands: z.array(stopCommand).max(STOP_COMMANDS_MAX + 1), stop: z.nullable(stopReason) }),
  ),
  session_epoch: count,
  step_epoch: count,
  runs: count,
  /** Inputs accepted so far: the age of those that wait. */
  inputs: count,
  run: z.nullable(currentRun),
  calls: z.array(pendingCall).max(64),
  /** Late answers that came while these calls were under way. */
  late: z.array(lateItem).max(16),
  window: contextWindow,
  /** The highest pressure on the window told of, in percent; 0 for none. */
  context_pressure: z.int().min(0).max(100),
  steers: z.array(steer).max(16),
  /** Inputs in the table `queue`, and whether they wait for `Resume`. */
  queued: count,
  queue_suspended: z.boolean(),
  /** Children that have not been closed, and how many there have been. */
  children: count,
  spawned: count,
  depth: count,
  tell_owner: z.boolean(),
  labels: z.record(z.string().max(64), z.string().max(256)),
  /** Items in the transcript. */
  items: count,
  last: z.nullable(
    z.strictObject({
      run: count,
      stop: stopReason,
      output_ref: z.nullable(ref()),
      value_ref: z.nullable(ref()),
      tally,
    }),
  ),
});

/** A session's state. */
export type SessionState = z.infer<typeof sessionState>;

/** An entry of the table `agents`: a definition that may be spawned. */
export const spawnable = adopted;
