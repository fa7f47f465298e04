/** The session's contract: its state, the events it takes and the facts it states (`aos.agent/*`). */
import { FINISH_REASONS, failureCode, llmToolCall, ref, usage } from '@reprise/contracts';
import * as z from 'zod';
import { nonExecution } from './non-execution.js';

const count = z.int().min(0);

/** The wire name of the session reducer. */
export const SESSION_REDUCER = 'aos.agent/SessionReducer@1';

/** The states of a session's current run. */
export const LIFECYCLES = [
  'Idle',
  'Running',
  'WaitingInput',
  'Paused',
  'Cancelling',
  'Completed',
  'Failed',
  'Cancelled',
] as const;

/** The state of a session's current run. */
export type Lifecycle = (typeof LIFECYCLES)[number];

/** What a run may use before it is stopped. Checked before anything is emitted. */
export const runLimits = z.strictObject({
  /** Model calls in one run. */
  max_steps: z.int().min(1).max(10_000),
  /** Tool calls that one model answer may ask for. */
  max_tool_calls_per_step: z.int().min(1).max(64),
});

/** What a run may use before it is stopped. */
export type RunLimits = z.infer<typeof runLimits>;

/** The part of an agent definition that the reducer decides on; the whole definition is the blob at `def_ref`. */
export const agentConfig = z.strictObject({
  agent: z.string().min(1).max(64),
  model: z.string().min(1).max(128),
  system_ref: ref(),
  tools_ref: ref(),
  limits: runLimits,
});

/** The part of an agent definition that the reducer decides on. */
export type AgentConfig = z.infer<typeof agentConfig>;

/** Why a run ended. */
export const stopReason = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('Completed') }),
  z.strictObject({
    kind: z.literal('Failed'),
    code: failureCode,
    retryable: z.boolean(),
    stage: z.enum(['llm_step', 'tool_call', 'plan']),
  }),
  z.strictObject({ kind: z.literal('LimitsExceeded'), limit: z.enum(['max_steps', 'max_tool_calls_per_step']) }),
]);

/** Why a run ended. */
export type StopReason = z.infer<typeof stopReason>;

/** Where a step stands: session and step epochs fence what comes back late. */
export const stepFence = { session_epoch: count, step_epoch: count };

/** What a tool call came to. */
export const toolOutcome = z.union([
  z.strictObject({ output_ref: ref(), operator_output_ref: ref(), truncated: z.boolean(), is_error: z.boolean() }),
  z.strictObject({ non_execution: nonExecution }),
]);

/** What a tool call came to. */
export type ToolOutcome = z.infer<typeof toolOutcome>;

/** A session adopts an agent definition; makes the session when it is new, else counts from the next run. */
export const agentAdopted = z.strictObject({ def_ref: ref(), config: agentConfig });

/** Somebody said something. Starts a run, or waits for the current one to end. */
export const userInput = z.strictObject({ text_ref: ref() });

/** A model answered. */
export const llmStepCompleted = z.strictObject({
  ...stepFence,
  output_ref: ref(),
  finish_reason: z.enum(FINISH_REASONS),
  tool_calls: z.array(llmToolCall).max(64),
  usage: z.exactOptional(usage),
});

/** A model call failed for good; its retries are the adapter's. */
export const llmStepFailed = z.strictObject({ ...stepFence, code: failureCode, retryable: z.boolean() });

/** A tool call settled. */
export const toolResult = z.strictObject({ ...stepFence, call_id: z.string().max(128), outcome: toolOutcome });

/** Fact: an input was accepted and is, or will be, the start of this run. */
export const inputAccepted = z.strictObject({ run: count, text_ref: ref(), queued: z.boolean() });

/** Fact: the lifecycle changed. A run that ended says why, and links the model's last answer when it has one. */
export const lifecycleChanged = z.strictObject({
  run: count,
  from: z.enum(LIFECYCLES),
  to: z.enum(LIFECYCLES),
  stop: z.exactOptional(stopReason),
  output_ref: z.exactOptional(ref()),
  usage: z.exactOptional(z.strictObject({ steps: count, tokens_in: count, tokens_out: count })),
});

/** Fact: something came back for a step that is over; recorded, and changes nothing. */
export const staleIgnored = z.strictObject({ event: z.string().max(128), step_epoch: count });

/** A tool call of the step at hand, in the order in which the model asked. */
export const pendingCall = z.strictObject({
  call_id: z.string().max(128),
  tool: z.string().max(128),
  args_ref: ref(),
  outcome: z.nullable(toolOutcome),
});

/** A tool call of the step at hand. */
export type PendingCall = z.infer<typeof pendingCall>;

/**
 * The run at hand, under the definition with which it began: one that is adopted meanwhile counts from the next run.
 * Its growing parts (transcript, results) are in the session's log.
 */
export const currentRun = z.strictObject({
  number: count,
  config: agentConfig,
  steps: count,
  tokens_in: count,
  tokens_out: count,
  started_at: count,
});

/** A session's state: small and flat, whatever its age. */
export const sessionState = z.strictObject({
  /** The definition that the next run begins with. */
  def_ref: ref(),
  config: agentConfig,
  lifecycle: z.enum(LIFECYCLES),
  session_epoch: count,
  step_epoch: count,
  runs: count,
  run: z.nullable(currentRun),
  calls: z.array(pendingCall).max(64),
  queue: z.array(z.strictObject({ run: count, text_ref: ref() })).max(64),
  last: z.nullable(z.strictObject({ run: count, stop: stopReason, output_ref: z.nullable(ref()) })),
});

/** A session's state. */
export type SessionState = z.infer<typeof sessionState>;
