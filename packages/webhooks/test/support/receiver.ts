/**
 * A receiver of webhooks that answers as it is told to, and checks what it is sent by a library that we did not write. As a process
 * of its own it prints its address.
 */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** How a request is answered. */
export type Mood =
  | 'takes'
  | 'fails'
  | 'asks to wait'
  | 'hangs'
  | 'redirects'
  | 'cuts'
  | 'takes and cuts'
  | 'floods'
  | 'never ends'
  | 'is gone';

/** A request that came. */
export interface Received {
  readonly id: string;
  readonly mood: Mood;
  readonly isSigned: boolean;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** The moods after which the sender knows that a delivery was taken. */
export const TAKES: readonly Mood[] = ['takes', 'floods', 'never ends'];

export class Receiver {
  readonly received: Received[] = [];
  /** Chooses the mood of each request; it takes everything when absent. */
  mood: () => Mood = () => 'takes';
  /** The value of `Retry-After`, when it asks to wait. */
  retryAfter = '600';
  readonly #hanging = new Set<ServerResponse>();

  private constructor(
    private readonly server: Server,
    private readonly secret: string,
    private readonly trap: string,
  ) {}

  /** @param trap where it redirects to */
  static async listen(secret: string, trap = 'http://127.0.0.1:9/'): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server, secret, trap);
    server.on('request', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => receiver.#take(Buffer.concat(pieces).toString(), request.headers, response));
      request.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}/hooks`;
  }

  /** How many requests have no answer yet. */
  get hanging(): number {
    return [...this.#hanging].filter((one) => !one.destroyed).length;
  }

  /** The ids that it has taken, and of which the sender knows. */
  get taken(): ReadonlySet<string> {
    return new Set(this.received.filter(({ mood }) => TAKES.includes(mood)).map(({ id }) => id));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #take(body: string, headers: IncomingHttpHeaders, response: ServerResponse): void {
    const mood = this.mood();
    const id = String(headers['webhook-id']);
    this.received.push({ id, mood, isSigned: this.#isSigned(body, headers), body, headers });
    response.on('error', () => undefined);
    ANSWERS[mood](response, this);
  }

  #isSigned(body: string, headers: IncomingHttpHeaders): boolean {
    try {
      new Webhook(this.secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  }

  /** Leaves a request without an answer. */
  hang(response: ServerResponse): void {
    this.#hanging.add(response);
  }

  get location(): string {
    return this.trap;
  }
}

const ANSWERS: Readonly<Record<Mood, (response: ServerResponse, receiver: Receiver) => void>> = {
  takes: (response) => void response.writeHead(204).end(),
  fails: (response) => void response.writeHead(500).end('no'),
  'asks to wait': (response, { retryAfter }) => void response.writeHead(503, { 'retry-after': retryAfter }).end(),
  hangs: (response, receiver) => receiver.hang(response),
  redirects: (response, { location }) => void response.writeHead(307, { location }).end(),
  cuts: (response) => void response.destroy(),
  'takes and cuts': (response) => void response.destroy(),
  floods: (response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  },
  'never ends': (response) => void response.writeHead(200).write('{'),
  'is gone': (response) => void response.writeHead(410).end(),
};
