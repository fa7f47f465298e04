/**
 * Which requests a server of pages answers, and what a browser may do with the answers.
 *
 * Such a server acts for the person at this machine and asks for no password. So a page of another site must not reach it:
 * not by a form, not by a script, and not by a name of its own that it points at this machine (DNS rebinding).
 */
import type { IncomingMessage } from 'node:http';
import { isObject, isWhole, requireArgument } from '@reprise/contracts';
import { HttpRefusal } from './refusal.js';

const LOCAL = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The `Host` values that a server answers to: this machine at its port, and the names that it was started for.
 *
 * @throws RepriseError `invalid_argument` for what is no port or no list of names
 */
export function hostsOf(port: number, names: readonly string[] = []): ReadonlySet<string> {
  requireArgument(isWhole(port), 'hostsOf(port)', 'a port, as a whole number', port);
  const areNames = Array.isArray(names) && names.every((name) => typeof name === 'string');
  requireArgument(areNames, 'hostsOf(names)', 'a list of names', names);
  const named = names.map((name) => name.toLowerCase());
  const local = port === 80 ? LOCAL : LOCAL.map((name) => `${name}:${port}`);
  return new Set([...local, ...named.flatMap((name) => [name, `${name}:${port}`])]);
}

/**
 * Refuses a request that names another server: a foreign name that was pointed at this machine.
 *
 * @throws HttpRefusal 403; RepriseError `invalid_argument` for what is no request
 */
export function requireHost(request: Pick<IncomingMessage, 'headers'>, hosts: ReadonlySet<string>): void {
  const headers = headersOf(request, 'requireHost');
  requireArgument(hosts instanceof Set, 'requireHost(hosts)', 'a set, from hostsOf(…)', hosts);
  const host = (headers.host ?? '').toLowerCase();
  if (hosts.has(host)) return;
  throw new HttpRefusal(403, `Unknown host "${host}": this server answers as ${[...hosts].join(', ')}.`);
}

/**
 * Refuses a request that a page of another site makes. A request without these headers comes from no page.
 *
 * @throws HttpRefusal 403; RepriseError `invalid_argument` for what is no request
 */
export function requireOwnPage(request: Pick<IncomingMessage, 'headers'>): void {
  const headers = headersOf(request, 'requireOwnPage');
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new HttpRefusal(403, 'Requests from other sites are refused: open the page of this server.');
}

/**
 * Refuses a body that is not JSON: a form of another site can send any other without asking first.
 *
 * @throws HttpRefusal 403; RepriseError `invalid_argument` for what is no request
 */
export function requireJson(request: Pick<IncomingMessage, 'headers'>): void {
  const headers = headersOf(request, 'requireJson');
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json')
    throw new HttpRefusal(403, `Unexpected content-type "${type}": send application/json.`);
}

function headersOf(request: Pick<IncomingMessage, 'headers'>, call: string): IncomingMessage['headers'] {
  const isRequest = isObject(request) && isObject(request.headers);
  requireArgument(isRequest, `${call}(request)`, 'a request, as node:http gives it', request);
  return request.headers;
}

/** The headers of every answer: only the page's own script, style and server, in no frame; what is said is never kept. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'cache-control': 'no-store',
};
