/** A run as a chat endpoint's response: server-sent events. */
import type { Cursor } from '@reprise/agent';
import { cursor as cursorSchema } from '@reprise/agent';
import { headerRecord } from '@reprise/contracts';
import { type PlacedChunk, placedChunks, type UiStreamOptions, type WatchedRun } from './stream.js';

/** The headers of a UI message stream. */
export const UI_STREAM_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
});

/** Options of {@link uiMessageResponse}. */
export interface UiResponseOptions extends UiStreamOptions {
  /**
   * After this many silent milliseconds a comment is sent, so that no proxy closes the connection. Default 15 seconds.
   */
  readonly keepAliveMs?: number;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const KEEP_ALIVE_MS = 15_000;

/**
 * Answers a chat request with a run. The last chunk of each journal event carries the event's cursor as `id`. A client
 * may send that back as `Last-Event-ID` and continue with {@link afterOf} as `after`: it then receives exactly the
 * rest, and again any chunks that came after that `id`. `useChat` always reads from the beginning and needs none of
 * this.
 *
 * @example return uiMessageResponse(await session.send(input, { id }))
 */
export function uiMessageResponse(run: WatchedRun, options: UiResponseOptions = {}): Response {
  const { headers = {}, keepAliveMs = KEEP_ALIVE_MS, ...rest } = options;
  return new Response(eventStream(run, rest, keepAliveMs), {
    headers: { ...UI_STREAM_HEADERS, ...headerRecord(headers) },
  });
}

/** The cursor that a reconnecting client sends; undefined when it sends no cursor, or an invalid one. */
export function afterOf(request: { readonly headers: { get(name: string): string | null } }): Cursor | undefined {
  const parsed = cursorSchema.safeParse(request.headers.get('last-event-id'));
  return parsed.success ? parsed.data : undefined;
}

function eventStream(run: WatchedRun, options: UiStreamOptions, keepAliveMs: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const left = new AbortController();
  const signal = options.signal === undefined ? left.signal : AbortSignal.any([options.signal, left.signal]);
  const chunks = placedChunks(run, { ...options, signal });
  let next: ReturnType<typeof chunks.next> | undefined;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      next ??= chunks.next();
      const told = await within(next, keepAliveMs);
      if (told === undefined) {
        controller.enqueue(encoder.encode(': keep-alive\n\n'));
        return;
      }
      next = undefined;
      controller.enqueue(encoder.encode(told.done === true ? 'data: [DONE]\n\n' : eventText(told.value)));
      if (told.done === true) controller.close();
    },
    cancel: async () => {
      left.abort();
      await chunks.return(undefined);
    },
  });
}

function eventText({ chunk, cursor }: PlacedChunk): string {
  return `${cursor === undefined ? '' : `id: ${cursor}\n`}data: ${JSON.stringify(chunk)}\n\n`;
}

/** The promise's value, if it arrives in time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
