/** Sends one POST request, with bounds on silence, total time and size. Every outside failure is returned as data. */
import { JoinedBytes } from '@reprise/contracts';

/** The largest answer that is read: far above any real completion, far below memory. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** The most bytes that are read of an error answer: only its status and a short message matter. */
const ERROR_BYTES_MAX = 256 * 1024;

/** How long a connection may take to close after its answer is complete: a connection read to its end can be reused. */
const ENDING_MS = 1_000;

/** The outcome of a request. `body` holds all bytes that arrived. */
export type Reply =
  | { readonly kind: 'response'; readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
  | {
      readonly kind: 'timeout' | 'cancelled' | 'network' | 'too_large';
      readonly body: Uint8Array;
      /** The platform's exception, for operators: its message differs between releases and may contain the address. */
      readonly error?: unknown;
    };

/** A request to send, and its bounds. */
interface Post {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The longest silence of the server, in milliseconds. */
  readonly silenceMs: number;
  /** The longest time for the whole answer, in milliseconds: a slow drip of bytes is never silent. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  /**
   * Called with each piece of the answer as it arrives.
   *
   * @returns after how many of these bytes the answer is complete, whatever may follow; undefined while it is not
   */
  onBytes(bytes: Uint8Array, response: Response): number | undefined;
}

/** Sends a request and reads the whole answer. Outside failures never throw. */
export async function post(ask: Post): Promise<Reply> {
  const body = new JoinedBytes();
  if (ask.signal.aborted) return { kind: 'cancelled', body: body.take() };
  const controller = new AbortController();
  const silence = new Silence(ask.silenceMs, controller, ask.totalMs);
  const cancel = () => controller.abort();
  ask.signal.addEventListener('abort', cancel, { once: true });
  let whole: Response | undefined;
  try {
    const response = await request(ask, controller.signal);
    const bytesMax = response.ok ? BODY_BYTES_MAX : ERROR_BYTES_MAX;
    const fits = await readWhile(response, (bytes) => {
      if (whole !== undefined) return true; // bytes after the end are ignored and do not extend the time
      // Keep the bytes that fit, independent of how the stream was cut into pieces.
      const fitting = bytes.subarray(0, bytesMax - body.length);
      const end = ask.onBytes(fitting, response);
      body.add(fitting.subarray(0, end));
      if (end !== undefined) whole = response;
      silence.broken(whole === undefined ? ask.silenceMs : ENDING_MS);
      return whole !== undefined || fitting.length === bytes.length;
    });
    // Bytes of an error answer beyond the bound add nothing to its status.
    return fits || !response.ok ? responseOf(response, body) : { kind: 'too_large', body: body.take() };
  } catch (error) {
    // Some servers complete the answer and then keep or break the connection: the answer itself is whole.
    if (whole !== undefined && !ask.signal.aborted) return responseOf(whole, body);
    const kind = ask.signal.aborted ? 'cancelled' : silence.over ? 'timeout' : 'network';
    return { kind, body: body.take(), ...(kind === 'cancelled' ? {} : { error }) };
  } finally {
    silence.end();
    ask.signal.removeEventListener('abort', cancel);
    controller.abort(); // releases the connection of an answer that was not read to its end
  }
}

function responseOf({ status, headers }: Response, body: JoinedBytes): Reply {
  return { kind: 'response', status, headers, body: body.take() };
}

function request({ url, headers, body, fetch }: Post, signal: AbortSignal): Promise<Response> {
  // A redirect is not followed: it would send the prompt, and perhaps a key in a header, to another server.
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

/** Aborts when the server is silent for too long, or when the whole answer takes too long. */
export class Silence {
  /** Whether a bound on time was exceeded. */
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

  /** Notes activity and restarts the silence timer with this bound. */
  broken(silenceMs = this.silenceMs): void {
    clearTimeout(this.timer);
    this.timer = this.arm(silenceMs);
  }

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
