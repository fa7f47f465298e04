/** Plans of calls: which call each is for, while it is under way. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { EntityState } from '../contracts/index.js';
import { answerCall, openCall } from './answers.js';
import { planOf } from './caller.js';
import { tableOf } from './entity-context.js';
import { refusal } from './operations.js';

/** Emits a plan for a call: when the plan fails as a plan, the call is answered with that. */
export function startPlan<I>(
  ctx: ReducerContext,
  call: string,
  plan: Parameters<typeof ctx.emit<I>>[0]['plan'],
  input: I,
): void {
  const n = ctx.emit({ plan, input });
  tableOf(ctx, 'plans').set(String(n).padStart(12, '0'), call);
}

/** The call that the plan of this event is for; the plan is over. */
export function callOfPlan(ctx: ReducerContext): string {
  const plans = tableOf(ctx, 'plans');
  const key = String(planOf(ctx)).padStart(12, '0');
  const call = plans.get(key) ?? ctx.reject('no_call');
  plans.delete(key);
  return call;
}

/** A plan of a call failed as a plan. @returns what a plan that was for no call was for */
export function planOfCallFailed(
  draft: EntityState,
  plan: number,
  code: string,
  ctx: ReducerContext,
): string | undefined {
  const plans = tableOf(ctx, 'plans');
  const key = String(plan).padStart(12, '0');
  const call = plans.get(key);
  if (call === undefined) return undefined;
  plans.delete(key);
  if (openCall(call, ctx) === undefined) return call;
  answerCall(draft, call, refusal('plan_failed', { cause: code }), ctx);
  return undefined;
}
