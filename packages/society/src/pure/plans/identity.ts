/** Plans about agents: their keys, challenges and proofs, and what is kept and cleared of them at their end. */

import { address } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { codeOf, itemOrigin, memoryWrite, planOf, storeAt } from '@reprise/org/contracts';
import {
  agentIdOfKey,
  archivedAgent,
  identityDestroy,
  identityKeygen,
  identityNonce,
  identityVerify,
  keygenReader,
  nonce,
  PURPOSES,
  publicKey,
  signature,
  societyArchive,
  societyErase,
} from '../contracts/agent/identity.js';
import { agentId, entityId } from '../contracts/cell/statement.js';
import { itemIdOf } from '../contracts/memory/tools.js';

const call = z.string().max(64);
const purpose = z.enum(PURPOSES);

/** `society/challenge_plan@1`: draws a challenge for a proof. */
export const challengePlan = planOf('society/challenge_plan@1', () => ({
  input: z.strictObject({ call, agent: agentId, purpose }),
  effects: [identityNonce],
  *run({ call: of, ...asked }, plan) {
    const drawn = yield* plan.awaitReceipt(plan.emitEffect(identityNonce, asked));
    const value = drawn.status === 'ok' ? { nonce: drawn.payload.nonce, purpose: asked.purpose } : null;
    plan.raiseEvent({ name: 'society/Challenged@1', value: { call: of, code: codeOf(drawn), value } });
  },
}));

/** `society/prove_plan@1`: has a proof checked. */
export const provePlan = planOf('society/prove_plan@1', () => ({
  input: z.strictObject({ call, agent: agentId, public_key: publicKey, nonce, purpose, signature }),
  effects: [identityVerify],
  *run({ call: of, ...proof }, plan) {
    const verdict = yield* plan.awaitReceipt(plan.emitEffect(identityVerify, proof));
    const value = verdict.status === 'ok' ? { refused: verdict.payload.refused, purpose: proof.purpose } : null;
    plan.raiseEvent({ name: 'society/Proved@1', value: { call: of, code: codeOf(verdict), value } });
  },
}));

/** `society/own_key_plan@1`: checks that an agent has the key that it brings. It signs the id of its parent. */
export const ownKeyPlan = planOf('society/own_key_plan@1', () => ({
  input: z.strictObject({ call, parent: entityId, public_key: publicKey, proof: signature }),
  effects: [identityVerify],
  *run({ call: of, parent, public_key, proof }, plan) {
    const agent_id = agentIdOfKey(public_key);
    const claim = { agent: agent_id, public_key, nonce: parent, purpose: 'register' as const, signature: proof };
    const verdict = yield* plan.awaitReceipt(plan.emitEffect(identityVerify, claim));
    const code = verdict.status === 'ok' ? verdict.payload.refused : codeOf(verdict);
    const key = { public_key, agent_id, key_ref: null, private_key_encrypted: null };
    plan.raiseEvent({ name: 'society/Keyed@1', value: { call: of, code, value: code === null ? key : null } });
  },
}));

/** `society/remove_plan@1`: destroys the key of a removed agent, and erases what its hot context holds. */
export const removePlan = planOf('society/remove_plan@1', () => ({
  input: z.strictObject({ agent_id: agentId, key_ref: z.nullable(z.string().max(128)), cell: address }),
  effects: [identityDestroy, societyErase],
  *run({ agent_id, key_ref, cell }, plan) {
    const erasing = plan.emitEffect(societyErase, { agent: agent_id, cell });
    const destroying = key_ref === null ? undefined : plan.emitEffect(identityDestroy, { key_ref });
    const erased = yield* plan.awaitReceipt(erasing);
    const kept = destroying === undefined ? null : codeOf(yield* plan.awaitReceipt(destroying));
    const code = codeOf(erased) ?? kept;
    const content = erased.status === 'ok' ? erased.payload : null;
    plan.raiseEvent({ name: 'society/Cleared@1', value: { agent_id, code, content } });
  },
}));

/**
 * How often a key is made anew when the outcome of an attempt is unknown: the vault destroys keys without an agent. Each
 * death of the process during an attempt is one, so the bound is far above the deaths that a registration meets.
 */
const ATTEMPTS = 32;

/** `society/keygen_plan@1`: has a key pair made for a new agent. */
export const keygenPlan = planOf('society/keygen_plan@1', () => ({
  input: z.strictObject({ call: z.string().max(64), parent: z.string().max(128), ...keygenReader }),
  effects: [identityKeygen],
  *run({ call, ...asked }, plan) {
    for (let attempt = 1; ; attempt++) {
      const made = yield* plan.awaitReceipt(plan.emitEffect(identityKeygen, { ...asked, attempt }));
      if (made.status === 'outcome_unknown' && attempt < ATTEMPTS) continue;
      const value = made.status === 'ok' ? made.payload : null;
      return plan.raiseEvent({ name: 'society/Keyed@1', value: { call, code: codeOf(made), value } });
    }
  },
}));

/** `society/archive_plan@1`: has the archive of an agent written. */
export const archivePlan = planOf('society/archive_plan@1', () => ({
  input: z.strictObject({ store: z.string().max(200), origin: itemOrigin, agent: archivedAgent }),
  effects: [societyArchive, memoryWrite],
  *run({ store, origin, agent }, plan) {
    const { key } = agent;
    const composed = yield* plan.awaitReceipt(plan.emitEffect(societyArchive, agent));
    if (composed.status !== 'ok')
      return plan.raiseEvent({ name: 'society/Archived@1', value: { key, item: null, code: codeOf(composed) } });
    const item = { ...composed.payload, tags: ['archive'], type: 'session', subject_key: key };
    const operation = { op: 'store' as const, key, origin, ...item };
    const stored = yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at: storeAt(store), operation }));
    const kept = stored.status === 'ok' ? itemIdOf(store, stored.payload.id) : null;
    plan.raiseEvent({ name: 'society/Archived@1', value: { key, item: kept, code: codeOf(stored) } });
  },
}));
