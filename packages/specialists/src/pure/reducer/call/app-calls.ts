/** Calls of the app's own owner tools: the project passes them on to the app's cell, and the answers back (OWN-10). */
import type { OwnerCall } from '@reprise/agent/contracts';
import {
  answerCall,
  type PassedNews,
  passedFor,
  passedRefused,
  passOn,
  refusalAnswer,
  type WaitingCall,
} from '@reprise/org/contracts';
import type { Delivery } from '../project/delivery.js';
import { HINTS, Refused } from '../project/refused.js';

export function passToApp(delivery: Delivery, waiting: WaitingCall, call: OwnerCall): void {
  if (!passOn(delivery.ctx, delivery.state.calls, call, waiting))
    throw new Refused('unknown_tool', { name: call.name });
}

/** Passes an answer, or the news that a call waits, back: from the cell of the app only, and once. */
export function passBack(delivery: Delivery, news: PassedNews): void {
  const { to } = passedFor<WaitingCall>(delivery.ctx, news);
  delivery.ctx.send([to[0], to[1]], news);
}

/** The cell of the app did not take a call. */
export function appRefused(delivery: Delivery, tag: string): void {
  const open = passedRefused<WaitingCall>(delivery.ctx, tag);
  if (open !== undefined) answerCall(delivery.ctx, open, refusalAnswer(new Refused('unknown_tool'), HINTS));
}
