/**
 * A request and its answer, from before anything of it is awaited until its connection lets go of it.
 *
 * Invariants
 * X1  What an exchange holds is given back once, when the exchange is over, whatever was awaited meanwhile. What it would
 *     hold after that is given back at once: a client may leave at every moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, type TOO_LARGE } from './bodies.js';
import type { Visit } from './visit.js';

/** A request of Node's server, and its answer. */
export class Exchange implements Visit {
  readonly #left = new AbortController();
  readonly #held = new Set<() => void>();
  #isOver = false;
  #headers: Headers | undefined;

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
    return this.#isOver;
  }

  /**
   * Holds something until the exchange is over (X1).
   *
   * @param release gives it back
   * @returns gives it back earlier
   */
  hold(release: () => void): () => void {
    if (this.#isOver) {
      release();
      return () => undefined;
    }
    const once = (): void => {
      if (this.#held.delete(once)) release();
    };
    this.#held.add(once);
    return once;
  }

  /** Ends the answer: what makes it is aborted. */
  stop(): void {
    this.#left.abort();
  }

  /** The connection lets go of it. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const release of [...this.#held]) release();
    if (!this.response.writableFinished) this.#left.abort();
  }
}

function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return headers;
}
