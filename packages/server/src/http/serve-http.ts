/**
 * A world over HTTP, for many clients.
 *
 * Invariants
 * H1  Before it is known who sent a request, nothing of it is read but its headers.
 * H2  Everything that a client can make large is bounded, for each principal: bodies, connections, messages under way
 *     and in a while, sessions, streams. One that has the most gives way.
 * H3  What a request takes is held by its exchange (exchange/X1): a client that leaves, at whatever moment, takes nothing with it.
 * H4  A server that closes answers what it has taken in, for a while, and takes in nothing more.
 */

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLegacyRequest } from '@modelcontextprotocol/server';
import type { AgentWorld } from '@reprise/agent';
import {
  type ArgumentCheck,
  checkOf,
  isObject,
  lineOfError,
  type Principal,
  requireKnownOptions,
} from '@reprise/contracts';
import { parseMessages } from '../protocol/large-arguments.js';
import { HTTP_LIMITS, type HttpLimits } from '../protocol/limits.js';
import { messagesOf, methodOf } from '../protocol/messages.js';
import { isClientPrincipal } from '../protocol/principals.js';
import { News } from '../world/news.js';
import { ServedWorld } from '../world/served-world.js';
import { coreOptions, errorsTo, requireWorld, type Serving } from '../world/serving.js';
import { HttpClients } from './clients.js';
import { Connections } from './connections.js';
import type { Exchange } from './exchange.js';
import { pathOf, readBody, refusal, requestOf, send, TOO_LARGE } from './node-http.js';
import { Pace } from './pace.js';
import { Places, requireOrigins } from './places.js';
import type { ServeHttpOptions } from './served-http.js';
import { HttpSessions, type SessionParts } from './sessions.js';
import { Streams } from './streams.js';

const OPTIONS: Readonly<Record<keyof ServeHttpOptions, true>> = {
  port: true,
  host: true,
  auth: true,
  origins: true,
  limits: true,
  name: true,
  instructions: true,
  onError: true,
};

const PATH = '/mcp';

/**
 * How long a connection stays open without a request, in milliseconds. Proxies keep theirs for a minute: a server that
 * closes first (after 5 seconds, by Node's default) loses the request that is on its way at that moment. How many may
 * stay open is bounded by `limits.connections`.
 */
const KEEP_ALIVE_MS = 75_000;

const BAD_REQUEST = -32_000;
const PARSE_ERROR = -32_700;
const INTERNAL_ERROR = -32_603;

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of serveHttp');

/** Serves a world over HTTP, once the library of the protocol is loaded: see `served-http.ts`. */
export async function serveHttp(world: AgentWorld, options: ServeHttpOptions): Promise<Serving> {
  requireWorld(world);
  requireOptions(options);
  const { host = '127.0.0.1', port = 0 } = options;
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const server = createServer({
    headersTimeout: Math.min(limits.headersMs, limits.requestMs),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node looks every 30 seconds, so a client that sends nothing would stay for that much longer.
    connectionsCheckingInterval: Math.ceil(Math.min(limits.headersMs, limits.requestMs) / 4),
  });
  await listening(server, host, port);
  return new HttpServing(world, options, limits, server);
}

class HttpServing implements Serving {
  readonly url: string;
  readonly ended: Promise<void>;
  readonly #served: ServedWorld;
  readonly #news: News;
  readonly #streams: Streams;
  readonly #connections: Connections;
  readonly #sessions: HttpSessions;
  readonly #clients: HttpClients;
  readonly #pace: Pace;
  /** The requests that are being answered, without streams. */
  readonly #open = new Set<Promise<void>>();
  readonly #places: Places;
  #closing: Promise<void> | undefined;

  constructor(
    world: AgentWorld,
    private readonly options: ServeHttpOptions,
    private readonly limits: HttpLimits,
    private readonly server: Server,
  ) {
    const { host = '127.0.0.1', origins = [] } = options;
    const { port } = server.address() as AddressInfo;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}${PATH}`;
    this.#places = new Places(host, port, origins);
    this.#served = new ServedWorld(world);
    this.#streams = new Streams((exchange) => this.#principalNow(exchange), limits.streamCheckMs);
    this.#news = new News(this.#served, errorsTo(options), () => void this.#streams.check());
    const parts: SessionParts = {
      limits,
      news: this.#news,
      streams: this.#streams,
      offer: (principal) => this.#served.as(principal),
      options: (offer, session) => coreOptions(offer, options, session),
    };
    this.#sessions = new HttpSessions(parts);
    this.#clients = new HttpClients(parts);
    this.#pace = new Pace(limits);
    this.#connections = new Connections(limits);
    this.ended = new Promise((resolve) => server.once('close', resolve));
    server.on('connection', (socket) => this.#connections.open(socket));
    server.on('request', (request, response) => {
      const exchange = this.#connections.begin(request, response);
      if (exchange !== undefined) void this.#take(exchange);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // H4
  async #close(): Promise<void> {
    this.server.close();
    this.server.closeIdleConnections();
    await Promise.race([Promise.all(this.#open), later(this.limits.drainMs)]);
    this.#streams.close();
    this.#sessions.close();
    await this.#clients.close();
    await this.#news.close();
    await new Promise((resolve) => setImmediate(resolve)); // the ends of streams are written
    this.server.closeAllConnections();
    await this.ended;
  }

  async #take(exchange: Exchange): Promise<void> {
    const { response } = exchange;
    try {
      await send(await this.#answer(exchange), exchange);
    } catch (error) {
      if (exchange.isOver || response.destroyed) return; // the client has left
      this.#broke(error);
      if (!response.headersSent)
        await send(refusal(500, INTERNAL_ERROR, 'The request failed in the server.'), exchange);
      else response.destroy();
    }
  }

  async #answer(exchange: Exchange): Promise<Response> {
    const { request, response } = exchange;
    if (pathOf(request.url) !== PATH) return refusal(404, BAD_REQUEST, `The server is at ${PATH}.`);
    const foreign = this.#places.refuses(request);
    if (foreign !== undefined) return last(refusal(403, BAD_REQUEST, foreign));
    this.#places.allow(request, response);
    if (this.#closing !== undefined) return last(refusal(503, BAD_REQUEST, 'The server is closing.'));
    if (request.method === 'OPTIONS') return Places.preflight(request);
    if (!['GET', 'POST', 'DELETE'].includes(request.method ?? ''))
      return refusal(405, BAD_REQUEST, 'Method not allowed.', { allow: 'GET, POST, DELETE' });
    const principal = await this.#principalOf(request);
    if (principal === undefined) return unauthorized();
    if (!this.#connections.prove(exchange, principal)) return busy('connections', 1);
    return this.#answerTo(principal, exchange);
  }

  async #answerTo(principal: Principal, exchange: Exchange): Promise<Response> {
    const { method } = exchange.request;
    const wait = this.#pace.take(principal, 1);
    if (wait !== undefined) return busy('requests', wait);
    if (method === 'GET') return this.#stream(principal, exchange, undefined);
    // Before the body: else one principal could fill the memory with bodies.
    const place = this.#pace.use(principal, 'open', 1);
    if (place === undefined) return busy('requests', 1);
    const leave = exchange.hold(place);
    if (method === 'DELETE') return this.#handle(principal, exchange, undefined);
    const text = await readBody(exchange, this.limits.bodyBytes);
    if (text === TOO_LARGE) return last(refusal(413, BAD_REQUEST, `A body may have ${this.limits.bodyBytes} bytes.`));
    const body = parsed(text);
    if (body === undefined) return refusal(400, PARSE_ERROR, 'The body is not JSON.');
    if (methodOf(body) === 'subscriptions/listen') {
      leave(); // a stream stays open, and has a bound of its own
      return this.#stream(principal, exchange, body);
    }
    return this.#takeRest(principal, exchange, messagesOf(body).length - 1) ?? this.#handle(principal, exchange, body);
  }

  /** Takes in the messages of a batch behind its first: each counts like a request. @returns a refusal */
  #takeRest(principal: Principal, exchange: Exchange, more: number): Response | undefined {
    if (more <= 0) return undefined;
    if (more >= this.limits.batch) return refusal(413, BAD_REQUEST, `A batch may have ${this.limits.batch} messages.`);
    const wait = this.#pace.take(principal, more);
    if (wait !== undefined) return busy('messages', wait);
    const places = this.#pace.use(principal, 'open', more);
    if (places === undefined) return busy('messages', 1);
    exchange.hold(places);
    return undefined;
  }

  async #stream(principal: Principal, exchange: Exchange, body: unknown): Promise<Response> {
    const place = this.#pace.use(principal, 'streams', 1);
    if (place === undefined) return busy('streams', 1);
    exchange.hold(place);
    this.#streams.watch(exchange, principal);
    return this.#handle(principal, exchange, body, true);
  }

  async #handle(principal: Principal, exchange: Exchange, body: unknown, isStream = false): Promise<Response> {
    if (!isStream) this.#count(exchange);
    const given = requestOf(exchange, PATH);
    const isLegacy = await isLegacyRequest(given, body);
    if (exchange.signal.aborted) return unauthorized(); // the client has left, or its token was taken back meanwhile
    return isLegacy
      ? this.#sessions.handle(given, principal, body, exchange)
      : this.#clients.handle(given, principal, body, exchange);
  }

  #count(exchange: Exchange): void {
    const over = new Promise<void>((resolve) => exchange.hold(resolve));
    this.#open.add(over);
    exchange.hold(() => this.#open.delete(over));
  }

  /** The principal of an open stream, if its request were sent now; undefined also when that cannot be found. */
  async #principalNow({ request }: Exchange): Promise<Principal | undefined> {
    try {
      return await this.#principalOf(request);
    } catch (error) {
      this.#broke(error);
      return undefined;
    }
  }

  async #principalOf(request: IncomingMessage): Promise<Principal | undefined> {
    const { remoteAddress } = request.socket;
    const found = await this.options.auth({
      method: request.method ?? 'GET',
      url: request.url ?? '/',
      header: (name) => {
        const value = request.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    });
    if (found === undefined) return undefined;
    if (!isClientPrincipal(found)) {
      this.#broke(new Error('`auth` gave no principal that a client may act as: human:NAME, or cell:ADDRESS'));
      return undefined;
    }
    return (await this.#served.admits(found)) ? found : undefined;
  }

  #broke(error: unknown): void {
    errorsTo(this.options)(error instanceof Error ? error : new Error(lineOfError(error)));
  }
}

function unauthorized(): Response {
  return last(refusal(401, BAD_REQUEST, 'A valid token is needed.', { 'www-authenticate': 'Bearer' }));
}

/** The answer to a principal that has taken all its places. */
function busy(what: string, seconds: number): Response {
  return last(refusal(429, BAD_REQUEST, `Too many ${what}.`, { 'retry-after': String(seconds) }));
}

/** An answer after which the connection ends: what follows on it is not read. */
function last(answer: Response): Response {
  answer.headers.set('connection', 'close');
  return answer;
}

function parsed(text: string): unknown {
  try {
    return parseMessages(text);
  } catch {
    return undefined;
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Refuses anything but options: callers may be untyped. */
function requireOptions(options: ServeHttpOptions): void {
  require(isObject(options), 'options', 'an object with `auth`', typeof options);
  requireKnownOptions(options, OPTIONS, 'serveHttp');
  const { port = 0, host = '127.0.0.1', auth, origins = [], limits = {} } = options;
  require(Number.isInteger(port) && port >= 0 && port < 65_536, 'port', 'a port: 0 to 65535', port);
  require(typeof host === 'string' && host !== '', 'host', 'an address', host);
  require(typeof auth === 'function', 'auth', 'a function that finds the principal of a request', typeof auth);
  requireOrigins(origins);
  require(isObject(limits), 'limits', 'bounds by name', typeof limits);
  requireKnownOptions(
    limits,
    Object.fromEntries(Object.keys(HTTP_LIMITS).map((name) => [name, true])),
    'serveHttp limits',
  );
  for (const [name, bound] of Object.entries(limits))
    require(Number.isSafeInteger(bound) && Number(bound) > 0, `limits.${name}`, 'a whole number, at least 1', bound);
}
