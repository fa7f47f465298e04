/** A real HTTP server that answers like a provider, scripted by each test: no mock of fetch. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

/** A request that the server received. */
export interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers one request; the last one answers all further requests, too. */
export type Answer = (response: ServerResponse, seen: Seen) => void;

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Starts a server on a free port of this machine. */
export async function providerServer(...answers: readonly Answer[]) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString('utf8') };
      seen.push(one);
      answers[Math.min(seen.length, answers.length) - 1]?.(response, one);
    });
    request.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** A completion with this message. */
export function completion(message: unknown, over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
    ...over,
  };
}

/** One tool call on the wire. */
export function wireCall(id: string, name: string, args: string) {
  return { id, type: 'function', function: { name, arguments: args } };
}

/** Never answers. */
export const hang: Answer = () => {};

/** Starts an answer and breaks the connection. */
export const cutMidBody: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":"chatcmpl-1","choi');
  setTimeout(() => response.destroy(), 10);
};

/** Answers with a stream of events, each given as data and sent as one piece. */
export function events(...datas: readonly unknown[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const data of datas) response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    response.end();
  };
}

/** Answers with a stream of events and then stays silent, or breaks the connection. */
export function eventsThen(what: 'hang' | 'cut', ...datas: readonly unknown[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const data of datas) response.write(`data: ${JSON.stringify(data)}\n\n`);
    if (what === 'cut') setTimeout(() => response.destroy(), 10);
  };
}

/** A chunk of a streamed completion with this delta. */
export function chunk(delta: unknown, over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: null }],
    ...over,
  };
}

/** The chunk that ends a streamed completion. */
export function ending(finish_reason = 'stop'): Record<string, unknown> {
  return chunk({}, { choices: [{ index: 0, delta: {}, finish_reason }] });
}
