/** Which hosts are allowed, and a lookup that connects to the same address that it checked. */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { asciiLower, RepriseError } from '@reprise/contracts';
import { isPublicAddress } from './addresses.js';

/** The allowed hosts. */
export interface Targets {
  /**
   * Hosts: `api.example.com`, `*.example.com` for its subdomains, `example.com:8443` for another port than the default.
   */
  readonly allow: readonly string[];
  /** The hosts among these that may be in a private network, as `host:port`. */
  readonly allowPrivate: readonly string[];
}

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
function fits(url: URL, pattern: string): boolean {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(asciiLower(pattern)) ?? [];
  const usual = USUAL_PORTS[url.protocol];
  if ((url.port || usual) !== (port ?? usual)) return false;
  const name = asciiLower(url.hostname).replace(/\.$/, '');
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) && name.length > host.length - 1 : name === host;
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
