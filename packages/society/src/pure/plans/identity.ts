/** Plans of identity: challenges, proofs, keys that agents bring, and what goes with a removed agent. */

import { address } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { planOf } from '@reprise/org/contracts';
import {
  agentId,
  agentIdOfKey,
  entityId,
  identityDestroy,
  identityNonce,
  identityVerify,
  nonce,
  PURPOSES,
  publicKey,
  signature,
  societyErase,
} from '../contracts/index.js';
import { codeOf } from './receipt.js';

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
    const destroyed = key_ref === null ? undefined : plan.emitEffect(identityDestroy, { key_ref });
    const erased = yield* plan.awaitReceipt(erasing);
    const receipts: readonly { readonly status: string; readonly code?: string }[] =
      destroyed === undefined ? [erased] : [erased, yield* plan.awaitReceipt(destroyed)];
    const failed = receipts.find(({ status }) => status !== 'ok');
    const code = failed === undefined ? null : (failed.code ?? failed.status);
    const content = erased.status === 'ok' ? erased.payload : null;
    plan.raiseEvent({ name: 'society/Cleared@1', value: { agent_id, code, content } });
  },
}));
