/** Requests and answers of Node as those of the platform, within bounds. */
import { JoinedBytes } from '@reprise/contracts';
import type { Exchange } from './exchange.js';

/** A body that exceeds its bound. */
export const TOO_LARGE = Symbol('too large');

/** The path of a request; undefined for what is no path, such as `//`. */
export function pathOf(target = '/'): string | undefined {
  const url = target.startsWith('/') ? `http://localhost${target}` : target; // a proxy may be sent a whole address
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}

/**
 * Reads a body; stops where it exceeds the bound. Its pieces are joined as they come: in a list, pieces of one byte take
 * hundreds of times their bytes.
 *
 * @throws Error when the client leaves before the end
 */
export function readBody({ request, signal }: Exchange, bytesMax: number): Promise<string | typeof TOO_LARGE> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve(TOO_LARGE);
  return new Promise((resolve, reject) => {
    const body = new JoinedBytes();
    const left = (): void => reject(new Error('the client left before the end of its request'));
    if (signal.aborted) return left();
    signal.addEventListener('abort', left, { once: true });
    request.on('error', left);
    request.on('end', () => resolve(new TextDecoder('utf-8', { ignoreBOM: true }).decode(body.take())));
    request.on('data', (piece: Buffer) => {
      if (body.length + piece.length <= bytesMax) return body.add(piece);
      request.removeAllListeners('data').pause();
      body.take();
      resolve(TOO_LARGE);
    });
  });
}

/** The platform's form of a request, without its body; aborted when the client leaves before it is answered. */
export function requestOf({ request, signal }: Exchange, path: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  const { method = 'GET' } = request;
  return new Request(`http://localhost${path}`, { method, headers, signal });
}

/** Sends an answer, as fast as the client reads it. */
export async function send(answer: Response, exchange: Exchange): Promise<void> {
  const { response, signal, isOver } = exchange;
  if (isOver) return void answer.body?.cancel().catch(() => undefined);
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  if (answer.body === null) return void response.end();
  response.flushHeaders();
  const reader = answer.body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (response.destroyed) return;
      if (!response.write(read.value)) await drained(exchange);
    }
    // A stream was ended, and its client does not read: it would never hear of the end.
    if (signal.aborted && response.writableNeedDrain) response.destroy();
    else response.end();
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function drained({ response, signal }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.on('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** An error of the protocol that belongs to no request. */
export function refusal(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
}
