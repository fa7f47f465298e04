/** Which hosts are allowed, and a lookup that connects to the same address that it checked. */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { domainToASCII } from 'node:url';
import { asciiLower, RepriseError } from '@reprise/contracts';
import { isPublicAddress } from './addresses.js';

/** A host, or all below it, as a URL writes it. */
interface HostPattern {
  /** The host; with a point before it, every host below it. */
  readonly host: string;
  /** The port; undefined for the usual one of the protocol. */
  readonly port: string | undefined;
}

/** The hosts that requests may go to. */
export interface Targets {
  readonly allow: readonly HostPattern[];
  /** The hosts among these that may be in a private network. */
  readonly allowPrivate: readonly HostPattern[];
}

/**
 * The allowed hosts from their texts: `api.example.com`, `*.example.com` for its subdomains, `example.com:8443` for
 * another port than the default.
 *
 * @throws RepriseError `invalid_argument` for a text that no address could match
 */
export function targetsOf(allow: readonly string[], allowPrivate: readonly string[]): Targets {
  return {
    allow: allow.map((text, i) => patternOf(text, `allow[${i}]`)),
    allowPrivate: allowPrivate.map((text, i) => patternOf(text, `allowPrivate[${i}]`)),
  };
}

/** A URL writes the name of a host in ASCII: `exämple.com` as `xn--exmple-cua.com`. */
function patternOf(text: string, where: string): HostPattern {
  const [, star = '', name = '', port] = /^(\*\.)?(.*?)\.?(?::(\d{1,5}))?$/.exec(String(text)) ?? [];
  const host = domainToASCII(name);
  const number = port === undefined ? undefined : Number(port);
  const canMatch = host !== '' && !/[*/?#@]/.test(name) && (star === '' || isName(host)) && (number ?? 0) <= PORT_MAX;
  if (canMatch) return { host: star === '' ? host : `.${host}`, port: number?.toString() };
  throw new RepriseError('invalid_argument', 'invalid host of the HTTP tools', {
    where,
    expected: 'a host such as api.example.com, *.example.com or example.com:8443, without a protocol and a path',
    actual: text,
  });
}

/** Addresses have nothing below them. */
function isName(host: string): boolean {
  return isIP(host) === 0 && !host.startsWith('[');
}

const PORT_MAX = 65_535;

/** Returns the addresses of a host. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

const USUAL_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Why an address is refused, as a sentence for the model; undefined when it is allowed. */
export function refusalOf(url: URL, targets: Targets): string | undefined {
  if (!(url.protocol in USUAL_PORTS)) return `only http and https addresses are allowed, not ${url.protocol}`;
  if (url.username !== '' || url.password !== '') return 'an address must not contain a user name';
  const allowed = [...targets.allow, ...targets.allowPrivate].some((pattern) => fits(url, pattern));
  return allowed ? undefined : `${url.host} is not an allowed host`;
}

/** Whether a host and its port match one of the patterns. */
function fits(url: URL, { host, port }: HostPattern): boolean {
  const usual = USUAL_PORTS[url.protocol];
  if ((url.port || usual) !== (port ?? usual)) return false;
  const name = asciiLower(url.hostname).replace(/\.$/, '');
  return host.startsWith('.') ? name.endsWith(host) && name.length > host.length : name === host;
}

/** Whether a target may be in a private network. */
function mayBePrivate(url: URL, { allowPrivate }: Targets): boolean {
  return allowPrivate.some((pattern) => fits(url, pattern));
}

/**
 * Looks up a host for a connection. The connection uses the address that was checked, so a name that resolves
 * differently the next time cannot bypass the check.
 */
export function judgingLookup(url: URL, targets: Targets, resolve: Resolve): LookupFunction {
  return (host, options, done) => {
    judged(host, url, targets, resolve).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) done(null, [...addresses]);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    );
  };
}

type Address = { readonly address: string; readonly family: number };

/** The addresses of a host, all of which are allowed. */
async function judged(
  host: string,
  url: URL,
  targets: Targets,
  resolve: Resolve,
): Promise<readonly [Address, ...Address[]]> {
  const [first, ...others] = await resolve(host);
  if (first === undefined) throw new Error('the host has no address');
  const all = [first, ...others] as const;
  if (!mayBePrivate(url, targets)) for (const { address } of all) assertPublic(address, url);
  return all;
}

/**
 * Refuses a private address that is written in the URL itself, since no lookup checks it.
 *
 * @throws RepriseError `path_refused`
 */
export function assertPublicLiteral(url: URL, targets: Targets): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !mayBePrivate(url, targets)) assertPublic(host, url);
}

function assertPublic(address: string, url: URL): void {
  if (isPublicAddress(address)) return;
  throw new RepriseError('path_refused', 'the host is in a private network', { where: JSON.stringify(url.host) });
}

/** Looks up a host with the system's resolver. */
export const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
  });
