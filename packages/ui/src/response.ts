/** A run, or a whole conversation, as a chat endpoint's response: server-sent events. */
import type { Cursor, Session } from '@reprise/agent';
import { cursor as cursorSchema } from '@reprise/agent';
import { fieldsOf, headerRecord, isFunction, requireArgument, requireFields, requireMethods } from '@reprise/contracts';
import { type CaughtUp, type FollowedMessage, type FollowOptions, followed } from './history.js';
import { type PlacedChunk, placedChunks, type UiStreamOptions, type WatchedRun } from './stream.js';

/** The headers of a UI message stream. */
export const UI_STREAM_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
});

interface ResponseOptions {
  /**
   * After this many silent milliseconds a comment is sent, so that no proxy closes the connection. Default 15 seconds.
   */
  readonly keepAliveMs?: number;
  /** Headers besides those of the stream itself. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What {@link uiMessageResponse} streams, and how the response looks. */
type UiResponseOptions = UiStreamOptions & ResponseOptions;

/** What {@link uiFollowResponse} streams, and how the response looks. */
type UiFollowOptions = FollowOptions & ResponseOptions;

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
  requireMethods(run, ['events', 'stream'], 'uiMessageResponse(run)', 'a run, from session.send');
  requireFields(options, 'uiMessageResponse(options)', 'an object');
  const { headers = {}, keepAliveMs = KEEP_ALIVE_MS, ...rest } = options;
  const open = (signal: AbortSignal) => placedChunks(run, { ...rest, signal });
  return new Response(eventStream(open, { text: chunkText, last: 'data: [DONE]\n\n' }, { ...options, keepAliveMs }), {
    headers: { ...UI_STREAM_HEADERS, ...headerRecord(headers) },
  });
}

/**
 * Answers with the messages of a session as they arrive and change, for a page's `EventSource`: each event is a
 * {@link FollowedMessage} as JSON, and carries its cursor as `id`. An event `caught-up` follows the past messages. A
 * browser that loses the connection asks again with `Last-Event-ID`; with {@link afterOf} as `after` it then receives
 * the messages that changed meanwhile.
 *
 * @example return uiFollowResponse(session, { after: afterOf(request) })
 */
export function uiFollowResponse(session: Pick<Session, 'events'>, options: UiFollowOptions = {}): Response {
  requireMethods(session, ['events'], 'uiFollowResponse(session)', 'a session, from world.session');
  requireFields(options, 'uiFollowResponse(options)', 'an object');
  const { headers = {}, keepAliveMs = KEEP_ALIVE_MS, ...rest } = options;
  const open = (signal: AbortSignal) => followed(session, { ...rest, signal });
  return new Response(eventStream(open, { text: newsText, last: '' }, { ...options, keepAliveMs }), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headerRecord(headers) },
  });
}

/** The cursor that a reconnecting client sends; undefined when it sends no cursor, or an invalid one. */
export function afterOf(request: { readonly headers: { get(name: string): string | null } }): Cursor | undefined {
  const fits = isFunction(fieldsOf(fieldsOf(request).headers).get);
  requireArgument(fits, 'afterOf(request)', 'a Request, with headers', request);
  const parsed = cursorSchema.safeParse(request.headers.get('last-event-id'));
  return parsed.success ? parsed.data : undefined;
}

/** How the items of a stream are written, and what stands at its end. */
interface Format<T> {
  text(item: T): string;
  readonly last: string;
}

function eventStream<T>(
  open: (signal: AbortSignal) => AsyncGenerator<T>,
  format: Format<T>,
  options: { readonly signal?: AbortSignal; readonly keepAliveMs: number },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const left = new AbortController();
  const items = open(options.signal === undefined ? left.signal : AbortSignal.any([options.signal, left.signal]));
  let next: ReturnType<typeof items.next> | undefined;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      next ??= items.next();
      const told = await within(next, options.keepAliveMs);
      if (told === undefined) {
        controller.enqueue(encoder.encode(': keep-alive\n\n'));
        return;
      }
      next = undefined;
      controller.enqueue(encoder.encode(told.done === true ? format.last : format.text(told.value)));
      if (told.done === true) controller.close();
    },
    cancel: async () => {
      left.abort();
      await items.return(undefined);
    },
  });
}

function chunkText({ chunk, cursor }: PlacedChunk): string {
  return `${idLine(cursor)}data: ${JSON.stringify(chunk)}\n\n`;
}

function newsText(news: FollowedMessage | CaughtUp): string {
  if ('caughtUp' in news) return `${idLine(news.cursor)}event: caught-up\ndata: {}\n\n`;
  const { cursor, ...message } = news;
  return `${idLine(cursor)}data: ${JSON.stringify(message)}\n\n`;
}

function idLine(cursor: Cursor | undefined): string {
  return cursor === undefined ? '' : `id: ${cursor}\n`;
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
