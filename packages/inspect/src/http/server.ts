/**
 * The server behind the page: on this machine alone, for the one page that has the token of this start.
 *
 * Invariants
 * HS1  Nothing of a world leaves before the host, the site and the token of a request were checked.
 * HS2  The work on a request ends with its connection, and all work with the server.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RepriseError } from '@reprise/contracts';
import { toJson } from '@reprise/operators/text';
import {
  fileReply,
  hostsOf,
  type PageFile,
  requireHost,
  requireOwnPage,
  SECURITY_HEADERS,
} from '@reprise/server/guard';
import { errorAnswer } from './error-report.js';
import { Refusal } from './refusal.js';
import { newToken, requireToken } from './token.js';

/** One question to the server, behind all guards. */
export interface ApiRequest {
  readonly method: string;
  /** The name of the question: `waiting` of `/api/waiting`. */
  readonly name: string;
  readonly query: URLSearchParams;
  /** Aborted when its connection or the server ends. */
  readonly signal: AbortSignal;
}

/** An answer: one text, or texts one after another. */
export interface ApiAnswer {
  readonly type: string;
  readonly body: string | AsyncIterable<string>;
}

/** What the server is made of. */
interface HttpOptions {
  /** The port on 127.0.0.1; any free one when 0. */
  readonly port: number;
  /** The files of the page, by their paths; `/` is also the file of every screen. */
  files(): Promise<Readonly<Record<string, PageFile>>>;
  answer(request: ApiRequest): Promise<ApiAnswer>;
}

/** A server that runs, until it is closed. */
interface HttpServer {
  /** The address of the page, with the token in its fragment. */
  readonly url: string;
  /** Ends all connections, and resolves when the work on their requests has ended. */
  close(): Promise<void>;
}

/** The most connections at once: a page needs a few. */
const CONNECTIONS_MAX = 256;

/** Starts the server. @throws RepriseError `invalid_argument` when the port cannot be used */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const server = createServer();
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, options.port);
  const { port } = server.address() as AddressInfo;
  const token = newToken();
  const work = new Work(options, hostsOf(port), token);
  server.on('request', (request, response) => work.take(request, response));
  return {
    url: `http://127.0.0.1:${port}/#token=${token}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.all([closed, work.end()]);
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  } catch (cause) {
    const busy = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw new RepriseError('invalid_argument', busy ? 'the port is in use' : 'the port cannot be used', {
      ...{ where: 'port', expected: 'a free port; without one any free port is taken', actual: port, cause },
    });
  }
}

/** What is sent. A `Response` would load all of `fetch` for it. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ApiAnswer['body'] | Uint8Array | null;
}

/** The requests that are being answered. */
class Work {
  readonly #stop = new AbortController();
  readonly #open = new Set<Promise<void>>();

  constructor(
    private readonly options: HttpOptions,
    private readonly hosts: ReadonlySet<string>,
    private readonly token: string,
  ) {}

  take(request: IncomingMessage, response: ServerResponse): void {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#stop.signal]);
    const done = this.#reply(request, signal)
      .catch((error: unknown) => failed(error))
      .then((reply) => send(response, reply, signal))
      .catch(() => void response.destroy())
      .then(() => void this.#open.delete(done));
    this.#open.add(done);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#open);
  }

  async #reply(request: IncomingMessage, signal: AbortSignal): Promise<Reply> {
    requireHost(request, this.hosts);
    const method = request.method ?? 'GET';
    const { pathname, searchParams: query } = urlOf(request);
    if (pathname !== '/api' && !pathname.startsWith('/api/')) return this.#file(request, method, pathname);
    requireMethod(method, pathname);
    requireOwnPage(request);
    requireToken(request.headers, this.token);
    request.resume(); // no question has a body
    const { type, body } = await this.options.answer({ method, name: pathname.slice('/api/'.length), query, signal });
    return { status: 200, headers: { 'content-type': type }, body };
  }

  async #file(request: IncomingMessage, method: string, pathname: string): Promise<Reply> {
    if (method !== 'GET') throw refusedMethod(method, 'GET');
    if (request.headers['sec-fetch-mode'] !== 'navigate') requireOwnPage(request);
    const files = await this.options.files();
    const file = Object.hasOwn(files, pathname) ? files[pathname] : isScreen(pathname) ? files['/'] : undefined;
    if (file !== undefined) return fileReply(file, request.headers);
    throw new Refusal(404, new RepriseError('invalid_argument', 'the page has no such file', { where: pathname }));
  }
}

/** The path of a screen: its first part is a word, as that of a file is not. */
function isScreen(pathname: string): boolean {
  return /^\/[a-z]*(?:\/|$)/.test(pathname);
}

/** The one question that is asked with POST, since it takes long and is not to be repeated. */
const POSTED = '/api/verify';

function requireMethod(method: string, pathname: string): void {
  const allowed = pathname === POSTED ? 'POST' : 'GET';
  if (method !== allowed) throw refusedMethod(method, allowed);
}

function refusedMethod(actual: string, allow: string): Refusal {
  const error = new RepriseError('invalid_argument', 'the method is not supported here', { expected: allow, actual });
  return new Refusal(405, error, { allow });
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  // A path may begin with two slashes, which is no name of a server here.
  if (URL.canParse(`http://localhost${url}`)) return new URL(`http://localhost${url}`);
  throw new RepriseError('invalid_argument', 'the address cannot be read', {
    ...{ where: 'the path of the request', expected: 'a path with a query' },
  });
}

function failed(error: unknown): Reply {
  const { status, report, headers } = errorAnswer(error);
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body: `${toJson(report)}\n` };
}

/** The type of an answer that is one JSON value. */
export const JSON_TYPE = 'application/json; charset=utf-8';

async function send(response: ServerResponse, { status, headers, body }: Reply, signal: AbortSignal): Promise<void> {
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers });
  // A stream may have nothing to say for long: the page still learns that it is connected.
  response.flushHeaders();
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) response.end(body);
  else await pipeline(Readable.from(body), response, { signal });
}
