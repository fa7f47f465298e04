/** Calls of the app's own owner tools: an entity passes them on to the app's cell, after the gate's check, and the answers back (OWN-10). */

import type { OwnerAnswer, OwnerParked } from '@reprise/agent/contracts';
import type { EntityState, Row } from '../../contracts/index.js';
import type { EntityContext } from '../context/entity.js';
import { answerCall, callKey, failureOf, openCall } from './answers.js';
import { refusal } from './operations.js';
import { refusedTo } from './replies.js';

const OWNER_CALL = 'aos.agent/OwnerCall@1';

/** Passes a model's call on to the cell of the app. */
export function passToApp(
  draft: EntityState,
  call: string,
  { origin, name, args }: Row<'calls'>,
  ctx: EntityContext,
): void {
  const { app } = draft;
  const to = app === null ? undefined : ([app[0], app[1]] as const);
  if (to === undefined || origin.kind !== 'owner' || !ctx.takes([...to], OWNER_CALL))
    return answerCall(draft, call, refusal('unknown_tool', { name }), ctx);
  const { session, call_id, step_epoch } = origin;
  const value = { session, call_id, step_epoch, name, args };
  ctx.send([...to], { name: OWNER_CALL, value }, { ...refusedTo('app', call), failure: failureOf(call) });
}

/** Passes an answer of the app's cell back, once. */
export function answeredByApp(
  draft: EntityState,
  { session, call_id, step_epoch, ...reply }: OwnerAnswer,
  ctx: EntityContext,
): void {
  const call = callKey({ kind: 'owner', session, call_id, step_epoch }, ctx);
  if (openCall(call, ctx) === undefined) ctx.reject('no_call');
  answerCall(draft, call, reply, ctx);
}

/** Passes back that a call waits for a person or another agent. */
export function parkedByApp(parked: OwnerParked, ctx: EntityContext): void {
  const origin = openCall(callKey({ kind: 'owner', ...parked }, ctx), ctx)?.origin;
  if (origin?.kind !== 'owner') return ctx.reject('no_call');
  ctx.send([origin.to[0], origin.to[1]], { name: 'aos.agent/OwnerParked@1', value: parked });
}
