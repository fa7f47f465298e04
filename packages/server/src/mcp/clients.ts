/**
 * Clients without sessions: the revision 2026-07-28. Each principal has a handler of its own, so what one is told, no
 * other can hear.
 */
import { createMcpHandler, InMemoryServerEventBus, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { Principal } from '@reprise/contracts';
import type { Visit } from '../door/visit.js';
import { McpSessions } from '../protocol/mcp-sessions.js';
import type { SessionParts } from './sessions.js';

/** How many principals have a handler; one without a request under way makes room for another. */
const CLIENTS_MAX = 256;

interface KnownClient {
  readonly handler: McpHttpHandler;
  /** How many exchanges are under way, streams included. */
  open: number;
  leave(): void;
}

/** One handler for each principal, for requests without a session. */
export class HttpClients {
  readonly #clients = new Map<Principal, KnownClient>();

  constructor(private readonly parts: SessionParts) {}

  /** Answers a request of the revision without sessions. */
  handle(request: Request, principal: Principal, body: unknown, visit: Visit): Promise<Response> {
    const client = this.#clients.get(principal) ?? this.#make(principal);
    this.#clients.delete(principal); // the longest unused stands first
    this.#clients.set(principal, client);
    client.open += 1;
    visit.hold(() => {
      client.open -= 1;
    });
    return client.handler.fetch(request, body === undefined ? {} : { parsedBody: body });
  }

  /** Ends all: what is still under way is aborted. */
  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(clients.map(endClient));
  }

  #make(principal: Principal): KnownClient {
    const { limits, news, streams, offer: offerTo, options } = this.parts;
    const offer = offerTo(principal);
    const bus = new InMemoryServerEventBus();
    const handler = createMcpHandler(() => new McpSessions(options(offer, '')).make(false), {
      legacy: 'reject',
      bus,
      maxSubscriptions: limits.streams,
    });
    const { notify } = handler;
    const leave = news.add({
      offer,
      isOpen: () => bus.listenerCount > 0,
      check: () => streams.check(principal),
      follows: () => true,
      toolsChanged: () => notify.toolsChanged(),
      resourcesChanged: () => notify.resourcesChanged(),
      resourceUpdated: (uri) => notify.resourceUpdated(uri),
    });
    if (this.#clients.size >= CLIENTS_MAX) this.#forget();
    return { handler, open: 0, leave };
  }

  #forget(): void {
    for (const [principal, client] of this.#clients) {
      if (client.open > 0) continue;
      this.#clients.delete(principal);
      void endClient(client);
      return;
    }
  }
}

async function endClient({ handler, leave }: KnownClient): Promise<void> {
  leave();
  await handler.close();
}
