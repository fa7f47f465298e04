/** Answers as bytes in pieces, read by a client of a wire format as from a network. */
import {
  anthropicMessages,
  type ModelClient,
  type ModelResult,
  openAiCompatible,
  openAiResponses,
} from '../src/index.js';

/** The formats that are read from bytes. */
export const BYTE_FORMATS = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

/** A format that is read from bytes. */
export type ByteFormat = (typeof BYTE_FORMATS)[number];

/** The result of an answer, and the progress that watchers received. */
export interface Came {
  readonly result: ModelResult;
  readonly notes: readonly unknown[];
}

const utf8 = new TextEncoder();

/** Events in a provider's encoding. */
export function sse(...datas: readonly unknown[]): Uint8Array {
  return utf8.encode(
    datas.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join(''),
  );
}

/** An answer that is JSON. */
export function jsonBytes(body: unknown): Uint8Array {
  return utf8.encode(JSON.stringify(body));
}

/** Cuts bytes into pieces of this size; the rest is the last piece. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...sorted, bytes.length].map((place, i) => bytes.subarray(i === 0 ? 0 : sorted[i - 1], place));
}

/** The client's result of an answer in these pieces. */
export async function readPieces(
  format: ByteFormat,
  pieces: readonly Uint8Array[],
  type: 'text/event-stream' | 'application/json' = 'text/event-stream',
): Promise<Came> {
  const notes: unknown[] = [];
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = left.shift();
      if (piece === undefined) controller.close();
      else if (piece.length > 0) controller.enqueue(piece);
      else controller.enqueue(new Uint8Array(0));
    },
  });
  const fetch = async () => new Response(body, { headers: { 'content-type': type } });
  const result = await clientOf(format, fetch).generate(
    { system: '', messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Go' }] }], tools: [] },
    {
      signal: new AbortController().signal,
      idempotencyKey: 'e'.repeat(64),
      progress: (note) => void notes.push(note),
      secret: async () => '',
    },
  );
  return { result, notes };
}

/** The client's result of these events. */
export async function readEvents(format: ByteFormat, ...datas: readonly unknown[]): Promise<ModelResult> {
  return (await readPieces(format, [sse(...datas)])).result;
}

/** The client's result of an answer that did not stream. */
export async function readWhole(format: ByteFormat, body: unknown): Promise<ModelResult> {
  return (await readPieces(format, [jsonBytes(body)], 'application/json')).result;
}

/** An answer without its raw bytes, or the code of a failure. */
export function sumOf(result: ModelResult): unknown {
  if (!result.ok) return result.failure.status === 'error' ? result.failure.code : result.failure.status;
  const { request: _, rawBody: __, ...answer } = result.response;
  return answer;
}

/** The calls of an answer as `tool(args)`, or the code of a failure. */
export function callsOf(result: ModelResult): unknown {
  if (!result.ok) return sumOf(result);
  return result.response.calls.map(({ tool, args, issue }) => `${tool}(${JSON.stringify(args)})${issue ?? ''}`);
}

function clientOf(format: ByteFormat, fetch: typeof globalThis.fetch): ModelClient {
  const options = { baseUrl: 'http://provider.test/v1', retry: { retriesMax: 0 }, fetch };
  if (format === 'openai-chat') return openAiCompatible({ model: 'm', ...options });
  return format === 'openai-responses' ? openAiResponses('m', options) : anthropicMessages('m', options);
}
