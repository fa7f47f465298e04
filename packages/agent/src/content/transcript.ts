/**
 * The transcript's content: how the blobs behind a session's log are written and read.
 *
 * Does not own the shapes of items (`contracts/transcript.ts`), the log (the kernel's), nor the assembly of a
 * provider's request (the providers').
 *
 * A transcript links two kinds of blob: *text* blobs are plain UTF-8 (`text_ref`, a tool's `output_ref`), so people
 * read them with any tool; *value* blobs are canonical bytes (`args_ref`, an assistant's `output_ref`).
 */
import type { Ref } from '@reprise/contracts';
import { RepriseError, requireArgument, requireMethods } from '@reprise/contracts';
import type { ContentReader, ContentStore } from '@reprise/kernel';
import { getBytes, getValue, readLog } from '@reprise/kernel/store';
import { type LlmOutput, llmOutput, type TranscriptItem } from '../contracts/transcript.js';

/** Stores a text as plain UTF-8 and returns its link. */
export async function putText(content: ContentStore, text: string): Promise<Ref> {
  requireMethods(content, ['put'], 'putText(content)', 'the content of a world, such as world.kernel.content');
  requireArgument(typeof text === 'string', 'putText(text)', 'text', text);
  return content.put(new TextEncoder().encode(text));
}

/**
 * Reads a text blob. Bytes that are not UTF-8 become U+FFFD, so that old content never stops a run.
 *
 * @throws RepriseError `blob_missing`, `blob_erased`
 */
export async function readText(content: ContentReader, link: Ref): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await getBytes(content, link));
}

/**
 * Reads a model's normalized output.
 *
 * @throws RepriseError `blob_missing`, `blob_erased`, `invalid_bytes`, or `invalid_value` when the blob has another shape
 */
export async function readLlmOutput(content: ContentReader, link: Ref): Promise<LlmOutput> {
  const parsed = llmOutput.safeParse(await getValue(content, link));
  if (parsed.success) return parsed.data;
  throw new RepriseError('invalid_value', 'the blob is not a normalized model output', {
    where: link.toString(),
    expected: '{text?, tool_calls}',
    cause: parsed.error,
  });
}

/**
 * Reads a transcript from a log head, oldest item first.
 *
 * @param from the first item that is read
 * @param singles earlier items that are read as well
 */
export async function* readTranscript(
  content: ContentReader,
  head: Ref,
  from = 0,
  singles: readonly number[] = [],
): AsyncGenerator<TranscriptItem> {
  // The session reducer's log schema checked each item before it was appended.
  for await (const item of readLog(content, head, from, singles)) yield item as unknown as TranscriptItem;
}
