/** Judges the messages of an event stream, and writes the stream anew for the MCP package. */
import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import type { Judge } from './judge.js';
import { readJson } from './read-json.js';

/** The longest time that a server may ask to wait before its stream is resumed, in milliseconds. */
const RETRY_MS_MAX = 30_000;

/** The id of the mark that stands in a stream for an answer which was delivered beside it. */
const DELIVERED = randomUUID();

const MARK = `data: {"jsonrpc":"2.0","id":"${DELIVERED}","result":{}}\n\n`;

/** Whether a message is the mark of one that was delivered already. */
export function isMark(message: JSONRPCMessage): boolean {
  return 'id' in message && message.id === DELIVERED;
}

/**
 * An event stream in, an event stream out: each message is judged and delivered beside the stream, so that it is not
 * written and read once more; of an answer, a mark stays in its place.
 */
export class JudgedEvents extends TransformStream<Uint8Array, Uint8Array> {
  /** @param only the request that the stream answers; undefined for a stream of several */
  constructor(judge: Judge, only: RequestId | undefined, deliver: (message: JSONRPCMessage) => void) {
    const events = new Events(judge, only, deliver);
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    super({
      transform: (bytes, controller) => {
        for (const text of events.take(decoder.decode(bytes, { stream: true })))
          controller.enqueue(encoder.encode(text));
      },
      flush: (controller) => {
        for (const text of events.end(decoder.decode())) controller.enqueue(encoder.encode(text));
      },
    });
  }
}

/** Splits a stream into events. */
class Events {
  #line: string[] = [];
  #data: string[] = [];
  #others: string[] = [];
  #type = '';
  #endsInReturn = false;
  /** Lines of a body that is JSON under the type of an event stream. */
  #json: string[] | undefined;
  #isFirst = true;

  constructor(
    private readonly judge: Judge,
    private readonly only: RequestId | undefined,
    private readonly deliver: (message: JSONRPCMessage) => void,
  ) {}

  /** Takes the next piece of the stream; returns what of it is complete. */
  *take(piece: string): Generator<string> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      const isSecond = code === 10 && this.#endsInReturn; // the second half of a line break of two
      this.#endsInReturn = code === 13;
      if (isSecond) from = at + 1;
      if (isSecond || (code !== 10 && code !== 13)) continue;
      this.#line.push(piece.slice(from, at));
      from = at + 1;
      yield* this.#take(this.#line.join(''));
      this.#line = [];
    }
    if (from < piece.length) this.#line.push(piece.slice(from));
  }

  /** Ends the stream: what no empty line ended is an event all the same, if it is whole. */
  *end(piece: string): Generator<string> {
    yield* this.take(`${piece}\n`);
    if (this.#json !== undefined) yield* this.#messages(this.#json.join('\n'));
    if (readJson(this.#data.join('\n')) !== undefined) yield* this.#event();
  }

  *#take(line: string): Generator<string> {
    if (this.#json !== undefined) {
      this.#json.push(line);
      return;
    }
    if (this.#isFirst && /^\s*[[{]/.test(line)) {
      this.#json = [line];
      return;
    }
    if (line === '') {
      yield* this.#event();
      return;
    }
    this.#isFirst = false;
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment
    const [field, value] = colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#type = value;
    else if (field === 'retry' && /^\d+$/.test(value))
      this.#others.push(`retry: ${Math.min(Number(value), RETRY_MS_MAX)}`);
    else if (field === 'id' && !value.includes('\0')) this.#others.push(`id: ${value}`);
  }

  *#event(): Generator<string> {
    const data = this.#data.join('\n');
    const others = this.#others.map((line) => `${line}\n`).join('');
    const isMessage = data.trim() !== '' && (this.#type === '' || this.#type === 'message');
    this.#data = [];
    this.#others = [];
    this.#type = '';
    if (others !== '') yield `${others}data:\n\n`;
    if (isMessage) yield* this.#messages(data);
  }

  *#messages(text: string): Generator<string> {
    for (const message of this.judge.read(text, this.only)) {
      this.deliver(message);
      if (!('method' in message)) yield MARK;
    }
  }
}
