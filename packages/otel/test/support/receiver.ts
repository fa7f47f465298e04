/**
 * A collector of OTLP over HTTP: it keeps what it is sent, and answers as it is told to. As a process of its own it prints its
 * address, and gives what it has to `GET /spans`.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP/JSON has it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

interface Request {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How a request is answered: its status, headers and body. */
export type Answer = readonly [status: number, headers?: Readonly<Record<string, string>>, body?: string];

export class Receiver {
  readonly requests: Request[] = [];
  /** The answers to the next requests; success when no answer is left. */
  readonly answers: (Answer | 'cut')[] = [];

  private constructor(private readonly server: Server) {}

  static async listen(port = 0): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        if (request.url === '/spans') return response.end(JSON.stringify(receiver.spans));
        const body = Buffer.concat(pieces).toString();
        receiver.requests.push({ path: request.url ?? '', headers: request.headers, body });
        const answer = receiver.answers.shift() ?? [200];
        if (answer === 'cut') return request.socket.destroy();
        const [status, headers = {}, text = '{}'] = answer;
        return response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** All spans that were taken, in the order in which they came. */
  get spans(): readonly ReceivedSpan[] {
    return this.requests.flatMap(({ path, body }) => (path.endsWith('/v1/traces') ? spansIn(body) : []));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** The spans of one request of OTLP/JSON. */
export function spansIn(body: string): readonly ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}
