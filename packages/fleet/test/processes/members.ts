/** Processes of a fleet that a test starts and asks, a bank that counts, and customers who do not give up. */
import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that a process is told to make. */
export interface ToMember {
  readonly n: number;
  readonly world: string;
  /**
   * An order that is paid, one that is only taken, a question that changes nothing, an order that is posted, or its answer; the
   * rest is for releases of a shop.
   */
  readonly what: 'order' | 'note' | 'asked' | 'person' | 'bell' | 'answer' | 'look' | 'post' | 'posted';
  readonly id: string;
  readonly within: number;
  /** The person for whom it is posted. */
  readonly by?: string;
}

/** What a process says. */
export type FromMember =
  | { readonly ready: string }
  | { readonly told: string; readonly reason: string }
  | {
      readonly n: number;
      readonly ok: boolean;
      readonly said: number | string;
      readonly reason?: string;
      readonly ms: number;
    };

/** What came of a call; `gone` when the process did not live to say it. */
export type Said = Extract<FromMember, { n: number }> | 'gone';

/** How a process is started. */
export interface MemberOptions {
  readonly program: string;
  readonly database: string;
  readonly name: string;
  readonly secret: string;
  readonly bank: string;
  readonly ttl: number;
  readonly port?: number;
  readonly address?: string;
  readonly release?: string;
  readonly witness?: string;
}

let calls = 0;

/** A process of a fleet. */
export class Member {
  readonly child: ChildProcess;
  readonly ready: Promise<string>;
  readonly ended: Promise<void>;
  /** What its `onError` was told, by code and reason. */
  readonly told: string[] = [];
  readonly #waiting = new Map<number, (said: Said) => void>();
  isGone = false;

  constructor(options: MemberOptions) {
    const { program, database, name, secret, bank, ttl, port = 0, address = '', release = '', witness = '' } = options;
    const args = [database, name, secret, bank, String(ttl), String(port), address, release, witness];
    this.child = fork(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
    this.ended = new Promise((resolve) => this.child.once('exit', () => resolve()));
    this.ready = new Promise((resolve, reject) => {
      this.child.on('message', (message: FromMember) => {
        if ('ready' in message) resolve(message.ready);
        else if ('told' in message) this.told.push(`${message.told} ${message.reason}`.trim());
        else this.#settle(message.n, message);
      });
      this.child.once('exit', () => reject(new Error('a member ended before it was ready')));
    });
    this.ready.catch(() => undefined);
    void this.ended.then(() => {
      this.isGone = true;
      for (const n of [...this.#waiting.keys()]) this.#settle(n, 'gone');
    });
  }

  call(world: string, what: ToMember['what'], id: string, within: number, by?: string): Promise<Said> {
    if (this.isGone || !this.child.connected) return Promise.resolve('gone');
    const n = ++calls;
    return new Promise((resolve) => {
      this.#waiting.set(n, resolve);
      this.child.send(
        { n, world, what, id, within, ...(by === undefined ? {} : { by }) } satisfies ToMember,
        (error) => error && this.#settle(n, 'gone'),
      );
    });
  }

  #settle(n: number, said: Said): void {
    this.#waiting.get(n)?.(said);
    this.#waiting.delete(n);
  }
}

/**
 * A bank outside, which no trouble reaches: the keys under which each order was paid.
 *
 * @param holds resolves when an order may be answered
 */
export async function openBank(holds: (order: string) => Promise<void> = async () => undefined): Promise<{
  readonly url: string;
  readonly keysOf: Map<string, Set<string>>;
  close(): void;
}> {
  const keysOf = new Map<string, Set<string>>();
  const server: Server = createServer(async (request, response) => {
    let text = '';
    try {
      for await (const part of request) text += part;
    } catch {
      return; // its caller was killed
    }
    const { order, key } = JSON.parse(text) as { readonly order: string; readonly key: string };
    keysOf.set(order, (keysOf.get(order) ?? new Set()).add(key));
    await holds(order);
    response.end('{}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keysOf, close };
}
