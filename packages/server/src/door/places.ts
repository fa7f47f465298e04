/**
 * From where a server may be called: the names under which it may be addressed, and the web pages that may call it.
 *
 * A web page of another site reaches servers of this machine, by a name that it lets point here. The header `Host` shows
 * the name, and `Origin` the page.
 */
import { type ArgumentCheck, checkOf } from '@reprise/contracts';
import type { Visit } from './visit.js';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of serveHttp');

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const ASKED_FOR_MS = '600';

/** The places from which a server may be called. */
export interface Places {
  /** Why a request may not come from where it comes; undefined when it may. */
  refuses(visit: Pick<Visit, 'headers' | 'origin'>): string | undefined;
}

const FOREIGN_PAGE = 'This origin may not call this server.';

/** The places of a server of this process: it knows its own names. */
export class OwnPlaces implements Places {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  /** @param host the address at which it listens */
  constructor(host: string, port: number, origins: readonly string[]) {
    const own = [...LOOPBACK, host.includes(':') ? `[${host}]` : host].map((name) => `${name.toLowerCase()}:${port}`);
    const given = origins.map((origin) => new URL(origin));
    this.#hosts = new Set([...own, ...given.map((url) => url.host)]);
    this.#origins = new Set([...own.map((name) => `http://${name}`), ...given.map((url) => url.origin)]);
  }

  refuses({ headers }: Pick<Visit, 'headers'>): string | undefined {
    const [host, origin] = [headers.get('host') ?? '', headers.get('origin')];
    if (!this.#hosts.has(host.toLowerCase())) return 'This server is not addressed by this name.';
    return origin === null || this.#origins.has(origin.toLowerCase()) ? undefined : FOREIGN_PAGE;
  }
}

/** The places of a handler behind a server of the app, which knows by which names it is addressed: pages of its own origin, and given ones. */
export class SameOrigin implements Places {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins.map((origin) => new URL(origin).origin));
  }

  refuses({ headers, origin: own }: Pick<Visit, 'headers' | 'origin'>): string | undefined {
    const origin = headers.get('origin')?.toLowerCase();
    return origin === undefined || origin === own || this.#origins.has(origin) ? undefined : FOREIGN_PAGE;
  }
}

/** Lets the page that sent a request read the answer. */
export function allowed({ headers }: Pick<Visit, 'headers'>, answer: Response): Response {
  const origin = headers.get('origin');
  if (origin === null) return answer;
  answer.headers.set('access-control-allow-origin', origin);
  answer.headers.set('access-control-expose-headers', 'mcp-session-id, www-authenticate, retry-after');
  answer.headers.set('vary', 'origin');
  return answer;
}

/** The answer to a browser that asks whether a page may send a request. */
export function preflight({ headers }: Pick<Visit, 'headers'>, methods: readonly string[]): Response {
  const asked = headers.get('access-control-request-headers');
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods.join(', '),
      'access-control-max-age': ASKED_FOR_MS,
      ...(asked === null ? {} : { 'access-control-allow-headers': asked }),
    },
  });
}

/** @throws RepriseError `invalid_argument` unless it is a list of origins */
export function requireOrigins(origins: unknown): void {
  require(Array.isArray(origins), 'origins', "a list of origins, such as ['https://app.example.com']", typeof origins);
  for (const origin of origins as unknown[]) {
    const isOrigin = typeof origin === 'string' && /^https?:\/\/[^/?#@]+$/.test(origin) && URL.canParse(origin);
    require(isOrigin, 'origins', 'an origin: a scheme, a host, and a port where it is not the usual one', origin);
  }
}
