/** Key pairs of agents. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { AnyAdapter } from '@reprise/kernel';
import { identityKeygen } from '../pure/index.js';

/** The adapters of keys. */
export function keyAdapters(): readonly AnyAdapter[] {
  return [
    {
      effect: identityKeygen,
      name: 'identity.keygen',
      async doExecute() {
        const { publicKey } = generateKeyPairSync('ed25519');
        const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
        const agent_id = createHash('sha256').update(raw).digest('hex');
        const payload = {
          public_key: raw.toString('hex'),
          agent_id,
          key_ref: `memory:${agent_id}`,
          private_key_encrypted: null,
        };
        return { status: 'ok', payload };
      },
    } as unknown as AnyAdapter,
  ];
}
