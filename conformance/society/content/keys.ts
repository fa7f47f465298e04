/** A vault whose keys follow from a seed, so that the same seed makes the same agents; forks of a world share it. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { KeyVault } from 'reprise/society';

/** What stands before the 32 bytes of an Ed25519 private key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const KEY_BYTES = 32;

/** A vault in memory. */
export function seededVault(seed: number): KeyVault {
  const keys = new Map<string, KeyObject>();
  return {
    label: 'seeded',
    make: async () => {
      const bytes = createHash('sha256').update(`${seed} ${keys.size}`).digest();
      const key = createPrivateKey({ key: Buffer.concat([PKCS8, bytes]), format: 'der', type: 'pkcs8' });
      const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
      const agent_id = createHash('sha256').update(raw).digest('hex');
      const key_ref = `ed25519.${agent_id}`;
      keys.set(key_ref, key);
      return { agent_id, public_key: raw.toString('base64'), key_ref };
    },
    madeAt: async () => undefined,
    sign: async (key_ref, bytes) => {
      const key = keys.get(key_ref);
      return key === undefined ? undefined : sign(null, bytes, key).toString('base64');
    },
    encrypted: async () => undefined,
    destroy: async () => false,
    list: async () => [...keys.keys()],
    register: async () => undefined,
    registered: async () => undefined,
  };
}
