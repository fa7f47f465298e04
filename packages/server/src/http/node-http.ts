/** Requests and answers of Node as those of the platform, within bounds. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A body that exceeds its bound. */
export const TOO_LARGE = Symbol('too large');

/** Reads a body; stops where it exceeds the bound. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<string | typeof TOO_LARGE> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return TOO_LARGE;
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > bytesMax) return TOO_LARGE;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The platform's form of a request; aborted when the client leaves before it is answered. */
export function requestOf(request: IncomingMessage, response: ServerResponse, body: string): Request {
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort();
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  const { method = 'GET' } = request;
  const url = `http://localhost${request.url ?? '/'}`;
  return new Request(url, { method, headers, signal: left.signal, ...(method === 'POST' ? { body } : {}) });
}

/** Sends an answer, as fast as the client reads it. */
export async function send(answer: Response, response: ServerResponse): Promise<void> {
  if (response.destroyed) return void answer.body?.cancel().catch(() => undefined);
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  if (answer.body === null) return void response.end();
  response.flushHeaders();
  const reader = answer.body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  response.once('close', leave);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (response.destroyed) return;
      if (!response.write(read.value)) await drained(response);
    }
    response.end();
  } finally {
    response.off('close', leave);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** An error of the protocol that belongs to no request. */
export function refusal(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
}
