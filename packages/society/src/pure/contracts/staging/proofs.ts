/** Challenges and proofs as an entity takes and keeps them. */
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { nonce, PURPOSES, publicKey, signature } from '../agent/identity.js';
import { outcomeOf } from '../cell/outcome.js';
import { agentId } from '../entity/entity.js';

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

/** The tables of an entity for proofs: the challenges that wait for their answers. */
export const proofTables = { nonces: z.strictObject({ purpose: challengeable, ends: count }) };

/** The events that plans of an entity raise for proofs. */
export const proofNews = {
  /** A challenge was drawn, or could not be. */
  'society/Challenged@1': from(outcomeOf(z.strictObject({ nonce, purpose: challengeable })), by.ownPlan),
  /** The verdict on a proof: why it does not hold, or null. */
  'society/Proved@1': from(
    outcomeOf(z.strictObject({ refused: z.nullable(z.string().max(96)), purpose: z.enum(PURPOSES) })),
    by.ownPlan,
  ),
};
