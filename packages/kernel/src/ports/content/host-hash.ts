/** The hash of the machine that a program runs on, where it has one that answers at once. */
import { type Hash, portableSha256 } from '../../pure/codec/hash.js';

/** What Node offers, and browsers do not. */
interface HostCrypto {
  hash?(algorithm: 'sha256', bytes: Uint8Array, encoding: 'binary'): string;
}

/**
 * Finds the native sha-256: in Node by way of `process`, so that nothing is imported that other hosts lack; elsewhere it
 * is the portable one. In bulk the native one is 12 to 18 times faster.
 *
 * @example const digest = hostSha256()(bytes)
 */
export function hostSha256(): Hash {
  known ??= nativeSha256() ?? portableSha256;
  return known;
}

let known: Hash | undefined;

function nativeSha256(): Hash | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const crypto = process?.getBuiltinModule?.('node:crypto') as HostCrypto | undefined;
  if (typeof crypto?.hash !== 'function') return undefined;
  return (bytes) => {
    // Short inputs dominate, and for them a text of bytes costs less than a buffer.
    const text = (crypto as Required<HostCrypto>).hash('sha256', bytes, 'binary');
    const digest = new Uint8Array(32);
    for (let i = 0; i < 32; i++) digest[i] = text.charCodeAt(i);
    return digest;
  };
}
