/**
 * Clients in sessions: the revisions of the protocol before 2026-07-28.
 *
 * Each request is answered by a server of its own, so requests that have one id do not meet; what a session is, stands
 * here.
 *
 * Invariants
 * S1  A session belongs to the principal that opened it; for every other one it does not exist.
 * S2  There are at most so many sessions of a principal, and of all, as the bounds say. For one more, a principal that has
 *     the most loses the one that was used longest ago: never one that has fewer. A session that nobody uses ends.
 * S3  A session begins with a request `initialize` that was granted, and with no other.
 */
import { randomUUID } from 'node:crypto';
import { legacyStatelessFallback } from '@modelcontextprotocol/server';
import type { Principal } from '@reprise/contracts';
import { Shares } from '../door/shares.js';
import type { Streams } from '../door/streams.js';
import type { Visit } from '../door/visit.js';
import type { HttpLimits } from '../protocol/limits.js';
import { McpSessions } from '../protocol/mcp-sessions.js';
import type { McpServerOptions } from '../protocol/mcp-types.js';
import { cancelledBy, messagesOf, methodOf } from '../protocol/messages.js';
import type { News } from '../world/news.js';
import type { OfferedWorld } from '../world/served-world.js';
import { EventStream } from './event-stream.js';
import { refusal } from './rpc-refusal.js';

const SESSION_HEADER = 'mcp-session-id';

/** The error for a session that is not there; the range is free for servers. */
const NO_SESSION = -32_001;
const BAD_REQUEST = -32_000;

/** Makes what a session needs. */
export interface SessionParts {
  readonly limits: HttpLimits;
  readonly news: News;
  readonly streams: Streams;
  offer(principal: Principal): OfferedWorld;
  options(offer: OfferedWorld, session: string): McpServerOptions;
}

/** The sessions of clients, each bound to its principal. */
export class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #shares = new Shares<HttpSession>();

  constructor(private readonly parts: SessionParts) {}

  /** Answers a request of a revision that has sessions. */
  async handle(request: Request, principal: Principal, body: unknown, visit: Visit): Promise<Response> {
    this.#endUnused();
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return this.#begin(request, principal, body, visit);
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal !== principal)
      return refusal(404, NO_SESSION, 'There is no such session.');
    this.#shares.add(principal, session); // the longest unused stands first
    if (request.method === 'DELETE') {
      this.#end(session);
      return new Response(null, { status: 204 });
    }
    return session.handle(request, body, visit);
  }

  close(): void {
    for (const session of [...this.#sessions.values()]) this.#end(session);
  }

  async #begin(request: Request, principal: Principal, body: unknown, visit: Visit): Promise<Response> {
    if (request.method !== 'POST' || methodOf(body) !== 'initialize')
      return refusal(
        400,
        BAD_REQUEST,
        'A session begins with the request initialize; its header Mcp-Session-Id is missing.',
      );
    const session = new HttpSession(principal, this.parts);
    visit.hold(() => {
      if (!this.#sessions.has(session.id)) session.end(); // S3
    });
    const answer = await whole(await session.handle(request, body, visit));
    if (!session.hasBegun || visit.isOver) return answer;
    this.#add(session);
    answer.headers.set(SESSION_HEADER, session.id);
    return answer;
  }

  // S2
  #add(session: HttpSession): void {
    const { sessions, sessionsEach } = this.parts.limits;
    this.#sessions.set(session.id, session);
    this.#shares.add(session.principal, session);
    const [oldest] = this.#shares.tooMany(session.principal, sessionsEach, sessions) ?? [];
    if (oldest !== undefined) this.#end(oldest);
  }

  #endUnused(): void {
    const since = performance.now() - this.parts.limits.sessionMs;
    for (const session of this.#sessions.values()) if (session.isUnused(since)) this.#end(session);
  }

  #end(session: HttpSession): void {
    this.#sessions.delete(session.id);
    this.#shares.delete(session.principal, session);
    session.end();
  }
}

class HttpSession {
  readonly id = randomUUID();
  readonly #core: McpSessions;
  readonly #leave: () => void;
  readonly #answer: ReturnType<typeof legacyStatelessFallback>;
  #stream: EventStream | undefined;
  #used = performance.now();

  constructor(
    readonly principal: Principal,
    { news, streams, offer: offerTo, options }: SessionParts,
  ) {
    const offer = offerTo(principal);
    this.#core = new McpSessions(options(offer, this.id));
    this.#answer = legacyStatelessFallback(() => this.#core.make(true));
    this.#leave = news.add({
      offer,
      isOpen: () => this.#stream !== undefined,
      check: () => streams.check(principal),
      follows: (uri) => this.#core.followed.has(uri),
      toolsChanged: () => this.#stream?.notify('notifications/tools/list_changed'),
      resourcesChanged: () => this.#stream?.notify('notifications/resources/list_changed'),
      resourceUpdated: (uri) => this.#stream?.notify('notifications/resources/updated', { uri }),
    });
  }

  isUnused(since: number): boolean {
    return this.#stream === undefined && this.#used < since;
  }

  /** Whether its request to begin was granted. */
  get hasBegun(): boolean {
    return this.#core.knowsClient;
  }

  async handle(request: Request, body: unknown, visit: Visit): Promise<Response> {
    this.#used = performance.now();
    if (request.method === 'GET') return this.#open(request, visit);
    for (const message of messagesOf(body)) {
      const id = cancelledBy(message);
      if (id !== undefined) this.#core.cancel(id);
    }
    return this.#answer(request, { parsedBody: body });
  }

  end(): void {
    this.#leave();
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** A new stream takes the place of the one before: a client that lost its connection opens another. */
  #open(request: Request, visit: Visit): Response {
    if (request.headers.get('accept')?.includes('text/event-stream') !== true)
      return refusal(406, BAD_REQUEST, 'A stream is text/event-stream.');
    this.#stream?.close();
    const stream = new EventStream({ [SESSION_HEADER]: this.id }, visit, () => {
      if (this.#stream === stream) this.#stream = undefined;
    });
    this.#stream = stream;
    return stream.response;
  }
}

/** An answer of which all is there: so it is known whether a session begins. */
async function whole(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  return new Response(await answer.arrayBuffer(), { status, headers: new Headers(headers) });
}
