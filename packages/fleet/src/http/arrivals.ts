/**
 * Requests on their way in: nobody has signed for their bytes yet, so they have a bound each, and one for all together
 * (receiver/R3).
 */
import type { IncomingMessage } from 'node:http';
import { JoinedBytes } from '@reprise/contracts';
import { CALL_BYTES_MAX } from '../wire/outcome.js';
import { REQUEST_BYTES_MORE } from './frame.js';

/** The bytes of one request. */
const REQUEST_BYTES_MAX = CALL_BYTES_MAX + REQUEST_BYTES_MORE;

/** The bytes of all requests that are arriving. */
const ARRIVING_BYTES_MAX = 64 * 1024 * 1024;

/** The requests that a process is reading. */
export class Arrivals {
  #bytes = 0;

  /** Reads the body of a request. @throws Error when the sender leaves before its end */
  read(request: IncomingMessage): Promise<Uint8Array | 'too large' | 'busy'> {
    const body = new JoinedBytes();
    let held = 0;
    const arrived = new Promise<Uint8Array | 'too large' | 'busy'>((resolve, reject) => {
      const left = (): void => reject(new Error('the sender left before the end of its request'));
      request.on('error', left).on('close', left);
      request.on('end', () => resolve(body.take()));
      request.on('data', (piece: Buffer) => {
        const isFull = this.#bytes + piece.length > ARRIVING_BYTES_MAX;
        if (isFull || held + piece.length > REQUEST_BYTES_MAX) {
          request.removeAllListeners('data').pause();
          return resolve(isFull ? 'busy' : 'too large');
        }
        held += piece.length;
        this.#bytes += piece.length;
        body.add(piece);
      });
    });
    return arrived.finally(() => {
      this.#bytes -= held;
    });
  }
}
