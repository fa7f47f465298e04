/**
 * Bounds on a server's messages, counted in bytes before anything is parsed.
 *
 * Invariants
 * I1  Memory stays linear in the bounds, whatever a server sends: the bytes, values and depth of a message are counted
 *     as they arrive, and a message that exceeds a bound is not read further.
 * I2  The connection to a server that exceeds a bound is closed for good: the start of its next message is unknown.
 */
import { JoinedBytes } from '@reprise/contracts';

/** The most bytes of one message: an image of 12 MB, as text. */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

/** The most values in one message: objects, lists and their members. Each takes far more memory than its bytes. */
export const MESSAGE_VALUES_MAX = 250_000;

/** How deep the values of one message may nest. */
export const MESSAGE_DEPTH_MAX = 256;

/** The most bytes of a list of tools, all its pages together. */
export const LIST_BYTES_MAX = 32 * 1024 * 1024;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x7b, 0x5d, 0x7d];
const [NEWLINE, RETURN] = [0x0a, 0x0d];

/** The error for a server that exceeds a bound. */
class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

/** Counts what one connection receives. */
export class Intake {
  /** Why nothing more is accepted; undefined while the connection is within its bounds. */
  refusal: TooMuch | undefined;
  /** Called once when nothing more is accepted. */
  onRefusal: () => void = () => undefined;

  /** @param who the sender's name in errors */
  constructor(private readonly who = 'server') {}

  /**
   * Makes a counter for one stream of messages.
   *
   * @param ends what ends a message: the stream, a line, or an empty line as in an event stream
   * @returns a function that counts a piece; it throws {@link TooMuch} when a bound is exceeded
   */
  counter(ends: 'stream' | 'line' | 'empty line'): (bytes: Uint8Array) => void {
    const message = new MessageCounter(ends);
    return (bytes) => {
      if (this.refusal !== undefined) throw this.refusal;
      const why = message.count(bytes);
      if (why !== undefined) this.refuse(why);
    };
  }

  /** Refuses everything from now on. @throws TooMuch */
  refuse(why: string): never {
    this.refusal ??= new TooMuch(`the ${this.who} exceeded a bound: ${why}`);
    queueMicrotask(() => this.onRefusal());
    throw this.refusal;
  }
}

/** Counts bytes, values and depth of JSON texts without parsing them. */
class MessageCounter {
  #bytes = 0;
  #values = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #lineIsEmpty = true;

  constructor(private readonly ends: 'stream' | 'line' | 'empty line') {}

  /** @returns the reason when a bound is exceeded */
  count(bytes: Uint8Array): string | undefined {
    for (let at = 0; at < bytes.length; ) {
      at = this.#inText ? this.#endOfText(bytes, at) : this.#step(bytes, at);
      if (this.#values > MESSAGE_VALUES_MAX) return `a message has more than ${MESSAGE_VALUES_MAX} values`;
      if (this.#depth > MESSAGE_DEPTH_MAX) return `a message is nested deeper than ${MESSAGE_DEPTH_MAX}`;
      if (this.#bytes > MESSAGE_BYTES_MAX) return `a message has more than ${MESSAGE_BYTES_MAX} bytes`;
    }
    return undefined;
  }

  /** Finds the end of a JSON string, or of the piece. Strings hold no line breaks, so a line break always ends one. */
  #endOfText(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === NEWLINE || byte === RETURN) {
        this.#inText = false;
        this.#escaped = false;
        this.#bytes += at - from;
        return at;
      }
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) {
        this.#inText = false;
        this.#bytes += at + 1 - from;
        return at + 1;
      }
    }
    this.#bytes += bytes.length - from;
    return bytes.length;
  }

  #step(bytes: Uint8Array, at: number): number {
    const byte = bytes[at];
    this.#bytes += 1;
    if (byte === NEWLINE || byte === RETURN) this.#line(byte);
    else this.#lineIsEmpty = false;
    if (byte === QUOTE) this.#inText = true;
    else if (byte === COMMA || byte === COLON) this.#values += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      this.#values += 1;
      this.#depth += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth = Math.max(0, this.#depth - 1);
    return at + 1;
  }

  #line(byte: number): void {
    const ended = this.ends === 'line' ? byte === NEWLINE : this.ends === 'empty line' && this.#lineIsEmpty;
    if (byte === NEWLINE) this.#lineIsEmpty = true;
    if (!ended) return;
    this.#bytes = 0;
    this.#values = 0;
    this.#depth = 0;
  }
}

/**
 * The most bytes that may wait for a program to read them: a program that sends requests without reading answers is
 * ended.
 */
export const UNREAD_ANSWERS_BYTES_MAX = 32 * 1024 * 1024;

/** Splits a pipe into lines; their pieces are joined as they arrive. The caller bounds their size. */
export class Lines {
  readonly #line = new JoinedBytes();

  /** The lines that a piece completes. */
  *take(bytes: Uint8Array): Generator<string> {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#line.add(bytes.subarray(from, at));
      const { buffer, byteOffset, length } = this.#line.take();
      const line = Buffer.from(buffer, byteOffset, length).toString('utf8');
      from = at + 1;
      yield line.endsWith('\r') ? line.slice(0, -1) : line;
    }
    if (from < bytes.length) this.#line.add(bytes.subarray(from));
  }

  /** The last line, which no line break ends; empty when every line has ended. */
  rest(): string {
    const { buffer, byteOffset, length } = this.#line.take();
    return Buffer.from(buffer, byteOffset, length).toString('utf8');
  }
}

/**
 * Makes a `fetch` that counts response bytes and aborts a response that exceeds a bound.
 *
 * @param own the `fetch` to wrap; default: the platform's
 */
export function countedFetch(intake: Intake, own: typeof fetch = (...args) => fetch(...args)): typeof fetch {
  return async (input, init) => {
    const response = await own(input, init);
    if (response.body === null || response.status < 200 || response.status > 599) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    const told = Number(response.headers.get('content-length') ?? 0);
    const count = intake.counter(isStream ? 'empty line' : 'stream');
    if (!isStream && told > MESSAGE_BYTES_MAX) {
      await response.body.cancel().catch(() => undefined);
      intake.refuse(`a message has ${told} bytes; ${MESSAGE_BYTES_MAX} are read`);
    }
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          count(bytes);
          controller.enqueue(bytes);
        },
      }),
    );
    const { status, statusText, headers, url } = response;
    return Object.defineProperty(new Response(counted, { status, statusText, headers }), 'url', { value: url });
  };
}
