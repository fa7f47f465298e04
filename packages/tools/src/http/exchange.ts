/** HTTP exchanges along a chain of redirects: each address is checked before anything is sent to it. */
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { RepriseError } from '@reprise/contracts';
import { assertPublicLiteral, judgingLookup, type Resolve, refusalOf, type Targets } from './targets.js';

/** The parts of a request, without its address. */
export interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How to send a request. */
interface Way {
  readonly targets: Targets;
  readonly resolve: Resolve;
  /**
   * Returns the app's headers for an address: called for each address, so that no header follows a redirect to another
   * host.
   */
  readonly own: (url: URL) => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
  /** Called when a server has answered, even with a redirect. */
  heard?(): void;
}

/** An answer whose body is not read yet. */
export interface Received {
  readonly url: URL;
  readonly message: IncomingMessage;
}

/** The most redirects that are followed. */
const REDIRECTS_MAX = 5;

const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308];

/**
 * Sends a request and follows redirects.
 *
 * @throws RepriseError `path_refused` for an address that is not allowed; the system's error when no server answers
 */
export async function exchange(start: URL, sent: Sent, way: Way): Promise<Received> {
  let url = start;
  let current = sent;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const message = await exchangeOnce(url, current, way);
    way.heard?.();
    const { location } = message.headers;
    if (location === undefined || !REDIRECTS.includes(message.statusCode)) return { url, message };
    message.destroy();
    const next = redirected(location, url);
    current = followed(current, message.statusCode, url, next);
    url = next;
  }
  throw refused(`it redirects more than ${REDIRECTS_MAX} times`, start);
}

/**
 * Sends a request to one address. A redirect is an answer like another.
 *
 * @throws RepriseError `path_refused` for an address that is not allowed; the system's error when no server answers
 */
export async function exchangeOnce(url: URL, sent: Sent, way: Way): Promise<IncomingMessage> {
  const why = refusalOf(url, way.targets);
  if (why !== undefined) throw refused(why, url);
  assertPublicLiteral(url, way.targets);
  const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const headers = { 'accept-encoding': 'identity', ...sent.headers, ...(await way.own(url)) };
  return new Promise((resolve, reject) => {
    const options = {
      method: sent.method,
      headers,
      lookup: judgingLookup(url, way.targets, way.resolve),
      signal: way.signal,
      agent: false, // a kept connection would skip the check of the looked-up address
    };
    request(url, options, resolve).on('error', reject).end(sent.body);
  });
}

function redirected(location: string, from: URL): URL {
  try {
    return new URL(location, from);
  } catch {
    throw refused('it redirects to an invalid address', from);
  }
}

/** The request for a redirect's target: a write becomes a read where the status says so. */
function followed(sent: Sent, status: number | undefined, from: URL, to: URL): Sent {
  if (status === 307 || status === 308) {
    // The body was meant for one host, so it is not sent to another.
    if (sent.body !== undefined && from.host !== to.host) throw refused('it redirects a body to another host', to);
    return sent;
  }
  if (sent.method === 'GET' || sent.method === 'HEAD') return sent;
  const { 'content-type': _, ...headers } = sent.headers;
  return { method: 'GET', headers };
}

function refused(why: string, { host }: URL): RepriseError {
  return new RepriseError('path_refused', why, { where: JSON.stringify(host) });
}
