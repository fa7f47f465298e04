/** The Model Context Protocol behind the door: clients in sessions, and clients without. */
import { isLegacyRequest } from '@modelcontextprotocol/server';
import type { Principal } from '@reprise/contracts';
import { TOO_LARGE } from '../door/bodies.js';
import { busy, type Entrance, last, type Surface, unauthorized } from '../door/door.js';
import type { Visit } from '../door/visit.js';
import { parseMessages } from '../protocol/large-arguments.js';
import { messagesOf, methodOf } from '../protocol/messages.js';
import { News } from '../world/news.js';
import type { ServedWorld } from '../world/served-world.js';
import { coreOptions, errorsTo, type ServerNames } from '../world/serving.js';
import { HttpClients } from './clients.js';
import { BAD_REQUEST, INTERNAL_ERROR, PARSE_ERROR, refusal } from './rpc-refusal.js';
import { HttpSessions, type SessionParts } from './sessions.js';

const PATH = '/mcp';

/** Answers the messages of MCP clients. */
export class McpSurface implements Surface {
  readonly path = PATH;
  readonly isTree = false;
  readonly methods = ['GET', 'POST', 'DELETE'];
  readonly #news: News;
  readonly #sessions: HttpSessions;
  readonly #clients: HttpClients;

  constructor(
    served: ServedWorld,
    private readonly door: Entrance,
    names: ServerNames,
  ) {
    const { limits, streams } = door;
    this.#news = new News(served, errorsTo(names), () => void streams.check());
    const parts: SessionParts = {
      limits,
      news: this.#news,
      streams,
      offer: (principal) => served.as(principal),
      options: (offer, session) => coreOptions(offer, names, session),
    };
    this.#sessions = new HttpSessions(parts);
    this.#clients = new HttpClients(parts);
  }

  readonly refuse = (status: number, words: string, headers: Record<string, string> = {}): Response =>
    refusal(status, status === 500 ? INTERNAL_ERROR : BAD_REQUEST, words, headers);

  async answer(visit: Visit, principal: Principal): Promise<Response> {
    const { pace, limits } = this.door;
    const wait = pace.take(principal, 1);
    if (wait !== undefined) return busy(this, 'requests', wait);
    if (visit.method === 'GET') return this.#stream(principal, visit, undefined);
    // Before the body: else one principal could fill the memory with bodies.
    const place = pace.use(principal, 'open', 1);
    if (place === undefined) return busy(this, 'requests', 1);
    const leave = visit.hold(place);
    if (visit.method === 'DELETE') return this.#handle(principal, visit, undefined);
    const text = await visit.body(limits.bodyBytes);
    if (text === TOO_LARGE) return last(this.refuse(413, `A body may have ${limits.bodyBytes} bytes.`));
    const body = parsed(text);
    if (body === undefined) return refusal(400, PARSE_ERROR, 'The body is not JSON.');
    if (methodOf(body) === 'subscriptions/listen') {
      leave(); // a stream stays open, and has a bound of its own
      return this.#stream(principal, visit, body);
    }
    return this.#takeRest(principal, visit, messagesOf(body).length - 1) ?? this.#handle(principal, visit, body);
  }

  async close(): Promise<void> {
    this.#sessions.close();
    await this.#clients.close();
    await this.#news.close();
  }

  /** Takes in the messages of a batch behind its first: each counts like a request. @returns a refusal */
  #takeRest(principal: Principal, visit: Visit, more: number): Response | undefined {
    const { pace, limits } = this.door;
    if (more <= 0) return undefined;
    if (more >= limits.batch) return this.refuse(413, `A batch may have ${limits.batch} messages.`);
    const wait = pace.take(principal, more);
    if (wait !== undefined) return busy(this, 'messages', wait);
    const places = pace.use(principal, 'open', more);
    if (places === undefined) return busy(this, 'messages', 1);
    visit.hold(places);
    return undefined;
  }

  async #stream(principal: Principal, visit: Visit, body: unknown): Promise<Response> {
    const { pace, streams } = this.door;
    const place = pace.use(principal, 'streams', 1);
    if (place === undefined) return busy(this, 'streams', 1);
    visit.hold(place);
    streams.watch(visit, principal);
    return this.#handle(principal, visit, body, true);
  }

  async #handle(principal: Principal, visit: Visit, body: unknown, isStream = false): Promise<Response> {
    if (!isStream) this.door.count(visit);
    const { method, headers, signal } = visit;
    // Without its body, which is parsed already.
    const given = new Request(`http://localhost${PATH}`, { method, headers, signal });
    const isLegacy = await isLegacyRequest(given, body);
    if (signal.aborted) return unauthorized(this); // the client has left, or its token was taken back meanwhile
    return isLegacy
      ? this.#sessions.handle(given, principal, body, visit)
      : this.#clients.handle(given, principal, body, visit);
  }
}

function parsed(text: string): unknown {
  try {
    return parseMessages(text);
  } catch {
    return undefined;
  }
}
