/**
 * What went over the wire between a client and a provider, as bytes: exchanges one after the other, each a request and
 * its answer in HTTP/1.1. Pieces of an answer are chunks of its transfer encoding; an answer that never ended, since
 * its client went away, has no last chunk; a request that was never answered has none at all.
 *
 * Owns the file format. Only what a client sends and reads is kept: its body, and of the answer the status, the headers
 * named here and the body in the pieces in which it came.
 */
import { Buffer } from 'node:buffer';

/** Headers of answers that clients read. */
const HEADERS_KEPT = ['content-type', 'retry-after'] as const;

/** A request and its answer. */
export interface Exchange {
  /** The operation: the path of the address. */
  readonly path: string;
  readonly request: Uint8Array;
  /** 0 when nothing was answered. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
  /** False when the answer never ended. */
  readonly whole: boolean;
}

/** Exchanges in the order of their requests. */
export type Tape = readonly Exchange[];

/** The recorded headers of an answer. */
export function keptHeaders(headers: Headers): Record<string, string> {
  const kept = HEADERS_KEPT.map((name) => [name, headers.get(name)] as const);
  return Object.fromEntries(kept.filter((pair): pair is [(typeof HEADERS_KEPT)[number], string] => pair[1] !== null));
}

/** A tape as a file. */
export function writeTape(tape: Tape): Uint8Array {
  return Buffer.concat(tape.flatMap((exchange) => [...requestOf(exchange), ...answerOf(exchange)]));
}

function requestOf({ path, request }: Exchange): Uint8Array[] {
  const head = [`POST ${path} HTTP/1.1`, 'content-type: application/json', `content-length: ${request.length}`];
  return [lines(head), request, text('\r\n')];
}

function answerOf({ status, headers, pieces, whole }: Exchange): Uint8Array[] {
  if (status === 0) return [];
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const chunks = pieces.flatMap((piece) => [text(`${piece.length.toString(16)}\r\n`), piece, text('\r\n')]);
  const end = whole ? '0\r\n\r\n' : '\r\n';
  return [lines([`HTTP/1.1 ${status}`, ...named, 'transfer-encoding: chunked']), ...chunks, text(end)];
}

function lines(head: readonly string[]): Uint8Array {
  return text(`${head.join('\r\n')}\r\n\r\n`);
}

function text(words: string): Uint8Array {
  return Buffer.from(words, 'utf8');
}

/**
 * Reads a tape.
 *
 * @throws Error when these are not the bytes of one
 */
export function readTape(bytes: Uint8Array): Tape {
  const reader = new TapeReader(bytes);
  const tape: Exchange[] = [];
  while (!reader.atEnd) tape.push(reader.exchange());
  return tape;
}

class TapeReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  exchange(): Exchange {
    const [, path = ''] = this.#match(/^POST (\S+) HTTP\/1\.1$/);
    const asked = this.#headers();
    const request = this.#take(Number(asked['content-length']));
    this.#match(/^$/);
    if (!this.#isNext('HTTP/')) return { path, request, status: 0, headers: {}, pieces: [], whole: false };
    const [, status = ''] = this.#match(/^HTTP\/1\.1 (\d{3})$/);
    const { 'transfer-encoding': _, ...headers } = this.#headers();
    return { path, request, status: Number(status), headers, ...this.#chunks() };
  }

  #isNext(word: string): boolean {
    return this.#bytes.toString('latin1', this.#at, this.#at + word.length) === word;
  }

  #chunks(): Pick<Exchange, 'pieces' | 'whole'> {
    const pieces: Uint8Array[] = [];
    for (;;) {
      const [size = ''] = this.#match(/^[0-9a-f]*$/);
      if (size === '') return { pieces, whole: false };
      const piece = this.#take(Number.parseInt(size, 16));
      this.#match(/^$/);
      if (piece.length === 0) return { pieces, whole: true };
      pieces.push(piece);
    }
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    for (let line = this.#line(); line !== ''; line = this.#line()) {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      headers[name] = value;
    }
    return headers;
  }

  #match(pattern: RegExp): RegExpMatchArray {
    const [at, line] = [this.#at, this.#line()];
    const match = line.match(pattern);
    if (match === null) throw new Error(`byte ${at} of the tape: expected ${pattern}, got ${line.slice(0, 80)}`);
    return match;
  }

  #line(): string {
    const end = this.#bytes.indexOf('\r\n', this.#at);
    if (end < 0) throw new Error(`byte ${this.#at} of the tape: a line does not end`);
    const line = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 2;
    return line;
  }

  #take(length: number): Uint8Array {
    if (!(length <= this.#bytes.length - this.#at)) throw new Error(`byte ${this.#at} of the tape: it was cut`);
    const taken = new Uint8Array(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return taken;
  }
}
