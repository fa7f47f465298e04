/**
 * The door of a server: who sends a request, from where, and how much of it is under way, whatever carries the request and
 * whatever answers it.
 *
 * Invariants
 * H1  Before it is known who sent a request, nothing of it is read but its headers.
 * H2  Everything that a client can make large is bounded, for each principal: bodies, messages under way and in a while, streams.
 * H4  A door that closes answers what it has taken in, for a while, and takes in nothing more.
 */
import { lineOfError, type Principal } from '@reprise/contracts';
import type { HttpLimits } from '../protocol/limits.js';
import { isClientPrincipal } from '../protocol/principals.js';
import type { ServedWorld } from '../world/served-world.js';
import type { Authenticate } from './auth-request.js';
import type { Pace } from './pace.js';
import { allowed, type Places, preflight } from './places.js';
import { Streams } from './streams.js';
import type { Visit } from './visit.js';

/** What answers the requests below a path. */
export interface Surface {
  /** Its path, such as `/mcp`. */
  readonly path: string;
  /** Whether paths below it are its own too. */
  readonly isTree: boolean;
  /** The methods that it knows, in the order in which a client is told of them. */
  readonly methods: readonly string[];
  /** An answer that refuses, in its own format. */
  refuse(status: number, words: string, headers?: Record<string, string>): Response;
  /** Answers a request whose sender is known. What it reads and takes is its own to bound by {@link Entrance}. */
  answer(visit: Visit, principal: Principal): Promise<Response>;
  /** Ends what is still open when the door has closed. */
  close(): Promise<void> | void;
}

/** What a surface asks of the door. */
export interface Entrance {
  readonly limits: HttpLimits;
  readonly pace: Pace;
  readonly streams: Streams;
  /** Counts a request that a door which closes waits for. */
  count(visit: Visit): void;
  broke(error: unknown): void;
}

interface DoorParts {
  readonly served: ServedWorld;
  readonly limits: HttpLimits;
  readonly pace: Pace;
  readonly auth: Authenticate;
  /** From where it may be called. */
  readonly places: Places;
  readonly onError: (error: Error) => void;
}

/** Lets requests in to surfaces. */
export class Door implements Entrance {
  readonly limits: HttpLimits;
  readonly pace: Pace;
  readonly streams: Streams;
  /** The requests that are being answered, without streams. */
  readonly #open = new Set<Promise<void>>();
  #surfaces: readonly Surface[] = [];
  #isClosing = false;

  constructor(private readonly parts: DoorParts) {
    this.limits = parts.limits;
    this.pace = parts.pace;
    this.streams = new Streams((visit) => this.#principalNow(visit), parts.limits.streamCheckMs);
  }

  /** Says what answers the requests that it lets in. */
  lead(surfaces: readonly Surface[]): void {
    this.#surfaces = surfaces;
  }

  /**
   * Answers a request.
   *
   * @param mayStay whether the connection of the request may be that of its principal; by default it may
   */
  async answer(visit: Visit, mayStay: (principal: Principal) => boolean = () => true): Promise<Response> {
    const [first] = this.#surfaces as readonly [Surface, ...Surface[]];
    const surface = this.#surfaceOf(visit);
    const { places } = this.parts;
    const refuse = (surface ?? first).refuse;
    if (surface === undefined)
      return refuse(404, `The server is at ${this.#surfaces.map(({ path }) => path).join(', ')}.`);
    const foreign = places.refuses(visit);
    if (foreign !== undefined) return last(refuse(403, foreign));
    return allowed(visit, await this.#inside(visit, surface, mayStay));
  }

  /** The answer where the server failed. */
  failed(visit: Visit, error: unknown): Response {
    this.broke(error);
    const [first] = this.#surfaces as readonly [Surface, ...Surface[]];
    return allowed(visit, (this.#surfaceOf(visit) ?? first).refuse(500, 'The request failed in the server.'));
  }

  count(visit: Visit): void {
    const over = new Promise<void>((resolve) => visit.hold(resolve));
    this.#open.add(over);
    visit.hold(() => this.#open.delete(over));
  }

  broke(error: unknown): void {
    this.parts.onError(error instanceof Error ? error : new Error(lineOfError(error)));
  }

  // H4
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.race([Promise.all(this.#open), later(this.limits.drainMs)]);
    this.streams.close();
    for (const surface of this.#surfaces) await surface.close();
  }

  async #inside(visit: Visit, surface: Surface, mayStay: (principal: Principal) => boolean): Promise<Response> {
    const { refuse, methods } = surface;
    if (this.#isClosing) return last(refuse(503, 'The server is closing.'));
    if (visit.method === 'OPTIONS') return preflight(visit, methods);
    if (!methods.includes(visit.method)) return refuse(405, 'Method not allowed.', { allow: methods.join(', ') });
    const principal = await this.#principalOf(visit); // H1
    if (principal === undefined) return unauthorized(surface);
    if (!mayStay(principal)) return busy(surface, 'connections', 1);
    return surface.answer(visit, principal);
  }

  #surfaceOf({ target }: Visit): Surface | undefined {
    const path = pathOf(target);
    return this.#surfaces.find((one) => path === one.path || (one.isTree && path?.startsWith(`${one.path}/`)));
  }

  /** The principal of an open stream, if its request were sent now; undefined also when that cannot be found. */
  async #principalNow(visit: Visit): Promise<Principal | undefined> {
    try {
      return await this.#principalOf(visit);
    } catch (error) {
      this.broke(error);
      return undefined;
    }
  }

  async #principalOf({ method, target, headers, remoteAddress }: Visit): Promise<Principal | undefined> {
    const found = await this.parts.auth({
      method,
      url: target,
      header: (name) => headers.get(name) ?? undefined,
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    });
    if (found === undefined) return undefined;
    if (!isClientPrincipal(found)) {
      this.broke(new Error('`auth` gave no principal that a client may act as: human:NAME, or cell:ADDRESS'));
      return undefined;
    }
    return (await this.parts.served.admits(found)) ? found : undefined;
  }
}

/** The path of a request; undefined for what is no path, such as `//`. */
function pathOf(target: string): string | undefined {
  const url = target.startsWith('/') ? `http://localhost${target}` : target; // a proxy may be sent a whole address
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}

/** The answer to a request without a valid token. */
export function unauthorized({ refuse }: Pick<Surface, 'refuse'>): Response {
  return last(refuse(401, 'A valid token is needed.', { 'www-authenticate': 'Bearer' }));
}

/** The answer to a principal that has taken all its places. */
export function busy({ refuse }: Pick<Surface, 'refuse'>, what: string, seconds: number): Response {
  return last(refuse(429, `Too many ${what}.`, { 'retry-after': String(seconds) }));
}

/** An answer after which the connection ends: what follows on it is not read. */
export function last(answer: Response): Response {
  answer.headers.set('connection', 'close');
  return answer;
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
