/** A proxy between a client and a server that cuts connections after as many bytes of answers as a function says. */
import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';

/** A proxy to a port. */
export class CuttingProxy {
  readonly #sockets = new Set<Socket>();
  /** How many connections were cut. */
  cuts = 0;
  /** After how many bytes of answers the next connection is cut; undefined for never. */
  bytes: () => number | undefined = () => undefined;
  /** Where the server is. */
  to = 0;

  private constructor(private readonly server: ReturnType<typeof createServer>) {
    server.on('connection', (client) => this.#join(client));
  }

  static async open(): Promise<CuttingProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CuttingProxy(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  /** Cuts all connections now. */
  cut(): void {
    for (const one of this.#sockets) one.destroy();
  }

  #join(client: Socket): void {
    const server = dial(this.to, '127.0.0.1');
    const leave = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const one of [client, server]) {
      this.#sockets.add(one);
      one.on('error', leave);
      one.on('close', () => {
        this.#sockets.delete(one);
        leave();
      });
    }
    client.pipe(server);
    let left = this.bytes();
    server.on('data', (piece: Buffer) => {
      if (left !== undefined && piece.length >= left) {
        this.cuts += 1;
        client.write(piece.subarray(0, left), leave);
        left = 0;
        server.pause();
        return;
      }
      if (left !== undefined) left -= piece.length;
      client.write(piece);
    });
    server.on('end', () => client.end());
  }
}
