/**
 * The door for calls from other processes of the fleet.
 *
 * Invariants
 * R1  A request is executed only when it is signed with a secret of the fleet, for this process, now, and for the first time
 *     (seal/S1, seal/S2).
 * R2  What a request asks for is done here or refused: it is never sent on, so that no call goes in circles.
 * R3  Who cannot sign costs at most the bytes of one request, for a bounded time, and all of them together a bounded number.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { RepriseError } from '@reprise/contracts';
import { type Outcome, writeOutcome } from '../wire/outcome.js';
import {
  type ForwardedCall,
  Nonces,
  readCall,
  type Secrets,
  type Signed,
  signAnswer,
  WINDOW_MS,
} from '../wire/seal.js';
import { Arrivals } from './arrivals.js';
import { BEAT, MARK, SIGNATURE_HEADER } from './frame.js';

/** What the door needs of the process behind it. */
interface ReceiverParts {
  readonly secrets: Secrets;
  /** The fleet and the address that requests name; the address is known once the door is open. */
  readonly fleet: () => string;
  readonly address: () => string;
  /** Does what a call asks for, here (R2). Never rejects. */
  execute(call: ForwardedCall, signal: AbortSignal): Promise<Outcome>;
  /** Called for each request that was refused. */
  refused(error: RepriseError): void;
}

/** How long a request may take to arrive, and how long an idle connection stays, in milliseconds. */
const ARRIVES_MS = 10_000;
const IDLE_MS = 60_000;

/** Connections from other processes at once: each of them has one for a call under way. */
const CONNECTIONS_MAX = 2_048;

/** How often a running operation says that its process lives, in the silence that its caller bears. */
const BEATS_IN_PATIENCE = 4;

/** Why a request was refused, before anything of it was done. */
type Refusal = 'signature' | 'address' | 'fleet' | 'time' | 'replayed' | 'busy' | 'malformed' | 'too large';

const HINTS: Partial<Readonly<Record<Refusal, string>>> = {
  signature: 'Has every process of the fleet the same secret?',
  time: 'Keep the clocks of the machines together.',
  fleet: 'Another fleet has sent it to this address.',
};

/** The door of a process. */
export class Receiver {
  readonly #server: Server;
  readonly #nonces = new Nonces(() => performance.now());
  readonly #arrivals = new Arrivals();
  /** The connections, each with the answer to its last request. */
  readonly #connections = new Map<Socket, ServerResponse | undefined>();
  /** Those on which a signed request is executed, or its answer is under way. */
  readonly #executing = new Set<Socket>();
  #isClosing = false;

  constructor(private readonly parts: ReceiverParts) {
    const bounds = { requestTimeout: ARRIVES_MS, headersTimeout: ARRIVES_MS, keepAliveTimeout: IDLE_MS };
    this.#server = createServer({ ...bounds, maxHeaderSize: 8_192, connectionsCheckingInterval: ARRIVES_MS / 2 });
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('connection', (socket) => {
      this.#connections.set(socket, undefined);
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.#server.on('request', (request, response) => {
      if (this.#isInTurn(request.socket, response)) void this.#answer(request, response);
      else request.socket.destroy();
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Opens the door. @returns its port @throws RepriseError `invalid_argument` when the place is taken */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const failed = (cause: Error): void =>
        reject(
          new RepriseError('invalid_argument', 'a fleet cannot listen at this place', {
            where: 'listen',
            actual: `${host}:${port}`,
            hint: 'Another process listens there, or this machine has no such address.',
            cause,
          }),
        );
      this.#server.once('error', failed);
      this.#server.listen(port, host, () => {
        this.#server.off('error', failed);
        // The machine has no more connections to give. Those that are there go on.
        this.#server.on('error', (cause) => this.parts.refused(refusal('busy', { cause })));
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Stops accepting connections; resolves when every answer has left. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#isClosing = true;
    // Node watches over slow requests no longer, and one that is not here yet is not executed: its sender tries elsewhere.
    for (const socket of this.#connections.keys()) if (!this.#executing.has(socket)) socket.destroy();
    await closed;
  }

  /** Cuts what is still open. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  /** A sender asks again only after it was answered: what comes otherwise costs nothing more (R3). */
  #isInTurn(socket: Socket, response: ServerResponse): boolean {
    const before = this.#connections.get(socket);
    this.#connections.set(socket, response);
    return before === undefined || before.writableEnded;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController();
    response.once('close', () => left.abort());
    response.once('finish', () => {
      // The connection of the last answers is idle only after the event.
      if (this.#isClosing) setImmediate(() => this.#server.closeIdleConnections());
    });
    try {
      if (request.method !== 'POST') return this.#refuse(response, 'malformed');
      const body = await this.#arrivals.read(request);
      if (typeof body === 'string') return this.#refuse(response, body);
      const signed = this.parts.secrets.recognize(body, signatureOf(request));
      if (signed === undefined) return this.#refuse(response, 'signature');
      const call = this.#admitted(body);
      if (typeof call === 'string') return this.#refuse(response, call, signed);
      this.#executing.add(request.socket);
      response.once('close', () => this.#executing.delete(request.socket));
      await this.#execute(call, signed, response, left.signal);
    } catch {
      response.destroy(); // the sender left in the middle of its request
    }
  }

  /** The call, if this process may execute it now (R1). */
  #admitted(body: Uint8Array): ForwardedCall | Refusal {
    const call = readCall(body);
    if (call === undefined) return 'malformed';
    if (call.fleet !== this.parts.fleet()) return 'fleet';
    if (call.to !== this.parts.address()) return 'address';
    if (Math.abs(Date.now() - call.at) > WINDOW_MS) return 'time';
    const taken = this.#nonces.take(call.nonce);
    if (taken !== undefined) return taken === 'used' ? 'replayed' : 'busy';
    return call;
  }

  async #execute(call: ForwardedCall, signed: Signed, response: ServerResponse, left: AbortSignal): Promise<void> {
    const beatMs = Math.min(call.patience, TIMER_MS_MAX) / BEATS_IN_PATIENCE;
    const beats = setInterval(() => response.write(BEAT), beatMs);
    const over = AbortSignal.timeout(Math.min(call.within, TIMER_MS_MAX));
    try {
      const outcome = await this.parts.execute(call, AbortSignal.any([left, over]));
      clearInterval(beats);
      send(response, signed, outcome);
    } finally {
      clearInterval(beats);
    }
  }

  /** A refusal is signed when its request was: then the sender can believe it. */
  #refuse(response: ServerResponse, why: Refusal, signed?: Signed): void {
    const error = refusal(why);
    this.parts.refused(error);
    if (signed !== undefined) return send(response, signed, { kind: 'again', reason: 'refused', error });
    response.writeHead(why === 'too large' ? 413 : 403, { connection: 'close' }).end();
  }
}

function refusal(why: Refusal, details: { readonly cause?: Error } = {}): RepriseError {
  const hint = HINTS[why];
  return new RepriseError('forward_refused', 'a request from another process was refused', {
    ...{ reason: why, actual: why, ...details },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The longest time of a timer of Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function send(response: ServerResponse, signed: Signed, outcome: Outcome): void {
  const body = writeOutcome(outcome);
  const bytes = Buffer.concat([MARK, signAnswer(signed, body), body]);
  if (!response.headersSent) response.setHeader('content-length', bytes.length);
  response.end(bytes);
}

function signatureOf({ headers }: IncomingMessage): Uint8Array {
  const given = headers[SIGNATURE_HEADER];
  return typeof given === 'string' && /^[0-9a-f]{64}$/.test(given) ? Buffer.from(given, 'hex') : new Uint8Array();
}
