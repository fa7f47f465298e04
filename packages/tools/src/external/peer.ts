/**
 * JSON-RPC with a program, one message a line.
 *
 * Owns: requests and their answers, who is told of what comes by itself. Does not own: the program (`process/group.ts`),
 * what the messages mean.
 */
import { startOfText } from '@reprise/contracts';
import { Scrubber } from '@reprise/kernel';
import type { ProcessGroup } from '../process/group.js';
import { LastWords } from '../process/last-words.js';

/** The longest message, in characters: beyond it nobody can tell messages apart, and the program is ended. */
const MESSAGE_LENGTH_MAX = 32 * 1024 * 1024;

/** What is done about messages that come by themselves. */
export interface Hearing {
  /** Answers a request; what it throws is answered as an error. */
  request(method: string, params: unknown): Promise<unknown>;
  notification(method: string, params: unknown): void;
}

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message?: string; readonly data?: unknown };
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

/** A request that the other side does not know. */
export class UnknownMethod extends Error {}

/** The other end of a pipe. */
export class Peer {
  readonly #pending = new Map<number, Pending>();
  readonly #decoder = new TextDecoder();
  readonly #words: LastWords;
  #rest = '';
  #next = 1;
  /** Why it is over; undefined while it is not. */
  ended: string | undefined;

  constructor(
    private readonly group: ProcessGroup,
    private readonly hearing: Hearing,
    private readonly scrubber = new Scrubber(),
  ) {
    this.#words = new LastWords(scrubber);
    group.errors.on('data', (bytes: Uint8Array) => this.#words.add(bytes));
    group.output.on('data', (bytes: Uint8Array) => this.#take(this.#decoder.decode(bytes, { stream: true })));
    void group.ended.then((how) => this.#end(how));
  }

  /** Asks for something. @throws what the other side answers as an error, or why it is over */
  request(method: string, params: unknown): Promise<unknown> {
    if (this.ended !== undefined) return Promise.reject(new Error(this.ended));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  /** Tells something. */
  notify(method: string, params: unknown): void {
    if (this.ended === undefined) this.#send({ method, params });
  }

  #send(message: Message): void {
    this.group.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MESSAGE_LENGTH_MAX) this.group.stop();
    for (const line of lines) if (line.trim() !== '') this.#read(line);
  }

  /** What is no message is passed over: some programs print more than they should. */
  #read(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      return;
    }
    if (typeof message !== 'object' || message === null) return;
    const { id, method } = message;
    if (method === undefined) this.#settle(message);
    else if (id === undefined || id === null) this.hearing.notification(method, message.params);
    else void this.#answer(id, method, message.params);
  }

  #settle({ id, result, error }: Message): void {
    const pending = this.#pending.get(Number(id));
    this.#pending.delete(Number(id));
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(`${error.message ?? 'it failed'}${detailOf(this.scrubber.value(error.data))}`));
  }

  async #answer(id: number | string, method: string, params: unknown): Promise<void> {
    try {
      this.#send({ id, result: (await this.hearing.request(method, params)) ?? null });
    } catch (error) {
      const code = error instanceof UnknownMethod ? METHOD_NOT_FOUND : INTERNAL_ERROR;
      this.#send({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  #end(how: string): void {
    const words = this.#words.text();
    this.ended = words === '' ? `the program is over: ${how}` : `the program is over: ${how}: ${words}`;
    for (const { reject } of this.#pending.values()) reject(new Error(this.ended));
    this.#pending.clear();
  }
}

function detailOf(data: unknown): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return text === '' ? '' : ` (${startOfText(text, 500)})`;
}
