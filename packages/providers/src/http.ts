/** One POST, with a bound on silence and on the answer's size. Everything that goes wrong outside is data. */

/** The largest answer that is read: far above any completion, far below memory. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** How long an answer that has said its end may take to end: a connection that was read to its end serves again. */
const ENDING_MS = 1_000;

/** What came of a request. `body` is all that arrived. */
export type Reply =
  | { readonly kind: 'response'; readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
  | { readonly kind: 'timeout' | 'cancelled' | 'network' | 'too_large'; readonly body: Uint8Array };

/** What to send, and under which limits. */
export interface Post {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** How long the other side may say nothing. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  /** Told of each piece of the answer as it arrives. True: it is whole, whatever else may come. */
  onBytes(bytes: Uint8Array, response: Response): boolean;
}

/** Sends a request and reads the whole answer. Never throws for outside failures. */
export async function post(ask: Post): Promise<Reply> {
  const body = new Body();
  if (ask.signal.aborted) return { kind: 'cancelled', body: body.whole() };
  const controller = new AbortController();
  const silence = new Silence(ask.silenceMs, controller);
  const cancel = () => controller.abort();
  ask.signal.addEventListener('abort', cancel, { once: true });
  let whole: Response | undefined;
  try {
    const response = await request(ask, controller.signal);
    const fits = await readBounded(response, (bytes) => {
      if (!body.take(bytes)) return false;
      if (whole !== undefined) return true; // what comes behind the end gets it no more time
      if (ask.onBytes(bytes, response)) whole = response;
      silence.broken(whole === undefined ? ask.silenceMs : ENDING_MS);
      return true;
    });
    return fits || whole !== undefined ? responseOf(response, body) : { kind: 'too_large', body: body.whole() };
  } catch {
    // Some servers say the end of an answer and keep the connection, or cut it: nothing of the answer is missing.
    if (whole !== undefined && !ask.signal.aborted) return responseOf(whole, body);
    // The engine's error text differs between releases and may hold the address; the kind is what matters.
    const kind = ask.signal.aborted ? 'cancelled' : silence.over ? 'timeout' : 'network';
    return { kind, body: body.whole() };
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

async function readBounded(response: Response, take: (bytes: Uint8Array) => boolean): Promise<boolean> {
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    if (!take(part.value)) return false;
  }
  return true;
}

/** What arrived, up to the bound. */
class Body {
  private readonly parts: Uint8Array[] = [];
  private size = 0;

  /** False when it would be too much. */
  take(bytes: Uint8Array): boolean {
    if (this.size + bytes.length > BODY_BYTES_MAX) return false;
    this.size += bytes.length;
    this.parts.push(bytes);
    return true;
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

/** Aborts when nothing is heard for too long. */
export class Silence {
  /** Whether it was too long. */
  over = false;
  private timer: ReturnType<typeof setTimeout>;

  constructor(
    private readonly silenceMs: number,
    private readonly controller: AbortController,
  ) {
    this.timer = this.arm(silenceMs);
  }

  /** Something was heard; from now on so much silence is too long. */
  broken(silenceMs = this.silenceMs): void {
    clearTimeout(this.timer);
    this.timer = this.arm(silenceMs);
  }

  /** Nothing is waited for any more. */
  end(): void {
    clearTimeout(this.timer);
  }

  private arm(silenceMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.over = true;
      this.controller.abort();
    }, silenceMs);
  }
}
