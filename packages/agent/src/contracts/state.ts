/** The state of a session: small and flat, whatever its age. Growing data is in its log and its tables. */
import { contextText, digestHex, inputPart, ON_UNKNOWN, ref, sessionOp, toolMeaning } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { commandId, runCause } from './commands.js';
import { adopted, agentConfig, bounds, limitAmounts, tally } from './config.js';
import { LIFECYCLES, stopReason, WAITS } from './lifecycle.js';
import { nonExecution } from './non-execution.js';
import { ownerReply } from './owner.js';
import { artifact } from './tool-call.js';
import { childResult, lateItem } from './transcript.js';
import { compactionDue, contextWindow } from './window.js';

const count = z.int().min(0);
const callId = z.string().min(1).max(128);

/** The outcome of a tool call. */
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
  z.strictObject({ answer: ownerReply, is_error: z.boolean() }),
  z.strictObject({ non_execution: nonExecution }),
]);

/** The outcome of a tool call. */
export type ToolOutcome = z.infer<typeof toolOutcome>;

/**
 * The part of an outcome that the state stores until the batch ends; its files, children and answer, `details` in number,
 * are in the table `details`.
 */
export const storedOutcome = z.strictObject({
  output_ref: z.exactOptional(ref()),
  is_error: z.exactOptional(z.boolean()),
  edited_args_ref: z.exactOptional(ref()),
  non_execution: z.exactOptional(nonExecution),
  /** The bytes of the output that a model is shown. */
  bytes: z.exactOptional(count),
  details: z.int().min(0).max(64),
});

/** The part of an outcome that the state stores. */
export type StoredOutcome = z.infer<typeof storedOutcome>;

/**
 * An entry of the table `details`: a file that a call of the batch made, the result of one of its children, or the
 * answer of the session's owner.
 */
export const storedDetail = z.union([artifact, childResult, ownerReply]);

/** An entry of the table `details`. */
export type StoredDetail = z.infer<typeof storedDetail>;

/** The phase of a call of the current step. */
export const CALL_PHASES = ['queued', 'running', 'approval', 'ask', 'owner', 'children', 'settled'] as const;

/** A tool call of the current step, in the order of the model's requests. */
export const pendingCall = z.strictObject({
  call_id: callId,
  tool: z.string().min(1).max(128),
  args_ref: ref(),
  signature: z.string().regex(/^[0-9a-f]{16}$/),
  phase: z.enum(CALL_PHASES),
  /** The ordinal of the call's plan, once it was started. */
  plan: z.nullable(count),
  fingerprint: z.exactOptional(digestHex()),
  meaning: z.exactOptional(toolMeaning),
  judged_ref: z.exactOptional(ref()),
  /** Of a call that is asked about again: the version that it was decided on, and the arguments that the model gave. */
  before_ref: z.exactOptional(ref()),
  asked_ref: z.exactOptional(ref()),
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
  /** How often the outcome was unknown. Above zero the call may have happened, whatever its last outcome is. */
  unknown: count,
  session: z.exactOptional(sessionOp),
  /** Why the call cannot run, and the text that tells the model. */
  issue: z.exactOptional(z.string().max(96)),
  issue_ref: z.exactOptional(ref()),
  note_ref: z.exactOptional(ref()),
  outcome: z.nullable(storedOutcome),
  /** A digest of the outcome, for loop detection. */
  mark: z.exactOptional(z.string().max(16)),
  /** How many calls of its program the owner has not answered. */
  turn_calls: z.exactOptional(count),
});

/** A tool call of the current step. */
export type PendingCall = z.infer<typeof pendingCall>;

/** The next move of a suspended run: its next step, the calls of its model, or the answer. */
export const NEXT_MOVES = ['step', 'calls', 'answer'] as const;

/** The next move of a suspended run. */
export type NextMove = (typeof NEXT_MOVES)[number];

/** The run under way, from its input to its end. */
export const currentRun = z.strictObject({
  number: count,
  cause: runCause,
  def_ref: ref(),
  config: agentConfig,
  config_rev: count,
  /** How many inputs and steers the run has answered. */
  turns: count,
  tool_rounds: count,
  tally,
  /** The ordinal of the plan of the current model call. */
  step_plan: z.nullable(count),
  /** Set while that call writes a summary: the first item that stays in the window, and the reason. */
  compacting: z.nullable(z.strictObject({ to: count, ...compactionDue.shape })),
  /** Whether the current step was refused as too long, and is tried again behind a summary. */
  squeezed: z.boolean(),
  /** What children of this run have used, and what is set aside for their further use. */
  children_tally: tally,
  allocated: limitAmounts,
  /** The allowance that pays for this run, by the number of the parent's run; null without an allowance. */
  allowance: z.nullable(z.strictObject({ run: count, ...bounds.shape })),
  /** The reserve of the current model call; null without a call or without a limit. */
  reserve: z.nullable(limitAmounts),
  /** Possible usage of calls that reported none, here and below. It counts as used. */
  unaccounted: limitAmounts,
  /** Abandoned calls that may still report their usage, with the reserve that counts until then. */
  abandoned: z.array(z.strictObject({ plan: count, ...limitAmounts.shape })).max(8),
  started_at: count,
  /** Time in which the run waited for outside input, in milliseconds; it counts in no limit. */
  waited_ms: count,
  /** Since when the run waits or is paused; null while its time counts. */
  parked_since: z.nullable(count),
  /** How many answers did not fit `returns`. */
  repairs: count,
  /** How many model calls were repeated because their adapter ran out of time. */
  retries: count,
  /** The last steps: digests of their calls, and of their calls with their results, oldest first. */
  recent: z.array(z.tuple([z.string().max(16), z.string().max(16)])).max(32),
  /** How many loops were found so far. */
  loops: count,
  context: z.nullable(z.array(contextText).max(16)),
  /** The highest reported pressure on the run's budget, in percent; 0 for none. */
  budget_pressure: z.int().min(0).max(100),
  /** The last answer, once there is one. */
  output_ref: z.nullable(ref()),
  value_ref: z.nullable(ref()),
  /** What is wrong with the last answer, according to the agent's `returns`. */
  issue_ref: z.nullable(ref()),
  truncated: z.boolean(),
});

/** The run under way, from its input to its end. */
export type CurrentRun = z.infer<typeof currentRun>;

/** A message that waits for the next step. */
export const steer = z.strictObject({
  command_id: commandId,
  parts: z.array(inputPart).min(1).max(16),
  pin: z.exactOptional(z.literal(true)),
});

/** A waiting input: an entry of the table `queue`, in the order in which inputs are taken up. */
export const queuedInput = z.strictObject({
  /** The run that the input was announced for. */
  run: count,
  /** Whether the input was announced as a turn of the current run, and not as a run of its own. */
  joins: z.boolean(),
  command_id: commandId,
  kind: z.enum(['input', 'follow_up']),
  cause: runCause,
  parts: z.array(inputPart).min(1).max(16),
  pin: z.exactOptional(z.literal(true)),
  priority: z.int(),
  /** The entry of the table `allowances` that pays for the input. */
  allowance: z.exactOptional(count),
});

/** An input in the queue of a session. */
export type QueuedInput = z.infer<typeof queuedInput>;

/** A child session: an entry of the table `children`, under the name that the model uses. */
export const childEntry = z.strictObject({
  session: z.string().min(1).max(256),
  agent: z.string().min(1).max(64),
  /** The run of this session that made the child or sent it its last input; null when the app made it. */
  run: z.nullable(count),
  status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'closed']),
  /** The amount of that run's budget that is set aside for the child, and how many unfinished inputs it pays for. */
  allocated: limitAmounts,
  inputs: count,
  /**
   * The amount that one input may use by the child's own limits, and the amount that may still be set aside for the
   * child.
   */
  each: bounds,
  may: bounds,
  code: z.nullable(z.string().max(96)),
  output_ref: z.nullable(ref()),
  value_ref: z.nullable(ref()),
  tally,
});

/** A session that this one made, and what it may still use. */
export type ChildEntry = z.infer<typeof childEntry>;

/**
 * The amounts that the cell that made this session has set aside for inputs of one of its runs: an entry of the table
 * `allowances`, by the number of that run.
 */
export const allowance = z.strictObject({
  /** The amounts that may still be used. */
  ...bounds.shape,
  /** The part of these amounts that ended runs have set aside for sessions below. */
  below: limitAmounts,
  /** How many of its inputs have not ended. */
  inputs: count,
});

/** The amounts that are set aside for inputs of one run of the cell that made this session. */
export type Allowance = z.infer<typeof allowance>;

/** An ended run with amounts set aside for its children: an entry of the table `ended`, by its number. */
export const endedRun = z.strictObject({ allowance: count, allocated: limitAmounts });

/** How many cancels may wait for the end of one run; one close may wait as well. */
export const STOP_COMMANDS_MAX = 8;

/** A command that waits for a run to stop. */
export const stopCommand = z.strictObject({ command_id: commandId, type: z.enum(['Cancel', 'Close']) });

/** The state of a session's cell; longer lists are in its tables. */
export const sessionState = z.strictObject({
  status: z.enum(['Open', 'Closed']),
  /** The definition for the next run. */
  def_ref: ref(),
  config: agentConfig,
  /** Counts changes of the configuration: adoptions and reconfigurations. */
  config_rev: count,
  lifecycle: z.enum(LIFECYCLES),
  waiting: z.nullable(z.strictObject({ for: z.enum(WAITS), until: z.nullable(count) })),
  /** The next move of a paused or waiting run. */
  suspended: z.nullable(z.enum(NEXT_MOVES)),
  /** How a stopping run will end (without `stop`, only its turn ends), and the commands that requested it. */
  stopping: z.nullable(
    z.strictObject({ commands: z.array(stopCommand).max(STOP_COMMANDS_MAX + 1), stop: z.nullable(stopReason) }),
  ),
  session_epoch: count,
  step_epoch: count,
  runs: count,
  /** How many inputs were accepted so far: it orders the waiting inputs by age. */
  inputs: count,
  run: z.nullable(currentRun),
  calls: z.array(pendingCall).max(64),
  /** Late answers that arrived while the current calls were under way. */
  late: z.array(lateItem).max(16),
  window: contextWindow,
  /** The highest reported pressure on the window, in percent; 0 for none. */
  context_pressure: z.int().min(0).max(100),
  steers: z.array(steer).max(16),
  /** How many inputs the table `queue` has, and whether they wait for `Resume`. */
  queued: count,
  queue_suspended: z.boolean(),
  /** How many children are not closed, and how many were made in total. */
  children: count,
  spawned: count,
  depth: count,
  tell_owner: z.literal([true, false, 'after_start']),
  labels: z.record(z.string().max(64), z.string().max(256)),
  /** How many items the transcript has. */
  items: count,
  /** The input that the current or the last run answers: of several turns the last one. */
  asked: z.nullable(z.strictObject({ command_id: commandId, cause: runCause, first_ref: z.nullable(ref()) })),
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

/** The state of a session's cell; longer lists are in its tables. */
export type SessionState = z.infer<typeof sessionState>;

/** An entry of the table `agents`: a definition that may be spawned. */
export const spawnable = adopted;
