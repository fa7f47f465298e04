/** Answers to calls: to the cell that passed the call on, for the session that made it. */
import type { Ref, Value } from '@reprise/contracts';
import type { WaitingCall } from '../contracts/index.js';
import type { Delivery } from './delivery.js';
import { HINTS, type Refused } from './refused.js';

/** What a call is answered with besides its value. */
interface Rest {
  readonly refs?: readonly { readonly label: string; readonly ref: Ref }[];
  readonly isError?: boolean;
}

/** Answers a call. */
export function answerCall({ ctx }: Pick<Delivery, 'ctx'>, call: WaitingCall, value: Value, rest: Rest = {}): void {
  const { to, session, call_id, step_epoch } = call;
  const { refs = [], isError = false } = rest;
  const answer = { session, call_id, step_epoch, value, refs: [...refs], is_error: isError };
  ctx.send([to[0], to[1]], { name: 'aos.agent/OwnerAnswer@1', value: answer });
}

/** Answers a call with the reason why it was refused. */
export function refuseCall(delivery: Pick<Delivery, 'ctx'>, call: WaitingCall, { code, details }: Refused): void {
  answerCall(delivery, call, { code, ...details, hint: HINTS[code] ?? '' }, { isError: true });
}
