/** Calls of the app's own owner tools: an entity passes them on to the app's cell, after the gate's check, and the answers back (OWN-10). */

import { ownerAnswer, ownerParked } from '@reprise/agent/contracts';
import { by, from } from '@reprise/kernel/define';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { Row } from '../../contracts/entity-parts.js';
import type { EntityContext, EntityHandlers } from '../context/entity.js';
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
  const { app: to } = draft;
  if (to === null || origin.kind !== 'owner' || !ctx.takes(to, OWNER_CALL))
    return answerCall(draft, call, refusal('unknown_tool', { name }), ctx);
  const { session, call_id, step_epoch } = origin;
  const value = { session, call_id, step_epoch, name, args };
  ctx.send(to, { name: OWNER_CALL, value }, { ...refusedTo('app', call), failure: failureOf(call) });
}

/** The cell of the app that answers its own owner tools. */
const app = by.cell({ state: 'app' });

/** What the cell of the app says of calls that it was passed. */
export const appEvents = {
  'aos.agent/OwnerAnswer@1': from(ownerAnswer, app),
  'aos.agent/OwnerParked@1': from(ownerParked, app),
} as const;

export const appHandlers: EntityHandlers<typeof appEvents> = {
  'aos.agent/OwnerAnswer@1': (draft, { session, call_id, step_epoch, ...reply }, ctx) => {
    const call = callKey(['owner', session, call_id, step_epoch], ctx);
    if (openCall(call, ctx) === undefined) ctx.reject('no_call');
    answerCall(draft, call, reply, ctx);
  },
  'aos.agent/OwnerParked@1': (_draft, { session, call_id, step_epoch }, ctx) => {
    if (!passParked(callKey(['owner', session, call_id, step_epoch], ctx), ctx)) ctx.reject('no_call');
  },
};

/** Passes on that a call waits for a person or another agent. @returns whether a model made it */
export function passParked(call: string, ctx: EntityContext): boolean {
  const origin = openCall(call, ctx)?.origin;
  if (origin?.kind !== 'owner') return false;
  const { to, session, call_id, step_epoch } = origin;
  ctx.send(to, { name: 'aos.agent/OwnerParked@1', value: { session, call_id, step_epoch } });
  return true;
}
