/** A network between a process and its database, which a test can stall and cut. */
import { createServer, connect as dial, type Socket } from 'node:net';

/** What passes: everything, nothing while the connections stand, or nothing since they are cut. */
export type NetworkState = 'passes' | 'stalls' | 'cut';

/** A network of a test's own. */
export interface TestNetwork {
  readonly port: number;
  set(state: NetworkState): void;
  /** Lets statements through and cuts the connection before its answer comes back, until another state is set. */
  loseAnswers(): void;
  close(): Promise<void>;
}

/** Opens a network to a port of this machine. */
export async function openNetwork(to: number): Promise<TestNetwork> {
  let state: NetworkState = 'passes';
  let losing = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((inner) => {
    if (state === 'cut') return inner.destroy();
    const outer = dial(to, '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, into] of [pair, [outer, inner] as const]) {
      from.on('data', (bytes: Buffer) => {
        if (losing && from === outer) return void end(pair);
        into.write(bytes);
      });
      from.on('error', () => end(pair));
      from.on('close', () => end(pair));
    }
    if (state === 'stalls') for (const socket of pair) socket.pause();
  });
  const end = (pair: readonly [Socket, Socket]): void => {
    pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  };
  const set = (next: NetworkState): void => {
    state = next;
    losing = false;
    for (const pair of [...pairs]) {
      if (next === 'cut') end(pair);
      else for (const socket of pair) next === 'stalls' ? socket.pause() : socket.resume();
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    set,
    loseAnswers: () => {
      losing = true;
    },
    close: () => {
      set('cut');
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
