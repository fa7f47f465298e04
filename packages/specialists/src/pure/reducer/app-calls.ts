/** Calls of the app's own owner tools: the project passes them on to the app's cell, and the answers back (OWN-10). */
import type { OwnerAnswer, OwnerCall, OwnerParked } from '@reprise/agent/contracts';
import type { Table } from '@reprise/kernel/define';
import type { WaitingCall } from '../contracts/index.js';
import { refuseCall } from './answers.js';
import { type Delivery, tableOf } from './delivery.js';
import { Refused } from './refused.js';

/** Begins the tag of a call that was passed on, whose refusal comes back with it. */
export const PASSED_TAG = 'call.';

const OWNER_CALL = 'aos.agent/OwnerCall@1';

/** Passes a call on to the cell of the app. */
export function passToApp(delivery: Delivery, waiting: WaitingCall, call: OwnerCall): void {
  const { ctx } = delivery;
  const calls = tableOf(delivery, 'team').get('team')?.calls ?? null;
  if (calls === null || !ctx.takes(calls, OWNER_CALL)) throw new Refused('unknown_tool', { name: call.name });
  const at = keyOf(call, ctx);
  passedOf(ctx).set(at, waiting);
  ctx.send(calls, { name: OWNER_CALL, value: call }, { reply: 'refusal', tag: `${PASSED_TAG}${at}` });
}

/** Passes an answer, or the news that a call waits, back: from the cell of the app only, and once. */
export function passBack(
  delivery: Delivery,
  event: { readonly name: string; readonly value: OwnerAnswer | OwnerParked },
): void {
  const { ctx } = delivery;
  const calls = tableOf(delivery, 'team').get('team')?.calls ?? null;
  const { sender } = ctx;
  if (calls === null || sender === null || sender[0] !== calls[0] || sender[1] !== calls[1])
    ctx.reject('not_the_owner');
  const at = keyOf(event.value, ctx);
  const open = passedOf(ctx).get(at);
  if (open === undefined || open.step_epoch !== event.value.step_epoch) return ctx.reject('no_call');
  if (event.name === 'aos.agent/OwnerAnswer@1') passedOf(ctx).delete(at);
  ctx.send([open.to[0], open.to[1]], event);
}

/** The cell of the app did not take a call. */
export function appRefused(delivery: Delivery, tag: string): void {
  const at = tag.slice(PASSED_TAG.length);
  const open = passedOf(delivery.ctx).get(at);
  if (open === undefined) return;
  passedOf(delivery.ctx).delete(at);
  refuseCall(delivery, open, new Refused('unknown_tool'));
}

/** A model may choose long ids of many bytes, and a key is bounded: so it names a call by the digest of its id. */
function keyOf({ session, call_id }: Pick<OwnerCall, 'session' | 'call_id'>, ctx: Delivery['ctx']): string {
  return `${session} ${ctx.hash(call_id).slice(0, 32)}`;
}

function passedOf(ctx: Delivery['ctx']): Table<WaitingCall> {
  return ctx.table('passed');
}
