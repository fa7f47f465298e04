/**
 * Challenges and proofs of an entity.
 *
 * Invariants
 * P1  A challenge is gone with the first proof that names it, whatever the verdict, and 60 s of stamps after it was drawn.
 * P2  A challenge for one purpose serves no other.
 */

import type { Table } from '@reprise/kernel/define';
import { IDENTITY_BOUNDS } from '../../contracts/agent/identity.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { Row } from '../../contracts/entity-parts.js';
import type { proofCalls, proofNews } from '../../contracts/staging/proofs.js';
import { challengePlan, provePlan } from '../../plans/identity.js';
import { callOfPlan, goOnWith, startForCall } from '../call/answers.js';
import { type OperationsOf, refusal, refuse } from '../call/operations.js';
import { timeOf } from '../call/time.js';
import { type EntityContext, type EntityHandlers, idOf } from '../context/entity.js';

export const proofOperations: OperationsOf<keyof typeof proofCalls> = {
  agent_challenge: (draft, { purpose }, call, ctx) => {
    requireProver(draft);
    return startForCall(ctx, call, challengePlan, { call, agent: idOf(ctx), purpose });
  },
  agent_prove: (draft, { nonce, signature }, call, ctx) => {
    requireProver(draft);
    const purpose = takeNonce(nonce, ['api', 'node'], ctx);
    if (purpose === undefined) return refusal('challenge_expired'); // the challenge is gone: that stands
    const public_key = draft.public_key ?? '';
    return startForCall(ctx, call, provePlan, { call, agent: idOf(ctx), public_key, nonce, purpose, signature });
  },
};

export const proofHandlers: EntityHandlers<typeof proofNews> = {
  'society/Challenged@1': (draft, { code, value }, ctx) => {
    goOnWith(draft, callOfPlan(ctx), ctx, () => {
      if (value === null) return refuse('challenge_failed', { cause: code });
      const { nonce, purpose } = value;
      const ends = ctx.now + IDENTITY_BOUNDS.nonce_ms;
      makeRoom(ctx.table('nonces'), ctx.now);
      ctx.table('nonces').set(nonce, { purpose, ends });
      return { value: { nonce, expires_at: timeOf(ends) } };
    });
  },
  // A verdict for `api` says until when a token of it may be used: a token itself is never recorded.
  'society/Proved@1': (draft, { code, value }, ctx) => {
    goOnWith(draft, callOfPlan(ctx), ctx, () => {
      requireProof(code, value?.refused ?? null);
      const expires_at = value?.purpose === 'api' ? timeOf(ctx.now + IDENTITY_BOUNDS.token_ms) : null;
      return { value: { verified: true, agent_id: idOf(ctx), expires_at } };
    });
  },
};

/** Refuses a proof that could not be checked, or does not hold. */
export function requireProof(code: string | null, refused: string | null): void {
  if (code !== null) refuse('proof_failed', { cause: code });
  if (refused !== null) refuse('signature_invalid', { cause: refused });
}

/** Takes a challenge, which counts once. @returns its purpose; undefined when it has ended, or is for another purpose */
export function takeNonce<P extends Row<'nonces'>['purpose']>(
  nonce: string,
  purposes: readonly P[],
  ctx: EntityContext,
): P | undefined {
  const row = ctx.table('nonces').get(nonce);
  const purpose = purposes.find((one) => one === row?.purpose);
  if (row === undefined || purpose === undefined) return undefined;
  ctx.table('nonces').delete(nonce);
  return ctx.now < row.ends ? purpose : undefined;
}

/** A person has no key, and an agent that has ended proves nothing. */
export function requireProver({ kind, status }: EntityState): void {
  if (kind === 'person') refuse('agent_unknown');
  if (status !== 'registered' && status !== 'active') refuse('agent_not_active', { status });
}

/** Drops challenges that have ended; and the one that ends first, when there are too many. */
function makeRoom(nonces: Table<Row<'nonces'>>, now: number): void {
  const rows = nonces.range({ limit: IDENTITY_BOUNDS.nonces });
  for (const [nonce, { ends }] of rows) if (ends <= now) nonces.delete(nonce);
  if (nonces.size < IDENTITY_BOUNDS.nonces) return;
  const [first] = [...rows].sort(([, a], [, b]) => a.ends - b.ends);
  if (first !== undefined) nonces.delete(first[0]);
}
