/** The wire name of the session reducer, and the events that plans and other sessions send it. */
import {
  contextText,
  droppedCalls,
  FINISH_REASONS,
  failureCode,
  judgedReturn,
  llmToolCall,
  ref,
  usage,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { limitAmounts, tally } from './config.js';
import { stopReason, WAITS } from './lifecycle.js';
import { toolOutcome } from './state.js';
import { changedCall } from './tool-call.js';
import { TOOLSETS_MAX, toolsetName, toolsetNews } from './toolset.js';
import { author } from './transcript.js';

const count = z.int().min(0);

/** The wire name of the session reducer. */
export const SESSION_REDUCER = 'aos.agent/SessionReducer@1';

/** The place of a step: results that carry other session or step epochs are stale. */
export const stepFence = { session_epoch: count, step_epoch: count };

/** An event: the model of the step answered. */
export const llmStepCompleted = z.strictObject({
  ...stepFence,
  output_ref: ref(),
  by: author,
  finish_reason: z.enum(FINISH_REASONS),
  tool_calls: z.array(llmToolCall).max(64),
  dropped_calls: z.exactOptional(droppedCalls),
  returns: z.exactOptional(judgedReturn),
  context: z.exactOptional(z.array(contextText).max(16)),
  request_bytes: count,
  warnings_ref: z.exactOptional(ref()),
  usage: z.exactOptional(usage),
});

/** A model call failed for good, after the retries of its adapter. */
export const llmStepFailed = z.strictObject({
  ...stepFence,
  code: failureCode,
  retryable: z.boolean(),
  usage: z.exactOptional(usage),
});

/** A model wrote the requested summary. */
export const compacted = z.strictObject({ ...stepFence, base_ref: ref(), usage: z.exactOptional(usage) });

/** An event: no summary could be written. */
export const compactionFailed = llmStepFailed.omit({ retryable: true });

/** An event: a tool call of the step settled. */
export const toolResult = z.strictObject({
  ...stepFence,
  call_id: z.string().max(128),
  outcome: toolOutcome,
  /** The bytes of its output that a model is shown. */
  bytes: z.exactOptional(count),
  usage: z.exactOptional(usage),
  /** Of a call that was denied: the reason, as text. */
  reason_ref: z.exactOptional(ref()),
  /** Of a call that was not run because its tool has changed. */
  changed: z.exactOptional(changedCall),
});

/** The toolsets of the run were refreshed. */
export const toolsetsRefreshed = z.strictObject({ ...stepFence, toolsets: z.array(toolsetNews).max(TOOLSETS_MAX) });

/** A person decided about the withheld tools of a toolset. */
export const toolsetDecision = z.strictObject({ toolset: toolsetName, approved: z.boolean() });

/** A child's report on the amounts that its parent has set aside for it: what was used, and what is returned. */
const paid = z.strictObject({
  /** The run of the parent that set the amounts aside. */
  run: count,
  tally,
  /** Additional usage that is possible but was not reported. */
  unaccounted: limitAmounts,
  /** The amounts that are no longer set aside, because they were used or are returned. */
  released: limitAmounts,
  /** Whether nothing stays set aside and no input remains that it would pay for. */
  over: z.boolean(),
});

/** A notice of a child session to the cell that made it. */
export const childNotice = z.strictObject({
  session: z.string().min(1).max(256),
  run: count,
  news: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('settled'),
      stop: stopReason,
      output_ref: z.nullable(ref()),
      value_ref: z.nullable(ref()),
      tally,
      /** The report on the parent's allowance; absent when the allowance did not pay for the run. */
      paid: z.exactOptional(paid),
      /** Whether the child continues at once with a waiting input. */
      more: z.boolean(),
    }),
    /** Amounts that were used or returned apart from the end of a run: by sessions below, or by dropped inputs. */
    z.strictObject({ kind: z.literal('spent'), paid }),
    z.strictObject({ kind: z.literal('waiting'), for: z.enum(WAITS) }),
    z.strictObject({ kind: z.literal('running') }),
    z.strictObject({ kind: z.literal('pressure'), of: z.enum(['context', 'budget']), level: count }),
    z.strictObject({ kind: z.literal('closed') }),
  ]),
});

/** The news of a child session. */
export type ChildNotice = z.infer<typeof childNotice>;
