/** Reads bodies within a bound, of Node's requests and of the platform's. */
import type { IncomingMessage } from 'node:http';
import { JoinedBytes } from '@reprise/contracts';

interface BodySource {
  readonly request: IncomingMessage;
  readonly signal: AbortSignal;
}

/** A body that exceeds its bound. */
export const TOO_LARGE = Symbol('too large');

/**
 * Reads a body; stops where it exceeds the bound. Its pieces are joined as they come: in a list, pieces of one byte take
 * hundreds of times their bytes.
 *
 * @throws Error when the client leaves before the end
 */
export function readBody({ request, signal }: BodySource, bytesMax: number): Promise<string | typeof TOO_LARGE> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve(TOO_LARGE);
  return new Promise((resolve, reject) => {
    const body = new JoinedBytes();
    const left = (): void => reject(new Error('the client left before the end of its request'));
    if (signal.aborted) return left();
    signal.addEventListener('abort', left, { once: true });
    request.on('error', left);
    request.on('end', () => resolve(decoded(body)));
    request.on('data', (piece: Buffer) => {
      if (body.length + piece.length <= bytesMax) return body.add(piece);
      request.removeAllListeners('data').pause();
      body.take();
      resolve(TOO_LARGE);
    });
  });
}

/** Reads the body of a platform's request, as {@link readBody} does. */
export async function readRequestBody(request: Request, bytesMax: number): Promise<string | typeof TOO_LARGE> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return TOO_LARGE;
  if (request.body === null) return '';
  const body = new JoinedBytes();
  const reader = request.body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (body.length + read.value.length > bytesMax) {
      await reader.cancel();
      return TOO_LARGE;
    }
    body.add(read.value);
  }
  return decoded(body);
}

function decoded(body: JoinedBytes): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body.take());
}
