/** The world outside of an agent process: a provider and a bank behind real HTTP, and the process in the hands of a test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { validateRequest } from '@reprise/providers';
import { program } from '../../../../scripts/lib/program.js';

const AGENT = await program(new URL('agent-process.ts', import.meta.url));
const PATIENCE_MS = 120_000;

/** A message of a chat-completions request. */
interface Message {
  readonly role: string;
  readonly content: string;
}

/** A provider and a bank. */
export class Outside {
  /** Payments that have happened, in the order in which they came. */
  readonly payments: string[] = [];
  /** What the model was told at each request. */
  readonly requests: (readonly Message[])[] = [];
  /** Requests that break a rule of the format. */
  readonly issues: unknown[] = [];
  readonly #unconfirmed = new Map<string, ServerResponse>();
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response));

  /** Starts to listen. @returns the address */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Confirms a payment that was made long ago. */
  confirm(name: string): void {
    this.#unconfirmed.get(name)?.end(`Paid by ${name}, number 1.`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of request) text += piece;
    const body = JSON.parse(text) as { name: string; messages: Message[] };
    if (request.url === '/pay') {
      this.payments.push(body.name);
      this.#unconfirmed.set(body.name, response);
      return;
    }
    this.requests.push(body.messages);
    this.issues.push(...validateRequest('openai-chat', body));
    const message = body.messages.length === 2 ? TWO_CALLS : { role: 'assistant', content: 'I see.' };
    const finish_reason = body.messages.length === 2 ? 'tool_calls' : 'stop';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'r', choices: [{ index: 0, message, finish_reason }] }));
  }
}

const call = (name: string) => ({
  id: `call_${name}`,
  type: 'function',
  function: { name, arguments: '{"cents":4200}' },
});
const TWO_CALLS = { role: 'assistant', content: null, tool_calls: [call('pay_rent'), call('pay_power')] };

type Line = Readonly<Record<string, unknown>>;

/** An agent process. */
export class AgentProcess {
  readonly lines: Line[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  #errors = '';
  #wake: () => void = () => undefined;

  constructor(world: string, url: string) {
    this.#process = spawn(process.execPath, [AGENT, world, url], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process.stderr?.on('data', (piece) => {
      this.#errors += piece;
    });
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.lines.push(JSON.parse(line) as Line);
      this.#wake();
    });
    this.#ended = new Promise((resolve) => this.#process.once('exit', () => resolve()));
  }

  /** Tells it something. */
  tell(words: object): void {
    this.#process.stdin?.write(`${JSON.stringify(words)}\n`);
  }

  /** Waits until it has printed so many lines that fit, and gives them. */
  async heard(fits: (line: Line) => boolean, times = 1): Promise<Line[]> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = this.lines.filter(fits);
      if (found.length >= times) return found;
      if (Date.now() > until)
        throw new Error(`it has not said it:\n${JSON.stringify(this.lines, null, 1)}\n${this.#errors}`);
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#wake = resolve;
        }),
        new Promise((resolve) => setTimeout(resolve, 200)),
      ]);
    }
  }

  /** `kill -9`, or another signal; resolves when it is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#process.kill(signal);
    await this.#ended;
  }
}

/** Waits until something holds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !holds(); ) {
    if (Date.now() > end) throw new Error(`it never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
