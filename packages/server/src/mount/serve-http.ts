/**
 * A world over HTTP, for many clients, by a server of Node.
 *
 * Invariants
 * H2  Connections are bounded for each principal; one that has the most gives way. The door bounds the rest.
 * H3  What a request takes is held by its exchange (holds/X1): a client that leaves, at whatever moment, takes nothing with it.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentWorld } from '@reprise/agent';
import { type ArgumentCheck, checkOf, isObject, type KnownOptions, requireKnownOptions } from '@reprise/contracts';
import { Connections } from '../door/connections.js';
import type { Door } from '../door/door.js';
import type { Exchange } from '../door/exchange.js';
import { send } from '../door/node-http.js';
import { OwnPlaces, requireOrigins } from '../door/places.js';
import { requireWorld, type Serving } from '../world/serving.js';
import { DOOR_OPTIONS, limitsOf, loadSurfaces, openDoor, requireDoorOptions } from './open-door.js';
import type { ServeHttpOptions } from './served-http.js';

/**
 * How long a connection stays open without a request, in milliseconds. Proxies keep theirs for a minute: a server that
 * closes first (after 5 seconds, by Node's default) loses the request that is on its way at that moment. How many may
 * stay open is bounded by `limits.connections`.
 */
const KEEP_ALIVE_MS = 75_000;

const OPTIONS: KnownOptions<ServeHttpOptions> = { ...DOOR_OPTIONS, port: true, host: true };

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of serveHttp');

type SurfacesOf = Awaited<ReturnType<typeof loadSurfaces>>;

/** Serves a world over HTTP: see `served-http.ts`. */
export async function serveHttp(world: AgentWorld, options: ServeHttpOptions): Promise<Serving> {
  requireWorld(world);
  requireOptions(options);
  const surfacesOf = await loadSurfaces(options);
  const { host = '127.0.0.1', port = 0 } = options;
  const limits = limitsOf(options);
  const server = createServer({
    headersTimeout: Math.min(limits.headersMs, limits.requestMs),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node looks every 30 seconds, so a client that sends nothing would stay for that much longer.
    connectionsCheckingInterval: Math.ceil(Math.min(limits.headersMs, limits.requestMs) / 4),
  });
  await listening(server, host, port);
  return new HttpServing(world, options, surfacesOf, server);
}

class HttpServing implements Serving {
  readonly url: string;
  readonly ended: Promise<void>;
  readonly #door: Door;
  readonly #connections: Connections;
  #closing: Promise<void> | undefined;

  constructor(
    world: AgentWorld,
    options: ServeHttpOptions,
    surfacesOf: SurfacesOf,
    private readonly server: Server,
  ) {
    const { host = '127.0.0.1', origins = [] } = options;
    const { port } = server.address() as AddressInfo;
    const places = new OwnPlaces(host, port, origins);
    const { door, surfaces } = openDoor(world, options, { surfacesOf, places });
    this.#door = door;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}${surfaces[0]?.path ?? ''}`;
    this.#connections = new Connections(limitsOf(options));
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

  // door/H4
  async #close(): Promise<void> {
    this.server.close();
    this.server.closeIdleConnections();
    await this.#door.close();
    await new Promise((resolve) => setImmediate(resolve)); // the ends of streams are written
    this.server.closeAllConnections();
    await this.ended;
  }

  async #take(exchange: Exchange): Promise<void> {
    const { response } = exchange;
    try {
      await send(await this.#door.answer(exchange, (who) => this.#connections.prove(exchange, who)), exchange);
    } catch (error) {
      if (exchange.isOver || response.destroyed) return; // the client has left
      if (response.headersSent) {
        this.#door.broke(error);
        response.destroy();
      } else await send(this.#door.failed(exchange, error), exchange);
    }
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

/** Refuses anything but options: callers may be untyped. */
function requireOptions(options: ServeHttpOptions): void {
  require(isObject(options), 'options', 'an object with `auth`', typeof options);
  requireKnownOptions(options, OPTIONS, 'serveHttp');
  const { port = 0, host = '127.0.0.1', origins = [] } = options;
  require(Number.isInteger(port) && port >= 0 && port < 65_536, 'port', 'a port: 0 to 65535', port);
  require(typeof host === 'string' && host !== '', 'host', 'an address', host);
  requireOrigins(origins);
  requireDoorOptions(options, 'serveHttp');
}
