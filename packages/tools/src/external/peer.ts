/**
 * JSON-RPC with a program, one message per line.
 *
 * Invariants
 * R1  Memory stays linear in the bounds, whatever the program sends: a message is counted before it is parsed, and a
 *     program that exceeds the bounds, or does not read its answers, is ended.
 * R2  No message breaks the reader: a line that is not a message is ignored.
 *
 * Owns: requests and their answers, and the routing of incoming messages. Does not own: the program
 * (`process/group.ts`), the meaning of messages.
 */

import { lineOfError, startOfText } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { Scrubber } from '@reprise/kernel';
import { Intake, Lines, UNREAD_ANSWERS_BYTES_MAX } from '../mcp/transport/intake.js';
import type { ProcessGroup } from '../process/group.js';
import { LastWords } from '../process/last-words.js';

/** The most requests of the program that are answered at the same time; further ones are refused. */
const ASKED_MAX = 64;

/** The most characters of an error message from the program. */
const TURN_LENGTH_MAX = 2_000;

interface Hearing {
  /** Answers a request; an exception becomes an error response. */
  request(method: string, params: unknown): Promise<unknown>;
  notification(method: string, params: unknown): void;
}

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;
const BUSY = -32_000;

/** A request for an unknown method. */
export class UnknownMethod extends Error {}

/** The other end of a pipe. */
export class Peer {
  readonly #pending = new Map<number, Pending>();
  readonly #count = new Intake('program').counter('line');
  readonly #lines = new Lines();
  readonly #words: LastWords;
  #next = 1;
  #asked = 0;
  /** Why this side ended the connection. */
  #refused: string | undefined;
  /** Why the connection ended; undefined while it is open. */
  ended: string | undefined;

  constructor(
    private readonly group: ProcessGroup,
    private readonly hearing: Hearing,
    private readonly scrubber = new Scrubber(),
  ) {
    this.#words = new LastWords(scrubber);
    group.errors.on('data', (bytes: Uint8Array) => this.#words.add(bytes));
    group.output.on('data', (bytes: Uint8Array) => this.#take(bytes));
    void group.ended.then((how) => this.#end(how));
  }

  /** Sends a request. @throws the error that the other side answers, or the reason why the connection ended */
  request(method: string, params: unknown): Promise<unknown> {
    if (this.ended !== undefined) return Promise.reject(new Error(this.ended));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: unknown): void {
    if (this.ended === undefined) this.#send({ method, params });
  }

  #send(message: Message): void {
    const { stdin } = this.group;
    if (stdin === null || this.#refused !== undefined) return;
    if (stdin.writableLength > UNREAD_ANSWERS_BYTES_MAX) this.refuse('it does not read its input');
    else stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  // R1
  #take(bytes: Uint8Array): void {
    if (this.#refused !== undefined) return;
    try {
      this.#count(bytes);
    } catch (error) {
      return this.refuse((error as Error).message);
    }
    for (const line of this.#lines.take(bytes)) if (line.trim() !== '') this.#read(line);
  }

  /** Ends the program because of what it sent. */
  refuse(why: string): void {
    this.#refused ??= why;
    this.group.stop();
  }

  /** Ignores lines that are not messages: some programs print other output, too. */
  #read(line: string): void {
    let message: Message;
    try {
      message = parseJson(line) as Message;
    } catch {
      return;
    }
    if (typeof message !== 'object' || message === null) return; // R2
    const { id, method, params } = message;
    if (method === undefined || method === null) this.#settle(message);
    else if (typeof method !== 'string') return;
    else if (typeof id === 'number' || typeof id === 'string') void this.#answer(id, method, params);
    else if (id === undefined || id === null) this.hearing.notification(method, params);
  }

  #settle({ id, result, error }: Message): void {
    if (typeof id !== 'number') return;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined || error === null) pending?.resolve(result);
    else pending?.reject(new Error(this.#textOf(error)));
  }

  #textOf(error: unknown): string {
    const { message, data } = error as { readonly message?: unknown; readonly data?: unknown };
    const said = typeof message === 'string' ? startOfText(this.scrubber.scrub(message), TURN_LENGTH_MAX) : 'it failed';
    return `${said}${detailOf(this.scrubber.value(data))}`;
  }

  async #answer(id: number | string, method: string, params: unknown): Promise<void> {
    if (this.#asked >= ASKED_MAX)
      return this.#send({ id, error: { code: BUSY, message: 'too many requests at once' } });
    this.#asked++;
    try {
      this.#send({ id, result: (await this.hearing.request(method, params)) ?? null });
    } catch (error) {
      const code = error instanceof UnknownMethod ? METHOD_NOT_FOUND : INTERNAL_ERROR;
      const message = startOfText(error instanceof Error ? error.message : lineOfError(error), TURN_LENGTH_MAX);
      this.#send({ id, error: { code, message } });
    } finally {
      this.#asked--;
    }
  }

  #end(how: string): void {
    const words = this.#words.text();
    const over = `the program ended: ${this.#refused ?? how}`;
    this.ended = words === '' ? over : `${over}: ${words}`;
    for (const { reject } of this.#pending.values()) reject(new Error(this.ended));
    this.#pending.clear();
  }
}

function detailOf(data: unknown): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return text === '' ? '' : ` (${startOfText(text, 500)})`;
}
