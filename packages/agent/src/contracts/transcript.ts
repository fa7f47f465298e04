/** The items of a session's transcript log, and the normalized output of a model. */
import { droppedCalls, inputPart, RECEIPT_STATUSES, ref, value } from '@reprise/contracts';
import * as z from 'zod';
import { nonExecution } from './non-execution.js';
import { artifact } from './tool-call.js';

const callId = z.string().min(1).max(128);
const toolName = z.string().min(1).max(128);

/** Where an item in the user's place comes from. */
export const USER_ORIGINS = ['input', 'follow_up', 'steer', 'loop', 'repair', 'parent'] as const;

/** What a person or program said, or what the session itself says to the model in their place. */
export const userItem = z.strictObject({
  role: z.literal('user'),
  origin: z.enum(USER_ORIGINS),
  parts: z.array(inputPart).min(1).max(16),
});

/** One call as the transcript keeps it: enough to answer it, the arguments behind a link. */
export const transcriptCall = z.strictObject({ call_id: callId, tool: toolName, args_ref: ref() });

/** Who answered. */
export const author = z.strictObject({ profile: z.string().min(1).max(128), model: z.string().min(1).max(128) });

/** What a model answered; `output_ref` links the normalized output, `calls` are the tool calls in it. */
export const assistantItem = z.strictObject({
  role: z.literal('assistant'),
  output_ref: ref(),
  by: author,
  calls: z.array(transcriptCall).max(64),
  /** What it asked for beyond those. */
  dropped_calls: z.exactOptional(droppedCalls),
  /** It was told to stop while it spoke. */
  interrupted: z.exactOptional(z.literal(true)),
});

/** What a child session came to, for its parent's model: pointers, which the projection resolves and bounds. */
export const childResult = z.strictObject({
  child: z.string().min(1).max(64),
  agent: z.string().min(1).max(64),
  status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'closed', 'absent']),
  code: z.exactOptional(z.string().max(96)),
  output_ref: z.exactOptional(ref()),
  value_ref: z.exactOptional(ref()),
});

/** What a child session came to. */
export type ChildResult = z.infer<typeof childResult>;

/**
 * What a tool call came to, as the model is to read it: a bounded text behind a link, what children came to, or, for a
 * call without an output, why there is none.
 */
export const toolItem = z.strictObject({
  role: z.literal('tool'),
  call_id: callId,
  tool: toolName,
  output_ref: z.exactOptional(ref()),
  files: z.exactOptional(z.array(artifact).max(16)),
  children: z.exactOptional(z.array(childResult).max(64)),
  non_execution: z.exactOptional(nonExecution),
  is_error: z.boolean(),
  /** The arguments it ran with, where somebody edited them before approving. */
  edited_args_ref: z.exactOptional(ref()),
  /** What the person said who decided about it. */
  note_ref: z.exactOptional(ref()),
});

/** A call that was reported without an output, and was answered after all. */
export const lateItem = z.strictObject({
  role: z.literal('late'),
  call_id: callId,
  tool: toolName,
  status: z.enum(RECEIPT_STATUSES),
  output_ref: z.exactOptional(ref()),
});

/** A call that was reported without an output, and was answered after all. */
export type LateItem = z.infer<typeof lateItem>;

/** One item of a transcript log. */
export const transcriptItem = z.discriminatedUnion('role', [userItem, assistantItem, toolItem, lateItem]);

/** One call as the transcript keeps it. */
export type TranscriptCall = z.infer<typeof transcriptCall>;
/** One item of a transcript log. */
export type TranscriptItem = z.infer<typeof transcriptItem>;

/** What a provider put into an answer that only the same provider reads back: reasoning, signatures, its own tools. */
export const opaquePart = z.strictObject({
  kind: z.enum(['reasoning', 'provider_tool', 'other']),
  /** As a person reads it, when it can be read. */
  text: z.exactOptional(z.string()),
  native: value(),
});

/** What a provider put into an answer that only the same provider reads back. */
export type OpaquePart = z.infer<typeof opaquePart>;

/**
 * The normalized output of a model, as the canonical bytes at a receipt's `output_ref`. Arguments that were not
 * a JSON object stay here as the model wrote them, so that nothing it said is lost.
 */
export const llmOutput = z.strictObject({
  text: z.exactOptional(z.string()),
  tool_calls: z.array(z.strictObject({ call_id: callId, tool: toolName, args: value() })),
  opaque: z.exactOptional(z.array(opaquePart)),
});

/** The normalized output of a model. */
export type LlmOutput = z.infer<typeof llmOutput>;
