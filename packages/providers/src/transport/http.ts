/** One POST, with a bound on silence and on the answer's size. Everything that goes wrong outside is data. */

/** The largest answer that is read: far above any completion, far below memory. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** The most that is read of an answer that says that something failed: its status counts, and a few words. */
const ERROR_BYTES_MAX = 256 * 1024;

/** How long an answer that has said its end may take to end: a connection that was read to its end serves again. */
const ENDING_MS = 1_000;

/** What came of a request. `body` is all that arrived. */
export type Reply =
  | { readonly kind: 'response'; readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
  | {
      readonly kind: 'timeout' | 'cancelled' | 'network' | 'too_large';
      readonly body: Uint8Array;
      /** What the platform threw: its words differ between releases and may hold the address. For operators. */
      readonly error?: unknown;
    };

/** What to send, and under which limits. */
export interface Post {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** How long the other side may say nothing. */
  readonly silenceMs: number;
  /** How long the whole answer may take: one that drips is never silent. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  /**
   * Told of each piece of the answer as it arrives.
   *
   * @returns behind how many of these bytes the answer was whole, whatever else may come; undefined while it is not
   */
  onBytes(bytes: Uint8Array, response: Response): number | undefined;
}

/** Sends a request and reads the whole answer. Never throws for outside failures. */
export async function post(ask: Post): Promise<Reply> {
  const body = new Body();
  if (ask.signal.aborted) return { kind: 'cancelled', body: body.whole() };
  const controller = new AbortController();
  const silence = new Silence(ask.silenceMs, controller, ask.totalMs);
  const cancel = () => controller.abort();
  ask.signal.addEventListener('abort', cancel, { once: true });
  let whole: Response | undefined;
  try {
    const response = await request(ask, controller.signal);
    const bytesMax = response.ok ? BODY_BYTES_MAX : ERROR_BYTES_MAX;
    const fits = await readWhile(response, (bytes) => {
      if (whole !== undefined) return true; // what comes behind the end does not count, and gets it no more time
      // What fits counts wherever the pieces were cut.
      const fitting = bytes.subarray(0, bytesMax - body.size);
      const end = ask.onBytes(fitting, response);
      body.take(fitting.subarray(0, end));
      if (end !== undefined) whole = response;
      silence.broken(whole === undefined ? ask.silenceMs : ENDING_MS);
      return whole !== undefined || fitting.length === bytes.length;
    });
    // What an error says beyond the bound adds nothing to its status.
    return fits || !response.ok ? responseOf(response, body) : { kind: 'too_large', body: body.whole() };
  } catch (error) {
    // Some servers say the end of an answer and keep the connection, or cut it: nothing of the answer is missing.
    if (whole !== undefined && !ask.signal.aborted) return responseOf(whole, body);
    const kind = ask.signal.aborted ? 'cancelled' : silence.over ? 'timeout' : 'network';
    return { kind, body: body.whole(), ...(kind === 'cancelled' ? {} : { error }) };
  } finally {
    silence.end();
    ask.signal.removeEventListener('abort', cancel);
    controller.abort(); // an answer that was not read to its end gives its connection up
  }
}

function responseOf({ status, headers }: Response, body: Body): Reply {
  return { kind: 'response', status, headers, body: body.whole() };
}

function request({ url, headers, body, fetch }: Post, signal: AbortSignal): Promise<Response> {
  // A redirect is not followed: it would carry the prompt, and perhaps a key in a header, to somebody else.
  const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
  return fetch(url, init as RequestInit);
}

async function readWhile(response: Response, take: (bytes: Uint8Array) => boolean): Promise<boolean> {
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    if (!take(part.value)) return false;
  }
  return true;
}

/** What arrived. */
class Body {
  size = 0;
  private readonly parts: Uint8Array[] = [];

  take(bytes: Uint8Array): void {
    this.size += bytes.length;
    this.parts.push(bytes);
  }

  whole(): Uint8Array {
    const whole = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}

/** Aborts when nothing is heard for too long, or when all of it takes too long. */
export class Silence {
  /** Whether it was too long. */
  over = false;
  private timer: ReturnType<typeof setTimeout>;
  private readonly total: ReturnType<typeof setTimeout>;

  constructor(
    private readonly silenceMs: number,
    private readonly controller: AbortController,
    totalMs: number,
  ) {
    this.timer = this.arm(silenceMs);
    this.total = this.arm(totalMs);
  }

  /** Something was heard; from now on so much silence is too long. */
  broken(silenceMs = this.silenceMs): void {
    clearTimeout(this.timer);
    this.timer = this.arm(silenceMs);
  }

  /** Nothing is waited for any more. */
  end(): void {
    clearTimeout(this.timer);
    clearTimeout(this.total);
  }

  private arm(silenceMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.over = true;
      this.controller.abort();
    }, silenceMs);
  }
}
