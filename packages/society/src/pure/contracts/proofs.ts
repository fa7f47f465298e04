/** Challenges and proofs as an entity takes and keeps them. */
import { value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { agentId } from './entity.js';
import { nonce, type PURPOSES, publicKey, signature } from './identity.js';

const count = z.int().min(0);

/** What a challenge is drawn for by a tool: the proof of a brought key needs none. */
const challengeable = z.enum(['api', 'return', 'node'] satisfies readonly (typeof PURPOSES)[number][]);

/** The arguments of the tools about proofs. */
export const proofCalls = {
  agent_challenge: z.strictObject({ agent_id: agentId, purpose: challengeable }),
  agent_prove: z.strictObject({ agent_id: z.exactOptional(agentId), nonce, signature }),
} as const;

/** The key that an agent brings, and its signature. */
export const ownKey = z.strictObject({ public_key: publicKey, proof: signature });

/** A challenge that waits for its answer, in the table `nonces`. */
export const nonceRow = z.strictObject({ purpose: challengeable, ends: count });

/** A challenge that waits for its answer. */
export type NonceRow = z.infer<typeof nonceRow>;

/** The tables of an entity for proofs. */
export const proofTables = { nonces: nonceRow };

const outcome = z.strictObject({ call: z.string().max(64), code: z.nullable(z.string().max(96)), value: value() });

/** The events that plans of an entity raise for proofs. */
export const proofNews = {
  /** A challenge was drawn, or could not be. */
  'society/Challenged@1': from(outcome, by.ownPlan),
  /** The verdict on a proof. */
  'society/Proved@1': from(outcome, by.ownPlan),
};
