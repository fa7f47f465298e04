/**
 * A socket of the process that owns a world. Its first line says who a connection is; what follows belongs to them.
 *
 * Invariants
 * S1  The socket is open to this user only. A stale one, of a process that is gone, is replaced in one step.
 * S2  A connection that says nothing, or breaks the protocol, is closed; it costs bounded memory and one report.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, lstatSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { LargeNumbers } from '@reprise/contracts/json';
import { BRIDGE_HELLO_MS, BRIDGE_STRANGERS_MAX } from './limits.js';
import { type Line, LineSocket } from './lines.js';
import { type Place, prepare } from './place.js';

/** The places of sockets that are open: a process that exits without closing them leaves nothing behind. */
const places = new Set<Place>();

process.on('exit', () => {
  for (const place of places) {
    rmSync(place.socket, { force: true });
    removeEmpty(place.folder);
  }
});

/** A connection that said who it is. */
export interface Guest {
  /** Takes a line. What it throws breaks the connection. */
  line(line: Line, numbers: LargeNumbers): void;
  /** The connection is over. `why` says how the other side broke the protocol, if it did. */
  over(why?: string): void;
}

/** Takes in a connection by its first line. @returns its guest; undefined when it was refused */
type Welcome = (hello: Line, wire: LineSocket) => Guest | undefined;

interface OwnerSocketOptions {
  readonly place: Place;
  /** Receives errors of connections, which end nothing else. */
  readonly onError?: (error: Error) => void;
}

/** A socket of a world's owner. */
export class OwnerSocket {
  readonly place: Place;
  readonly #kinds = new Map<string, Welcome>();
  readonly #wires = new Set<LineSocket>();
  #server: Promise<Server> | undefined;
  #strangers = 0;

  constructor(private readonly options: OwnerSocketOptions) {
    this.place = options.place;
  }

  /** Takes in connections whose first line has `hello: kind`. */
  welcome(kind: string, welcome: Welcome): void {
    this.#kinds.set(kind, welcome);
  }

  /**
   * Listens. Only the process that holds the world's lock may call this: it replaces the socket that is there (S1).
   *
   * @throws RepriseError `invalid_argument` when the folder is not safe
   */
  listen(): Promise<unknown> {
    this.#server ??= this.#listen().catch((error) => {
      this.#server = undefined;
      throw error;
    });
    return this.#server;
  }

  /** Stops listening, and closes all connections. */
  async close(): Promise<void> {
    const listening = this.#server;
    this.#server = undefined;
    for (const wire of this.#wires) wire.end();
    const server = await listening?.catch(() => undefined);
    if (server === undefined) return;
    places.delete(this.place);
    await new Promise((resolve) => server.close(resolve));
    if (inode(this.place.socket) === this.#inode) rmSync(this.place.socket, { force: true });
    removeEmpty(this.place.folder); // a program that is still being ended keeps its record
  }

  #inode: number | undefined;

  async #listen(): Promise<Server> {
    prepare(this.place);
    const { socket: file } = this.place;
    const server = createServer((socket) => this.#connected(socket));
    server.on('error', (error) => this.options.onError?.(error));
    const fresh = `${file}.${randomBytes(4).toString('hex')}`;
    server.listen(fresh);
    await once(server, 'listening');
    chmodSync(fresh, 0o600);
    renameSync(fresh, file);
    this.#inode = inode(file);
    places.add(this.place);
    server.unref();
    return server;
  }

  #connected(socket: Socket): void {
    if (this.#strangers >= BRIDGE_STRANGERS_MAX) return void socket.destroy(); // S2
    this.#strangers++;
    let guest: Guest | undefined;
    let known = false;
    const wire: LineSocket = new LineSocket(socket, {
      line: (line, numbers) => {
        if (known) return guest?.line(line, numbers);
        introduced();
        guest = this.#welcomed(line, wire);
      },
      over: (why) => {
        introduced();
        this.#wires.delete(wire);
        if (guest !== undefined) guest.over(why);
        else if (why !== undefined) this.options.onError?.(new Error(`a connection was closed: ${why}`));
      },
    });
    const silent = setTimeout(() => wire.end(), BRIDGE_HELLO_MS);
    const introduced = (): void => {
      if (known) return;
      known = true;
      clearTimeout(silent);
      this.#strangers--;
    };
    this.#wires.add(wire);
  }

  #welcomed(hello: Line, wire: LineSocket): Guest | undefined {
    const welcome = this.#kinds.get(String(hello.hello));
    if (welcome === undefined) throw new Error('its first line says nothing that is known');
    return welcome(hello, wire);
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty, or gone.
  }
}

function inode(file: string): number | undefined {
  try {
    return lstatSync(file).ino;
  } catch {
    return undefined;
  }
}
