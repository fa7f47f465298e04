/** A chat page: it reads the chunks of a run as the AI SDK's own pages do. */
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { UiChunk } from '../../src/index.js';

// Checked by the compiler: the AI SDK accepts the sent messages.
const chunksFit: (chunk: UiChunk) => UIMessageChunk = (chunk) => chunk;

/** Everything that a stream brings. */
export async function all<T>(stream: ReadableStream<T> | AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of stream as AsyncIterable<T>) found.push(one);
  return found;
}

/** The final message of a page. */
export async function read(chunks: readonly UiChunk[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunksFit(chunk));
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, onError: () => undefined })) last = message;
  return last;
}

/** A value as it arrives over HTTP. */
export const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
