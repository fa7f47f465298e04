/** The items of a session's transcript log, and the normalized output of a model. */
import { droppedCalls, inputPart, RECEIPT_STATUSES, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { nonExecution } from './non-execution.js';
import { ownerReply } from './owner.js';
import { artifact } from './tool-call.js';

const callId = z.string().min(1).max(128);
const toolName = z.string().min(1).max(128);

/** The origin of an item in the user's role. */
export const USER_ORIGINS = ['input', 'follow_up', 'steer', 'loop', 'repair', 'parent'] as const;

/** A message of a person or program, or of the session itself in their role. */
export const userItem = z.strictObject({
  role: z.literal('user'),
  origin: z.enum(USER_ORIGINS),
  parts: z.array(inputPart).min(1).max(16),
});

/** One call as the transcript stores it: enough to answer it, the arguments behind a link. */
export const transcriptCall = z.strictObject({ call_id: callId, tool: toolName, args_ref: ref() });

/** The provider and model of an answer. */
export const author = z.strictObject({ profile: z.string().min(1).max(128), model: z.string().min(1).max(128) });

/** A model's answer; `output_ref` links the normalized output, `calls` are the tool calls in it. */
export const assistantItem = z.strictObject({
  role: z.literal('assistant'),
  output_ref: ref(),
  by: author,
  calls: z.array(transcriptCall).max(64),
  /** The calls that the model requested beyond the bound. */
  dropped_calls: z.exactOptional(droppedCalls),
  /** The model was stopped during its answer. */
  interrupted: z.exactOptional(z.literal(true)),
});

/** The result of a child session, for the model of its parent: links, which the prompt assembly resolves and cuts. */
export const childResult = z.strictObject({
  child: z.string().min(1).max(64),
  agent: z.string().min(1).max(64),
  status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled', 'closed', 'absent']),
  code: z.exactOptional(z.string().max(96)),
  output_ref: z.exactOptional(ref()),
  value_ref: z.exactOptional(ref()),
});

/** The result of a child session. */
export type ChildResult = z.infer<typeof childResult>;

/**
 * The result of a tool call, as the model reads it: a bounded text behind a link, the results of children, the answer of
 * the session's owner, or the reason why there is no output.
 */
export const toolItem = z.strictObject({
  role: z.literal('tool'),
  call_id: callId,
  tool: toolName,
  output_ref: z.exactOptional(ref()),
  files: z.exactOptional(z.array(artifact).max(16)),
  children: z.exactOptional(z.array(childResult).max(64)),
  /** The answer of the session's owner. */
  answer: z.exactOptional(ownerReply),
  non_execution: z.exactOptional(nonExecution),
  is_error: z.boolean(),
  /** The arguments of the execution, when a person edited them before approving. */
  edited_args_ref: z.exactOptional(ref()),
  /** The message of the person who decided about the call. */
  note_ref: z.exactOptional(ref()),
});

/** A late answer to a call that was settled without an output. */
export const lateItem = z.strictObject({
  role: z.literal('late'),
  call_id: callId,
  tool: toolName,
  status: z.enum(RECEIPT_STATUSES),
  output_ref: z.exactOptional(ref()),
});

/** A late answer to a call that was settled without an output. */
export type LateItem = z.infer<typeof lateItem>;

/** One item of a transcript log. */
export const transcriptItem = z.discriminatedUnion('role', [userItem, assistantItem, toolItem, lateItem]);

/** One call as the transcript stores it. */
export type TranscriptCall = z.infer<typeof transcriptCall>;
/** One item of a transcript log. */
export type TranscriptItem = z.infer<typeof transcriptItem>;

/** A part of an answer that only the same provider reads back: reasoning, signatures, its own tools. */
export const opaquePart = z.strictObject({
  kind: z.enum(['reasoning', 'provider_tool', 'other']),
  /** The part as readable text, where it has one. */
  text: z.exactOptional(z.string()),
  native: value(),
});

/** A part of an answer that only the same provider reads back. */
export type OpaquePart = z.infer<typeof opaquePart>;

/**
 * The normalized output of a model, as the canonical bytes at a receipt's `output_ref`. Arguments that were not a JSON
 * object stay here as the model wrote them, so that no output is lost.
 */
export const llmOutput = z.strictObject({
  text: z.exactOptional(z.string()),
  tool_calls: z.array(z.strictObject({ call_id: callId, tool: toolName, args: value() })),
  opaque: z.exactOptional(z.array(opaquePart)),
});

/** The normalized output of a model. */
export type LlmOutput = z.infer<typeof llmOutput>;
