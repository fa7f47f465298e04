/** The items of a session's transcript log, and the normalized output of a model. */
import { ref, value } from '@reprise/contracts';
import * as z from 'zod';
import { nonExecution } from './non-execution.js';

const callId = z.string().min(1).max(128);
const toolName = z.string().min(1).max(128);

/** What a person or program said. */
export const userItem = z.strictObject({ role: z.literal('user'), text_ref: ref() });

/** One call as the transcript keeps it: enough to answer it, the arguments behind a link. */
export const transcriptCall = z.strictObject({ call_id: callId, tool: toolName, args_ref: ref() });

/** What a model answered; `output_ref` links the normalized output, `calls` are the tool calls in it. */
export const assistantItem = z.strictObject({
  role: z.literal('assistant'),
  output_ref: ref(),
  calls: z.array(transcriptCall).max(64),
});

/**
 * What a tool call came to, as the model is to read it: a bounded text behind a link, or, for a call without an
 * output, why there is none.
 */
export const toolItem = z.strictObject({
  role: z.literal('tool'),
  call_id: callId,
  tool: toolName,
  output_ref: z.exactOptional(ref()),
  non_execution: z.exactOptional(nonExecution),
  is_error: z.boolean(),
});

/** One item of a transcript log. */
export const transcriptItem = z.discriminatedUnion('role', [userItem, assistantItem, toolItem]);

/** One call as the transcript keeps it. */
export type TranscriptCall = z.infer<typeof transcriptCall>;
/** One item of a transcript log. */
export type TranscriptItem = z.infer<typeof transcriptItem>;

/**
 * The normalized output of a model, as the canonical bytes at a receipt's `output_ref`. Arguments that were not
 * a JSON object stay here as the model wrote them, so that nothing it said is lost.
 */
export const llmOutput = z.strictObject({
  text: z.exactOptional(z.string()),
  tool_calls: z.array(z.strictObject({ call_id: callId, tool: toolName, args: value() })),
});

/** The normalized output of a model. */
export type LlmOutput = z.infer<typeof llmOutput>;
