/**
 * Challenges and proofs of an entity.
 *
 * Invariants
 * P1  A challenge is gone with the first proof that names it, whatever the verdict, and 60 s of stamps after it was drawn.
 * P2  A challenge for one purpose serves no other.
 */
import type { Value } from '@reprise/contracts';
import type { EventHandlers, ReducerContext, Table } from '@reprise/kernel/define';
import {
  type EntityState,
  IDENTITY_BOUNDS,
  type NonceRow,
  type Purpose,
  proofCalls,
  type proofNews,
} from '../contracts/index.js';
import { challengePlan, provePlan } from '../plans/identity.js';
import { answerCall } from './answers.js';
import { callOfPlan, startPlan } from './call-plans.js';
import { idOf } from './entity-context.js';
import { type Answer, type Operations, operation, refusal } from './operations.js';
import { timeOf } from './time.js';

/** The operations of the tools about proofs. */
export const proofOperations: Operations = {
  agent_challenge: operation(proofCalls.agent_challenge, {
    about: ({ agent_id }) => agent_id,
    run: (draft, { purpose }, call, ctx) => {
      const refused = refusedAs(draft);
      if (refused !== undefined) return refused;
      startPlan(ctx, call, challengePlan, { call, agent: idOf(ctx), purpose });
      return undefined;
    },
  }),
  agent_prove: operation(proofCalls.agent_prove, {
    about: ({ agent_id }) => agent_id,
    run: (draft, { nonce, signature }, call, ctx) => {
      const refused = refusedAs(draft);
      if (refused !== undefined) return refused;
      const purpose = takeNonce(nonce, ['api', 'node'], ctx);
      if (purpose === undefined) return refusal('challenge_expired');
      const public_key = draft.public_key ?? '';
      startPlan(ctx, call, provePlan, { call, agent: idOf(ctx), public_key, nonce, purpose, signature });
      return undefined;
    },
  }),
};

/** The handlers of the events of proofs. */
export const proofHandlers: EventHandlers<EntityState, typeof proofNews> = {
  'society/Challenged@1': (draft, outcome, ctx) => challenged(draft, callOfPlan(ctx), outcome, ctx),
  'society/Proved@1': (draft, outcome, ctx) => proved(draft, callOfPlan(ctx), outcome, ctx),
};

/** A challenge was drawn: it may be answered for a while. */
function challenged(
  draft: EntityState,
  call: string,
  { code, value }: { readonly code: string | null; readonly value: Value },
  ctx: ReducerContext,
): void {
  if (code !== null) return answerCall(draft, call, refusal('challenge_failed', { cause: code }), ctx);
  const { nonce, purpose } = value as unknown as { readonly nonce: string; readonly purpose: NonceRow['purpose'] };
  const ends = ctx.now + IDENTITY_BOUNDS.nonce_ms;
  makeRoom(noncesOf(ctx), ctx.now);
  noncesOf(ctx).set(nonce, { purpose, ends });
  answerCall(draft, call, { value: { nonce, expires_at: timeOf(ends) } }, ctx);
}

/** The verdict on a proof is there. One for `api` says until when a token of it may be used: a token itself is never recorded. */
function proved(
  draft: EntityState,
  call: string,
  { code, value }: { readonly code: string | null; readonly value: Value },
  ctx: ReducerContext,
): void {
  if (code !== null) return answerCall(draft, call, refusal('proof_failed', { cause: code }), ctx);
  const { refused, purpose } = value as unknown as { readonly refused: string | null; readonly purpose: Purpose };
  if (refused !== null) return answerCall(draft, call, refusal('signature_invalid', { cause: refused }), ctx);
  const expires_at = purpose === 'api' ? timeOf(ctx.now + IDENTITY_BOUNDS.token_ms) : null;
  answerCall(draft, call, { value: { verified: true, agent_id: idOf(ctx), expires_at } }, ctx);
}

/** Takes a challenge, which counts once. @returns its purpose; undefined when it has ended, or is for another purpose */
export function takeNonce<P extends NonceRow['purpose']>(
  nonce: string,
  purposes: readonly P[],
  ctx: ReducerContext,
): P | undefined {
  const row = noncesOf(ctx).get(nonce);
  const purpose = purposes.find((one) => one === row?.purpose);
  if (row === undefined || purpose === undefined) return undefined;
  noncesOf(ctx).delete(nonce);
  return ctx.now < row.ends ? purpose : undefined;
}

/** A person has no key, and an agent that has ended proves nothing. */
export function refusedAs({ kind, status }: EntityState): Answer | undefined {
  if (kind === 'person') return refusal('agent_unknown');
  return status === 'registered' || status === 'active' ? undefined : refusal('agent_not_active', { status });
}

/** Drops challenges that have ended; and the one that ends first, when there are too many. */
function makeRoom(nonces: Table<NonceRow>, now: number): void {
  const rows = nonces.range({ limit: IDENTITY_BOUNDS.nonces });
  for (const [nonce, { ends }] of rows) if (ends <= now) nonces.delete(nonce);
  if (nonces.size < IDENTITY_BOUNDS.nonces) return;
  const [first] = [...rows].sort(([, a], [, b]) => a.ends - b.ends);
  if (first !== undefined) nonces.delete(first[0]);
}

function noncesOf(ctx: ReducerContext): Table<NonceRow> {
  return ctx.table<NonceRow>('nonces');
}
