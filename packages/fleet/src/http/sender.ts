/**
 * Sends calls to other processes of the fleet. Whatever comes back is an outcome: what is cut, forged, too large or late has
 * a reason, and nothing of it is believed.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { JoinedBytes } from '@reprise/contracts';
import { CALL_BYTES_MAX, type Outcome, readOutcome, type UnansweredReason } from '../wire/outcome.js';
import { isSigned, type Secrets, SIGNATURE_BYTES, type Signed } from '../wire/seal.js';
import { ANSWER_BYTES_MORE, BEAT, SIGNATURE_HEADER } from './frame.js';

/** A request that is signed, and how long to wait for a sign of life. */
interface Sending {
  readonly body: Uint8Array;
  /** The longest silence, in milliseconds: after it the process is taken for stopped. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** Connections to the other processes, which stay open. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(private readonly secrets: Secrets) {}

  /** Sends a request once. Never rejects. */
  send(address: string, sending: Sending): Promise<Outcome> {
    const signed = this.secrets.sign(sending.body);
    return new Promise((resolve) => {
      try {
        new Exchange(this.#agent, address, sending, signed, resolve);
      } catch (error) {
        // Another program may share the database, and say how it is reached in its own way.
        resolve({ kind: 'again', reason: 'unreachable', error });
      }
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One request and its answer. */
class Exchange {
  readonly #request: ClientRequest;
  readonly #answer = new JoinedBytes();
  #silence: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    agent: Agent,
    address: string,
    private readonly sending: Sending,
    private readonly signed: Signed,
    private readonly settle: (outcome: Outcome) => void,
  ) {
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': sending.body.length,
      [SIGNATURE_HEADER]: Buffer.from(signed.signature).toString('hex'),
    };
    this.#request = request(address, { method: 'POST', agent, headers });
    this.#request.on('response', (response) => this.#read(response));
    this.#request.on('error', (error) => this.#none(this.#answer.length > 0 ? 'cut' : 'unreachable', error));
    sending.signal.addEventListener('abort', this.#left);
    if (sending.signal.aborted) this.#left();
    this.#listen();
    this.#request.end(sending.body);
  }

  readonly #left = (): void => this.#none('slow');

  /** Waits for the next sign of life. */
  #listen(): void {
    clearTimeout(this.#silence);
    if (!this.#isOver) this.#silence = setTimeout(() => this.#none('silent'), this.sending.patienceMs);
  }

  #read(response: IncomingMessage): void {
    response.on('error', (error) => this.#none('cut', error));
    response.on('aborted', () => this.#none('cut'));
    if (response.statusCode !== 200) {
      response.resume();
      return this.#none('refused');
    }
    let begun = false;
    response.on('data', (piece: Buffer) => {
      this.#listen();
      const start = begun ? 0 : piece.findIndex((byte) => byte !== BEAT[0]);
      if (start === -1) return;
      begun = true;
      if (this.#answer.length + piece.length > CALL_BYTES_MAX + ANSWER_BYTES_MORE) return this.#none('too_large');
      this.#answer.add(piece.subarray(start));
    });
    response.on('end', () => this.#end(this.#answer.take()));
  }

  /** The whole answer, of which nothing is read before its signature was compared. */
  #end(bytes: Uint8Array): void {
    const signature = bytes.subarray(1, 1 + SIGNATURE_BYTES);
    const body = bytes.subarray(1 + SIGNATURE_BYTES);
    if (bytes.length === 0) return this.#none('cut');
    const outcome = isSigned(this.signed, body, signature) ? readOutcome(body) : undefined;
    if (outcome === undefined) return this.#none('forged');
    this.#over(outcome);
  }

  #none(reason: UnansweredReason, error?: unknown): void {
    if (this.#isOver) return;
    this.#over({ kind: 'again', reason, ...(error === undefined ? {} : { error }) });
    this.#request.destroy(); // an answer that comes later would be taken for that of the next request
  }

  #over(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#silence);
    this.sending.signal.removeEventListener('abort', this.#left);
    this.settle(outcome);
  }
}
