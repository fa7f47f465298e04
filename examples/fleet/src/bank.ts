/** The service outside: it remembers each charge by its key, and what it was asked for more than once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the bank has seen. */
export interface Books {
  /** The keys under which each order was charged: more than one is money taken twice. */
  readonly keysOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** Calls with a key that was charged already, which cost nobody anything. */
  readonly repeated: number;
}

/** A bank that takes a few milliseconds for a charge. */
export async function openBank(): Promise<{ readonly url: string; books(): Books; close(): void }> {
  const keysOf = new Map<string, Set<string>>();
  let repeated = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    try {
      for await (const part of request) text += part;
    } catch {
      return; // who asked was killed in the middle of it
    }
    const { order, key } = JSON.parse(text) as { readonly order: string; readonly key: string };
    const keys = keysOf.get(order) ?? new Set();
    if (keys.has(key)) repeated++;
    keysOf.set(order, keys.add(key));
    setTimeout(() => response.end('{}'), 5);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, books: () => ({ keysOf, repeated }), close };
}
