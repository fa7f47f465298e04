/** Effects of keys: what the vault and the verifier do for entities. */
import * as z from '@reprise/contracts/schema';
import { defineEffect, effectOnUse } from '@reprise/kernel/define';

/** `identity.keygen@1`: makes the key pair of an agent. */
export const identityKeygen = effectOnUse('identity.keygen@1', () =>
  defineEffect({
    kind: 'identity.keygen@1',
    params: z.strictObject({ parent: z.string().max(128), attempt: z.int().min(1) }),
    receipt: z.strictObject({
      public_key: z.string().max(128),
      agent_id: z.string().regex(/^[a-f0-9]{64}$/),
      key_ref: z.string().max(128),
      private_key_encrypted: z.nullable(z.string().max(1_024)),
    }),
    guarantee: 'at_most_once',
  }),
);
