/** The way to the door of a process, on which an adversary sits: it cuts, stalls, changes bytes, and sends again what it saw. */
import { createServer, connect as dial, type Socket } from 'node:net';

/** What the adversary does to what passes. */
export type RoadState = 'passes' | 'cut' | 'stalls' | 'changed';

/** A way of a test's own. */
export interface Road {
  readonly port: number;
  set(state: RoadState): void;
  /** Sends the last requests that passed once more, byte for byte. @returns how many */
  replay(): number;
  close(): Promise<void>;
}

/** The requests that the adversary remembers. */
const SEEN_MAX = 8;

/** Opens a way to a port of this machine. @param random a number from 0, below 1 */
export async function openRoad(to: number, random: () => number): Promise<Road> {
  let state: RoadState = 'passes';
  const sockets = new Set<Socket>();
  const seen: Buffer[] = [];
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const passed = (bytes: Buffer, isRequest: boolean): Buffer => {
    if (isRequest) {
      seen.push(Buffer.from(bytes));
      if (seen.length > SEEN_MAX) seen.shift();
    }
    if (state !== 'changed') return bytes;
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 + Math.floor(random() * 255));
    return bytes;
  };
  const server = createServer((inner) => {
    keep(inner);
    if (state === 'cut') return inner.destroy();
    const outer = keep(dial(to, '127.0.0.1'));
    inner.on('data', (bytes) => outer.write(passed(bytes, true))).on('close', () => outer.destroy());
    outer.on('data', (bytes) => inner.write(passed(bytes, false))).on('close', () => inner.destroy());
    if (state === 'stalls') for (const socket of [inner, outer]) socket.pause();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    port: (server.address() as { port: number }).port,
    set: (next) => {
      state = next;
      for (const socket of [...sockets]) {
        if (next === 'cut') socket.destroy();
        else if (next === 'stalls') socket.pause();
        else socket.resume();
      }
    },
    replay: () => {
      for (const bytes of seen) keep(dial(to, '127.0.0.1')).end(bytes);
      return seen.length;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}
