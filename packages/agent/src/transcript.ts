/**
 * The transcript: what a session's log holds, item by item, and the normalized form of what a model answered.
 *
 * Owns the shapes and how their blobs are written. Does not own the log (the kernel's) nor how items become a
 * provider's request (the providers').
 *
 * Two kinds of blob hang on it: *text* blobs are plain UTF-8 (`text_ref`, a tool's `output_ref`), so people read
 * them with any tool; *value* blobs are canonical bytes (`args_ref`, an assistant's `output_ref`).
 */
import type { Ref, Value } from '@reprise/contracts';
import { RepriseError, ref, value } from '@reprise/contracts';
import type { ContentReader, ContentStore } from '@reprise/kernel';
import { decode, encode } from '@reprise/kernel';
import * as z from 'zod';

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

/** What a tool call came to, as the model is to read it: a bounded text behind a link. */
export const toolItem = z.strictObject({
  role: z.literal('tool'),
  call_id: callId,
  tool: toolName,
  output_ref: ref(),
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

/** Keeps a text as plain UTF-8 and names it. */
export function putText(content: ContentStore, text: string): Promise<Ref> {
  return content.put(new TextEncoder().encode(text));
}

/**
 * Reads a text blob. Bytes that are not UTF-8 become U+FFFD, so that old content never stops a run.
 *
 * @throws RepriseError `blob_missing`
 */
export async function readText(content: ContentReader, link: Ref): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await readBlob(content, link));
}

/** Keeps a value as its canonical bytes and names them. */
export function putValue(content: ContentStore, data: Value): Promise<Ref> {
  return content.put(encode(data));
}

/**
 * Reads a value blob.
 *
 * @throws RepriseError `blob_missing`, or `invalid_bytes` when the blob is not one canonical value
 */
export async function readValue(content: ContentReader, link: Ref): Promise<Value> {
  return decode(await readBlob(content, link));
}

/**
 * Reads a model's normalized output.
 *
 * @throws RepriseError `blob_missing`, `invalid_bytes`, or `invalid_value` when the blob has another shape
 */
export async function readLlmOutput(content: ContentReader, link: Ref): Promise<LlmOutput> {
  const parsed = llmOutput.safeParse(await readValue(content, link));
  if (parsed.success) return parsed.data;
  throw new RepriseError('invalid_value', 'this blob is not the normalized output of a model', {
    where: link.toString(),
    expected: '{text?, tool_calls}',
    cause: parsed.error,
  });
}

async function readBlob(content: ContentReader, link: Ref): Promise<Uint8Array> {
  const bytes = await content.get(link);
  if (bytes !== undefined) return bytes;
  throw new RepriseError('blob_missing', 'a linked blob is not in the content store', {
    where: link.toString(),
    hint: 'Restore the store from a copy that holds it; `reprise verify` lists everything that is missing.',
  });
}
