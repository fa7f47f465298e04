/** The session's contract on the wire: its name, and the events that plans and other sessions send it. */
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
import * as z from 'zod';
import { limitAmounts, tally } from './config.js';
import { stopReason, WAITS } from './lifecycle.js';
import { toolOutcome } from './state.js';
import { TOOLSETS_MAX, toolsetName, toolsetNews } from './toolset.js';
import { author } from './transcript.js';

const count = z.int().min(0);

/** The wire name of the session reducer. */
export const SESSION_REDUCER = 'aos.agent/SessionReducer@1';

/** Where a step stands: session and step epochs fence what comes back late. */
export const stepFence = { session_epoch: count, step_epoch: count };

/** A model answered. */
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

/** A model call failed for good; its retries are the adapter's. */
export const llmStepFailed = z.strictObject({
  ...stepFence,
  code: failureCode,
  retryable: z.boolean(),
  usage: z.exactOptional(usage),
});

/** A model wrote the summary that it was asked for. */
export const compacted = z.strictObject({ ...stepFence, base_ref: ref(), usage: z.exactOptional(usage) });

/** There is no summary. */
export const compactionFailed = llmStepFailed.omit({ retryable: true });

/** A tool call settled. */
export const toolResult = z.strictObject({
  ...stepFence,
  call_id: z.string().max(128),
  outcome: toolOutcome,
  /** The bytes of its output, as a model is told of it. */
  bytes: z.exactOptional(count),
  usage: z.exactOptional(usage),
});

/** The toolsets of the run have been looked at. */
export const toolsetsRefreshed = z.strictObject({ ...stepFence, toolsets: z.array(toolsetNews).max(TOOLSETS_MAX) });

/** Somebody decided about what is held back of a toolset. */
export const toolsetDecision = z.strictObject({ toolset: toolsetName, approved: z.boolean() });

/** What was used of what the cell that made a session has set aside for it, or is given back. */
const paid = z.strictObject({
  /** The run that set it aside. */
  run: count,
  tally,
  /** What may have been used besides: nobody told. */
  unaccounted: limitAmounts,
  /** What is no longer set aside, because it was used or is given back. */
  released: limitAmounts,
  /** Whether nothing of it is left, nor any input that it pays for. */
  over: z.boolean(),
});

/** How a child session fares, told by it to the cell that made it. */
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
      /** What it means for what was set aside; absent when that did not pay for the run. */
      paid: z.exactOptional(paid),
      /** Whether it goes on at once with an input that waited. */
      more: z.boolean(),
    }),
    /** Something was used, or given back, beside the end of a run: by sessions below, or by inputs that fell away. */
    z.strictObject({ kind: z.literal('spent'), paid }),
    z.strictObject({ kind: z.literal('waiting'), for: z.enum(WAITS) }),
    z.strictObject({ kind: z.literal('running') }),
    z.strictObject({ kind: z.literal('pressure'), of: z.enum(['context', 'budget']), level: count }),
    z.strictObject({ kind: z.literal('closed') }),
  ]),
});

/** How a child session fares. */
export type ChildNotice = z.infer<typeof childNotice>;
