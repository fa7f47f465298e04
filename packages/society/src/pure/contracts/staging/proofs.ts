/** Challenges and proofs: their tools, and as an entity keeps them. */

import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { checkedAs, optional } from '@reprise/org/contracts';
import { nonce, PURPOSES, publicKey, signature } from '../agent/identity.js';
import { acting, agentId, outcomeOf, time, timeOrNull } from '../cell/statement.js';

const count = z.int().min(0);

/** What a challenge is drawn for by a tool: the proof of a brought key needs none. */
const challengeable = z.enum(['api', 'return', 'node'] satisfies readonly (typeof PURPOSES)[number][]);

/** A nonce as callers write it: the entity counts its bytes. */
export const nonceShown = checkedAs(z.string().min(1).max(128), nonce);

/** The tools by which an agent proves who it is. */
export const proofCalls = {
  agent_challenge: acting({
    description:
      'Asks for a challenge. The agent signs `statement` (base64), for a return a statement of its own over `nonce`. It counts once, and for 60 seconds.',
    args: { agent_id: agentId, purpose: challengeable },
    answer: { nonce: z.string(), expires_at: time, ...optional({ statement: z.string() }) },
  }),
  agent_prove: acting({
    description: 'Proves by a signature over a nonce that the caller has the key of the agent.',
    args: {
      ...optional({ agent_id: agentId }),
      nonce: nonceShown,
      signature: checkedAs(z.string().regex(/^[A-Za-z0-9+/_-]{1,1400}={0,2}$/), signature),
    },
    answer: { agent_id: agentId, verified: z.boolean(), ...optional({ token: z.string(), expires_at: timeOrNull }) },
  }),
};

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
