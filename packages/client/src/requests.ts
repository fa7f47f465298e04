/**
 * Requests to a server of sessions. What a server could not take, or whose answer was lost, is sent again: every act has an id, so
 * it happens once.
 */
import { type RequestRefused, refusedBy } from './refused.js';

/** How a client reaches its server. */
export interface ConnectOptions {
  /** The token, or a function that gives it: it is asked for each request, and once more after a refusal of the token. */
  readonly token: string | (() => string | Promise<string>);
  /** Sends requests; the platform's `fetch` when absent. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
  /** How often a request is sent before its failure is thrown. Default 5. Streams connect again for as long as they are read. */
  readonly tries?: number;
}

const TRIES = 5;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;

/** Statuses after which the same request may be answered. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Sends requests to one server. */
export class Requests {
  readonly #base: string;
  /** Errors of the app's function that gives the token: sending again does not help. */
  readonly #ofToken = new WeakSet<object>();

  constructor(
    url: string | URL,
    private readonly options: ConnectOptions,
  ) {
    this.#base = String(url).replace(/\/+$/, '').replace(/\/v1$/, '');
  }

  /** Sends a request until it is answered. @throws RequestRefused; what `fetch` throws, after the last try */
  async send(method: 'GET' | 'POST', path: string, { body, signal }: Sent = {}): Promise<Response> {
    const { tries = TRIES } = this.options;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.once(method, path, { body, signal }).catch((error: unknown) => {
        if (signal?.aborted === true || attempt >= tries || this.isOfToken(error)) throw error;
        return undefined;
      });
      if (answer?.ok === true) return answer;
      if (answer !== undefined && (!PASSING.has(answer.status) || attempt >= tries)) throw await refusedBy(answer);
      await answer?.body?.cancel();
      await pause(attempt, answer, signal);
    }
  }

  /** Whether an error is one of the app's function that gives the token. */
  isOfToken(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#ofToken.has(error);
  }

  /** Sends a request once; once more with a new token when the token is refused. */
  async once(method: 'GET' | 'POST', path: string, sent: Sent & { readonly headers?: Headers }): Promise<Response> {
    const answer = await this.#fetch(method, path, sent);
    if (answer.status !== 401 || typeof this.options.token === 'string') return answer;
    await answer.body?.cancel();
    return this.#fetch(method, path, sent);
  }

  async #fetch(method: string, path: string, { body, signal, headers }: Sent & { readonly headers?: Headers }) {
    const { fetch = globalThis.fetch } = this.options;
    const sent = new Headers(headers);
    sent.set('authorization', `Bearer ${await this.#token()}`);
    if (body !== undefined) sent.set('content-type', 'application/json');
    return fetch(this.#base + path, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async #token(): Promise<string> {
    const { token } = this.options;
    if (typeof token === 'string') return token;
    try {
      return await token();
    } catch (error) {
      if (typeof error === 'object' && error !== null) this.#ofToken.add(error);
      throw error;
    }
  }
}

interface Sent {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Whether the same request may be answered later. */
export const isPassing = (refused: RequestRefused): boolean => PASSING.has(refused.status);

/** Waits before another try: as long as the server says, else longer each time, and not at all for attempt 0. */
export function pause(attempt: number, answer: Response | undefined, signal: AbortSignal | undefined): Promise<void> {
  const told = Number(answer?.headers.get('retry-after') ?? Number.NaN) * 1_000;
  const own = attempt === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(10, attempt - 1));
  const ms = Number.isFinite(told) && told >= 0 ? Math.min(told, LONGEST_PAUSE_MS) : own;
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted === true) done();
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}
