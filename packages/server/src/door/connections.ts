/**
 * Connections, whose they are, and the exchanges on them.
 *
 * Invariants
 * C1  A connection belongs to the principal of its last request; before one is known, to the address from which it
 *     comes.
 * C2  An owner has a bounded number of connections. When there are too many in all, an owner that has the most loses one:
 *     never one that has fewer.
 * C3  Every exchange of a connection is over when the connection is, also those that wait behind another's answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Principal } from '@reprise/contracts';
import { HTTP_PIPELINED_MAX, type HttpLimits } from '../protocol/limits.js';
import { Exchange } from './exchange.js';
import { Shares } from './shares.js';

interface Connection {
  readonly socket: Socket;
  readonly exchanges: Set<Exchange>;
  owner: string;
}

/** The connections of a server. */
export class Connections {
  readonly #known = new WeakMap<Socket, Connection>();
  readonly #shares = new Shares<Connection>();

  constructor(private readonly limits: Pick<HttpLimits, 'connections' | 'connectionsEach'>) {}

  /** Takes in a connection; another one may have to go for it. */
  open(socket: Socket): void {
    const connection: Connection = { socket, exchanges: new Set(), owner: `address ${socket.remoteAddress ?? ''}` };
    this.#known.set(socket, connection);
    this.#shares.add(connection.owner, connection);
    socket.once('close', () => this.#closed(connection));
    const { connections, connectionsEach } = this.limits;
    const crowd = this.#shares.tooMany(connection.owner, connectionsEach, connections);
    if (crowd === undefined) return;
    const [oldest = connection] = crowd;
    this.#drop(idleOf(crowd) ?? oldest);
  }

  /** Begins an exchange; undefined when the connection has too many that are not answered, and is closed for it. */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined {
    const connection = this.#known.get(request.socket);
    if (connection === undefined || connection.exchanges.size >= HTTP_PIPELINED_MAX) {
      request.socket.destroy();
      return undefined;
    }
    const exchange = new Exchange(request, response);
    connection.exchanges.add(exchange);
    exchange.hold(() => connection.exchanges.delete(exchange));
    return exchange;
  }

  /** Gives a connection to the principal of its request. @returns false when that one has too many that are in use */
  prove({ request }: Exchange, principal: Principal): boolean {
    const connection = this.#known.get(request.socket);
    if (connection === undefined || connection.owner === principal) return true;
    const own = this.#shares.of(principal);
    if (own.size >= this.limits.connectionsEach) {
      const idle = idleOf(own);
      if (idle === undefined) return false;
      this.#drop(idle);
    }
    this.#shares.delete(connection.owner, connection);
    connection.owner = principal;
    this.#shares.add(principal, connection);
    return true;
  }

  #closed(connection: Connection): void {
    this.#shares.delete(connection.owner, connection);
    for (const exchange of [...connection.exchanges]) exchange.over();
  }

  /** Closes a connection; it counts no longer, although its end is heard later. */
  #drop(connection: Connection): void {
    this.#shares.delete(connection.owner, connection);
    connection.socket.destroy();
  }
}

/** The oldest connection on which nothing is under way. */
function idleOf(connections: ReadonlySet<Connection>): Connection | undefined {
  for (const one of connections) if (one.exchanges.size === 0) return one;
  return undefined;
}
