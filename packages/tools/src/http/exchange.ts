/** One HTTP exchange after another, as redirects lead: each address is judged anew before anything is sent to it. */
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { RepriseError } from '@reprise/contracts';
import { assertPublicLiteral, judgingLookup, type Resolve, refusalOf, type Targets } from './targets.js';

/** What is sent. */
export interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How it is sent. */
export interface Way {
  readonly targets: Targets;
  readonly resolve: Resolve;
  /** Headers of the app for an address: asked at each, so that none follows a redirect elsewhere. */
  readonly own: (url: URL) => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
  /** Told that somebody has answered, be it with where to ask instead. */
  heard?(): void;
}

/** An answer whose body has not been read yet. */
export interface Received {
  readonly url: URL;
  readonly message: IncomingMessage;
}

/** Redirects that are followed. */
const REDIRECTS_MAX = 5;

const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308];

/**
 * Sends a request and follows redirects.
 *
 * @throws RepriseError `path_refused` for an address that may not be asked; the system's error when nobody answers
 */
export async function exchange(start: URL, sent: Sent, way: Way): Promise<Received> {
  let url = start;
  let current = sent;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const message = await once(url, current, way);
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

async function once(url: URL, sent: Sent, way: Way): Promise<IncomingMessage> {
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
      agent: false, // a connection that was kept would not be looked up again
    };
    request(url, options, resolve).on('error', reject).end(sent.body);
  });
}

function redirected(location: string, from: URL): URL {
  try {
    return new URL(location, from);
  } catch {
    throw refused('it redirects to what is no address', from);
  }
}

/** What is sent to where a redirect leads: a write becomes a read where the answer says to look elsewhere. */
function followed(sent: Sent, status: number | undefined, from: URL, to: URL): Sent {
  if (status === 307 || status === 308) {
    // Written to one host, and not to another that it names.
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
