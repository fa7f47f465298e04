/**
 * Which network addresses are not public: a host that a model names must not lead into a private network by accident.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * All IPv4 ranges that are not on the public internet: this host, private and shared networks, link-local, test,
 * multicast, reserved.
 */
const V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Parts of 2000::/3 that are not public, or that wrap another address. The rest of IPv6 is not public anyway. */
const V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const notPublic = new BlockList();
for (const [address, bits] of V4) notPublic.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of V6) notPublic.addSubnet(address, bits, 'ipv6');

const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address is on the public internet; false for text that is not an address.
 *
 * @example isPublicAddress('169.254.169.254') // false: where clouds keep the credentials of a machine
 */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) === 0) return false;
  if (!isIPv6(plain)) return !notPublic.check(plain, 'ipv4');
  return global6.check(plain, 'ipv6') && !notPublic.check(plain, 'ipv6');
}
