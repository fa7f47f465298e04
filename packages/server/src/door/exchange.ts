/** A request of Node's server and its answer, from before anything of it is awaited until its connection lets go of it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, type TOO_LARGE } from './bodies.js';
import { Holds } from './holds.js';
import type { Visit } from './visit.js';

/** A request of Node's server, and its answer. */
export class Exchange implements Visit {
  readonly #left = new AbortController();
  readonly #holds = new Holds();
  #headers: Headers | undefined;
  breaks = false;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {
    response.once('close', () => this.over());
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  get target(): string {
    return this.request.url ?? '/';
  }

  get headers(): Headers {
    this.#headers ??= headersOf(this.request);
    return this.#headers;
  }

  get remoteAddress(): string | undefined {
    return this.request.socket.remoteAddress;
  }

  body(bytesMax: number): Promise<string | typeof TOO_LARGE> {
    return readBody(this, bytesMax);
  }

  /** Aborted when the client leaves before it has the whole answer, or {@link stop} is called. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Whether nobody waits for the answer any more. */
  get isOver(): boolean {
    return this.#holds.isOver;
  }

  /** Holds something until the exchange is over (holds/X1). @returns gives it back earlier */
  hold(release: () => void): () => void {
    return this.#holds.hold(release);
  }

  /** Ends the answer: what makes it is aborted. */
  stop(): void {
    this.#left.abort();
  }

  /** The connection lets go of it. */
  over(): void {
    if (!this.#holds.end()) return;
    if (!this.response.writableFinished) this.#left.abort();
  }
}

function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return headers;
}
