/** In a browser's bundle in the place of `node:crypto`: as much of it as golden worlds use. */
import { sha256 } from '@noble/hashes/sha2.js';

/** The only hash that is used. */
export function createHash(_: 'sha256') {
  const hash = sha256.create();
  const self = {
    update(bytes: Uint8Array) {
      hash.update(bytes);
      return self;
    },
    digest: () => hash.digest(),
  };
  return self;
}
