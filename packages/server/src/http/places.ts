/**
 * From where a server may be called: the names under which it may be addressed, and the web pages that may call it.
 *
 * A web page of another site reaches servers of this machine, by a name that it lets point here. The header `Host` shows
 * the name, and `Origin` the page.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ArgumentCheck, checkOf } from '@reprise/contracts';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of serveHttp');

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const ASKED_FOR_MS = '600';

/** The places from which a server may be called. */
export class Places {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  /** @param host the address at which it listens */
  constructor(host: string, port: number, origins: readonly string[]) {
    const own = [...LOOPBACK, host.includes(':') ? `[${host}]` : host].map((name) => `${name.toLowerCase()}:${port}`);
    const given = origins.map((origin) => new URL(origin));
    this.#hosts = new Set([...own, ...given.map((url) => url.host)]);
    this.#origins = new Set([...own.map((name) => `http://${name}`), ...given.map((url) => url.origin)]);
  }

  /** Why a request may not come from where it comes; undefined when it may. */
  refuses({ headers }: IncomingMessage): string | undefined {
    const { host = '', origin } = headers;
    if (!this.#hosts.has(host.toLowerCase())) return 'This server is not addressed by this name.';
    if (origin !== undefined && !this.#origins.has(origin.toLowerCase()))
      return 'This origin may not call this server.';
    return undefined;
  }

  /** Lets the page that sent a request read the answer. */
  allow({ headers }: IncomingMessage, response: ServerResponse): void {
    const { origin } = headers;
    if (origin === undefined) return;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate, retry-after');
    response.setHeader('vary', 'origin');
  }

  /** The answer to a browser that asks whether a page may send a request. */
  static preflight({ headers }: IncomingMessage): Response {
    const asked = headers['access-control-request-headers'];
    return new Response(null, {
      status: 204,
      headers: {
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-max-age': ASKED_FOR_MS,
        ...(asked === undefined ? {} : { 'access-control-allow-headers': asked }),
      },
    });
  }
}

/** @throws RepriseError `invalid_argument` unless it is a list of origins */
export function requireOrigins(origins: unknown): void {
  require(Array.isArray(origins), 'origins', "a list of origins, such as ['https://app.example.com']", typeof origins);
  for (const origin of origins as unknown[]) {
    const isOrigin = typeof origin === 'string' && /^https?:\/\/[^/?#@]+$/.test(origin) && URL.canParse(origin);
    require(isOrigin, 'origins', 'an origin: a scheme, a host, and a port where it is not the usual one', origin);
  }
}
