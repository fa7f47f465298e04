/** Reads the body of a request as JSON. */
import type { IncomingMessage } from 'node:http';
import { HttpRefusal } from 'reprise/server';

/** The largest body: a message of this size is still shown whole when the page loads again. */
export const BODY_BYTES_MAX = 256 * 1024;

/** How much of a body that is too large is read and dropped, so that its sender gets to read the answer. */
const DROPPED_BYTES_MAX = 64 * 1024 * 1024;

/** Reads JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = Buffer.alloc(BODY_BYTES_MAX); // a list of chunks of one byte would take hundreds of times as much
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunk.copy(body, bytes);
      bytes += chunk.length;
      if (bytes > DROPPED_BYTES_MAX) break;
    }
  } catch {
    throw new HttpRefusal(400, 'The request broke off.'); // the page was closed: no fault of the server
  }
  if (bytes > BODY_BYTES_MAX)
    throw new HttpRefusal(413, `The message is too large: at most ${BODY_BYTES_MAX} bytes.`, { connection: 'close' });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body.subarray(0, bytes)));
  } catch (error) {
    throw new HttpRefusal(400, `The body is not JSON: ${error instanceof Error ? error.message : error}.`);
  }
}
