/** Calls of the agents that an organization owns: parsed once, and answered once, at once or later. */
import { address, problemsOf, type Ref, requireFields, requireMethods, type Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import { type Hints, Refused, refusalBy } from './refusal.js';

/** The place of a call: its session, its id, and the step whose answer requested it. */
export const callPlace = z.strictObject({
  session: z.string().max(256),
  call_id: z.string().max(128),
  step_epoch: z.int().min(0),
});

/** The place of a call. */
export type CallPlace = z.infer<typeof callPlace>;

/** A call that waits for its answer: what an organization remembers of it. */
export const waitingCall = z.strictObject({
  /** The cell that passed the call on: the session that made it, or the job of that session. */
  to: address,
  ...callPlace.shape,
});

/** A call that waits for its answer. */
export type WaitingCall = z.infer<typeof waitingCall>;

/** What a call is answered with. */
export interface CallAnswer {
  readonly value: Value;
  /** Content that a model is shown in part, and a client reads by its link. */
  readonly refs?: readonly { readonly label: string; readonly ref: Ref }[];
  readonly is_error?: boolean;
}

/** The call of this event, to be answered now or later. Only a cell makes calls: the event declares which. */
export function waitingCallOf(
  { session, call_id, step_epoch }: CallPlace,
  { caller, reject }: Pick<ReducerContext, 'caller' | 'reject'>,
): WaitingCall {
  const to = caller ?? reject('not_yours');
  return { to: [...to], session, call_id, step_epoch };
}

/** Answers a call: the cell that passed it on gives the answer to the session that made it. */
export function answerCall(ctx: Pick<ReducerContext, 'send'>, call: WaitingCall, said: CallAnswer): void {
  requireMethods(ctx, ['send'], 'answerCall(ctx)', 'the ctx of a reducer');
  requireFields(call, 'answerCall(call)', 'a call that waits');
  requireFields(said, 'answerCall(said)', 'an object with a value');
  const { to, session, call_id, step_epoch } = call;
  const { value, refs = [], is_error = false } = said;
  const answer = { session, call_id, step_epoch, value, refs: [...refs], is_error };
  ctx.send([to[0], to[1]], { name: 'aos.agent/OwnerAnswer@1', value: answer });
}

/** A refusal as the answer to a call: its code, what it says besides, and what the model can do about it. */
export function refusalAnswer({ code, details }: Refused, hints: Hints): CallAnswer {
  return { value: { code, ...details, hint: hints[code] ?? '' }, is_error: true };
}

/**
 * Has a call answered: with what `act` returns, later when that is undefined, or with the refusal that `act` throws.
 *
 * @param call the call of this event, or one that was remembered
 * @param hints what a model can do about each refusal, by its code
 * @example answering(ctx, event.value, HINTS, () => ({ value: { found: find(event.value.args) } }))
 */
export function answering(
  ctx: Pick<ReducerContext, 'caller' | 'reject' | 'send'>,
  call: CallPlace | WaitingCall,
  hints: Hints,
  act: () => CallAnswer | undefined,
): void {
  requireMethods(ctx, ['send'], 'answering(ctx)', 'the ctx of a reducer');
  requireFields(call, 'answering(call)', 'the value of aos.agent/OwnerCall@1, or a call that waits');
  const waiting = 'to' in call ? call : waitingCallOf(call, ctx);
  const refused = refusalBy(() => {
    const answer = act();
    if (answer !== undefined) answerCall(ctx, waiting, answer);
  });
  if (refused !== undefined) answerCall(ctx, waiting, refusalAnswer(refused, hints));
}

/**
 * Says that a call waits for a person or another agent: its run counts as waiting, and its time limit stands still.
 *
 * @returns the call, to be answered later by {@link answerCall}
 */
export function parkCall(ctx: Pick<ReducerContext, 'caller' | 'reject' | 'send'>, place: CallPlace): WaitingCall {
  requireMethods(ctx, ['send'], 'parkCall(ctx)', 'the ctx of a reducer');
  requireFields(place, 'parkCall(place)', 'the value of aos.agent/OwnerCall@1');
  const { to, ...call } = waitingCallOf(place, ctx);
  ctx.send([to[0], to[1]], { name: 'aos.agent/OwnerParked@1', value: call });
  return { to, ...call };
}

/** The arguments of a call, as a schema. */
export interface ArgumentSchema<A> {
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: A }
    | { readonly success: false; readonly error: { readonly issues: Parameters<typeof problemsOf>[0] } };
}

/** The arguments of a call by their schema. @throws Refused `invalid_arguments` with each problem */
export function parsedCall<A>(schema: ArgumentSchema<A>, args: Value): A {
  requireMethods(schema, ['safeParse'], 'parsedCall(schema)', 'the schema of the arguments');
  const checked = schema.safeParse(args);
  if (checked.success) return checked.data;
  throw new Refused('invalid_arguments', { problems: [...problemsOf(checked.error.issues)] });
}
