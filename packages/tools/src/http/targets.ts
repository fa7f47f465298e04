/** Which hosts may be asked, and how an address is found that is then the one that is connected to. */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { asciiLower, RepriseError } from '@reprise/contracts';
import { isPublicAddress } from './addresses.js';

/** Which hosts may be asked. */
export interface Targets {
  /** Hosts: `api.example.com`, `*.example.com` for those below it, `example.com:8443` for another port than the usual. */
  readonly allow: readonly string[];
  /** Of these, the ones that may stand in a private network, as `host:port`. */
  readonly allowPrivate: readonly string[];
}

/** Finds the addresses of a host. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

const USUAL_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Why an address may not be asked, as a sentence for the model; undefined when it may. */
export function refusalOf(url: URL, targets: Targets): string | undefined {
  if (!(url.protocol in USUAL_PORTS)) return `only http and https addresses can be asked, not ${url.protocol}`;
  if (url.username !== '' || url.password !== '') return 'an address with a user name in it is not asked';
  const allowed = [...targets.allow, ...targets.allowPrivate].some((pattern) => fits(url, pattern));
  return allowed ? undefined : `${url.host} is none of the hosts that may be asked`;
}

/** Whether a host and its port fit one of the patterns. */
function fits(url: URL, pattern: string): boolean {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(asciiLower(pattern)) ?? [];
  const usual = USUAL_PORTS[url.protocol];
  if ((url.port || usual) !== (port ?? usual)) return false;
  const name = asciiLower(url.hostname).replace(/\.$/, '');
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) && name.length > host.length - 1 : name === host;
}

/** Whether a target may stand in a private network. */
export function mayBePrivate(url: URL, { allowPrivate }: Targets): boolean {
  return allowPrivate.some((pattern) => fits(url, pattern));
}

/**
 * Looks a host up for a connection. The address that it judges is the address that is connected to, so a name that
 * answers otherwise the next time gains nothing.
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

/** The addresses of a host, of which every one may be connected to. */
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
 * Refuses an address that stands in the host's text itself: no name is looked up for it.
 *
 * @throws RepriseError `path_refused`
 */
export function assertPublicLiteral(url: URL, targets: Targets): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !mayBePrivate(url, targets)) assertPublic(host, url);
}

function assertPublic(address: string, url: URL): void {
  if (isPublicAddress(address)) return;
  throw new RepriseError('path_refused', 'it stands in a private network', { where: JSON.stringify(url.host) });
}

/** What the system says of a host. */
export const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
  });
