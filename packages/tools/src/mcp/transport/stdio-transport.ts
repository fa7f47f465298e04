/**
 * An MCP server as a program in its own process group, connected through its standard input and output.
 *
 * Owns: the pipe, and the last lines of standard error. Does not own: the process group (`process/group.ts`), the
 * protocol (the MCP package).
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Scrubber } from '@reprise/kernel';
import { type Command, type ProcessGroup, startGroup } from '../../process/group.js';
import { LastWords } from '../../process/last-words.js';
import { Judge } from '../judge/judge.js';
import { Intake, Lines, UNREAD_ANSWERS_BYTES_MAX } from './intake.js';

/** How long a program that closed its output may take to exit before its calls are given up, in milliseconds. */
const EXIT_MS = 250;

/** The transport of a program. `stderr` and `pid` tell the MCP package that this is a pipe and not a network. */
export class GroupTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly stderr = null;
  readonly #lines = new Lines();
  readonly #count: (bytes: Uint8Array) => void;
  readonly #words: LastWords;
  #group: ProcessGroup | undefined;
  #how: string | undefined;

  /**
   * @param intake bounds what the connection receives
   * @param judge judges each message
   */
  constructor(
    private readonly command: Command,
    scrubber?: Scrubber,
    intake: Intake = new Intake(),
    private readonly judge: Judge = new Judge(),
  ) {
    this.#words = new LastWords(scrubber);
    this.#count = intake.counter('line');
    judge.late = (message) => this.onmessage?.(message);
  }

  get pid(): number | null {
    return this.#group?.pid ?? null;
  }

  /** How the program ended and what it printed last; undefined while it runs. */
  get ending(): string | undefined {
    if (this.#how === undefined) return undefined;
    const words = this.#words.text();
    return words === '' ? `it ${this.#how}` : `it ${this.#how}: ${words}`;
  }

  async start(): Promise<void> {
    const group = await startGroup(this.command, 'apart');
    if (typeof group === 'string') throw new Error(group);
    this.#group = group;
    group.errors.on('data', (bytes: Uint8Array) => this.#words.add(bytes));
    group.output.on('data', (bytes: Buffer) => this.#take(bytes));
    void group.silent.then(() => this.#fallSilent());
    void group.ended.then((how) => this.#end(how));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#group?.stdin;
    if (stdin == null || !stdin.writable) return Promise.reject(new Error('the program no longer accepts input'));
    if (stdin.writableLength > UNREAD_ANSWERS_BYTES_MAX) {
      void this.close();
      return Promise.reject(new Error('the program does not read its input'));
    }
    this.judge.sent(message);
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  /** Closes the program's input so that it exits, and stops it if it does not. */
  async close(): Promise<void> {
    const group = this.#group;
    if (group === undefined || this.#how !== undefined) return;
    group.stdin?.end();
    group.stop();
    await group.ended;
  }

  #take(bytes: Buffer): void {
    try {
      this.#count(bytes);
      for (const line of this.#lines.take(bytes)) this.#hear(line);
    } catch (error) {
      this.onerror?.(error as Error);
      void this.close(); // the message exceeded a bound or was invalid, so the start of the next one is unknown
    }
  }

  /** Reads a line: a message, or other words that a program prints. */
  #hear(line: string): void {
    for (const message of this.judge.read(line)) this.onmessage?.(message);
  }

  /**
   * A program that closed its output can answer nothing more, even if it runs on. One that exits closes it too: then its
   * last words say why, and they may come just behind.
   */
  async #fallSilent(): Promise<void> {
    this.#hear(this.#lines.rest());
    const exit = this.#group?.ended;
    await Promise.race([exit, new Promise((resolve) => setTimeout(resolve, EXIT_MS).unref())]);
    if (this.#how !== undefined) return;
    for (const message of this.judge.lostAll('the program closed its output')) this.onmessage?.(message);
    await this.close();
  }

  #end(how: string): void {
    this.#how = how;
    this.onclose?.();
  }
}
