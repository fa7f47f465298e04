/**
 * Judges what a server sends over HTTP, before the MCP package reads it: the messages of a response become readable or
 * are left out, and a response without an answer ends the wait for it.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import type { Judge } from './judge.js';
import { JudgedEvents } from './judged-events.js';
import { isObject, readJson } from './read-json.js';

/** Answers to an attempt to resume a stream after which another attempt is of use, with new credentials or later. */
const MAY_BE_RESUMED: readonly number[] = [401, 403, 408, 425, 429];

/** What the start of a body shows: messages as JSON, or an event stream. */
const STARTS = { json: /^\s*[[{]/, events: /^(?:data|event|id|retry)?:|^(?:data|event|id|retry)(?:\r|\n)/ } as const;

/**
 * Makes a `fetch` that judges responses.
 *
 * @param deliver hands a message to the MCP package beside its responses
 */
export function judgedFetch(judge: Judge, deliver: (message: JSONRPCMessage) => void, own: typeof fetch): typeof fetch {
  return async (input, init) => {
    // Requests for tokens and the like come through here, too: only messages accept event streams.
    const accepts = new Headers(init?.headers).get('accept') ?? '';
    if (!accepts.includes('text/event-stream')) return own(input, init);
    if (init?.method === 'GET') return streamed(judge, deliver, own, input, init);
    const response = await own(input, init);
    if (!response.ok) return response;
    const id = requestIn(init?.body);
    if (id === undefined) return response;
    return new Answer(judge, deliver, id).judged(response);
  };
}

/** The id of the request that is sent; undefined for a notification or an answer. */
function requestIn(body: unknown): RequestId | undefined {
  const message = typeof body === 'string' ? readJson(body) : undefined;
  return isObject(message) && typeof message.method === 'string' ? (message.id as RequestId | undefined) : undefined;
}

/** The response to one request. */
class Answer {
  constructor(
    private readonly judge: Judge,
    private readonly deliver: (message: JSONRPCMessage) => void,
    private readonly id: RequestId,
  ) {}

  async judged(response: Response): Promise<Response> {
    if (response.body === null || response.status === 202) {
      await response.body?.cancel().catch(() => undefined);
      this.#lose(`the server answered with status ${response.status} and nothing else`);
      return nothing();
    }
    const type = response.headers.get('content-type') ?? '';
    if (/^\s*text\/event-stream\b/i.test(type)) return this.#events(response, response.body);
    const { start, body } = await startOf(response.body);
    if (STARTS.events.test(start)) return this.#events(response, body);
    const text = await new Response(body).text();
    if (!STARTS.json.test(start) && !/\bjson\b/i.test(type) && text.trim() !== '') return said(response, text);
    return this.#messages(text);
  }

  /** A response that is messages, and no stream of events. */
  #messages(text: string): Response {
    const isEmpty = text.trim() === '';
    if (!isEmpty) for (const message of this.judge.read(text, this.id)) this.deliver(message);
    this.#lose(isEmpty ? 'the answer of the server is empty' : 'the response of the server holds no answer');
    return nothing();
  }

  #events(response: Response, body: ReadableStream<Uint8Array>): Response {
    return said(response, body.pipeThrough(new JudgedEvents(this.judge, this.id, this.deliver)), 'text/event-stream');
  }

  /** Ends the wait for the answer, if it has not come. */
  #lose(why: string): void {
    const end = this.judge.lost(this.id, why);
    if (end !== undefined) this.deliver(end);
  }
}

/** A stream that the MCP package opens or resumes: one that the server does not know any more brings no answer. */
async function streamed(
  judge: Judge,
  deliver: (message: JSONRPCMessage) => void,
  own: typeof fetch,
  input: Parameters<typeof fetch>[0],
  init: RequestInit,
): Promise<Response> {
  const response = await own(input, init);
  const { ok, status, body } = response;
  if (!ok && new Headers(init.headers).has('last-event-id') && isFinal(status)) {
    await body?.cancel().catch(() => undefined);
    return ended();
  }
  if (!ok || body === null) return response;
  return said(response, body.pipeThrough(new JudgedEvents(judge, undefined, deliver)), 'text/event-stream');
}

/** Whether another attempt to resume a stream is of no use. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !MAY_BE_RESUMED.includes(status);
}

/** For the MCP package: the server has no such stream, and the wait for its answer is over. */
function ended(): Response {
  return new Response(null, { status: 405 });
}

/** A response that brings the MCP package no messages. */
function nothing(): Response {
  return new Response('[]', { headers: { 'content-type': 'application/json' } });
}

/** A response with another body. */
function said(
  { status, statusText, headers, url }: Response,
  body: string | ReadableStream<Uint8Array>,
  type?: string,
): Response {
  const kept = new Headers(headers);
  for (const name of ['content-length', 'content-encoding']) kept.delete(name);
  if (type !== undefined) kept.set('content-type', type);
  return Object.defineProperty(new Response(body, { status, statusText, headers: kept }), 'url', { value: url });
}

/** The first bytes of a body that say anything, and the whole body. */
async function startOf(body: ReadableStream<Uint8Array>): Promise<{ start: string; body: ReadableStream<Uint8Array> }> {
  const reader = body.getReader();
  const read: Uint8Array[] = [];
  let start = '';
  let isDone = false;
  while (start.trim().length < 8 && !isDone) {
    const { value, done } = await reader.read();
    isDone = done;
    if (value === undefined) continue;
    read.push(value);
    start = Buffer.concat(read)
      .toString('utf8')
      .replace(/^\uFEFF/, '');
  }
  const whole = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of read) controller.enqueue(piece);
      if (isDone) controller.close();
    },
    pull: async (controller) => {
      const { value, done } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { start, body: whole };
}
