/** What the plans of a cell are for, while they are under way: an entry of a table for each. */
import { type Actor, requireMethods } from '@reprise/contracts';
import type { Intent, ReducerContext, Table } from '@reprise/kernel/define';
import { key } from './keys.js';

/** Starts a plan, and remembers what it is for. @returns its number */
export function startFor<I, P>(
  ctx: Pick<ReducerContext, 'emit'>,
  plans: Table<P>,
  intent: Intent<I>,
  purpose: P,
): number {
  requireMethods(ctx, ['emit'], 'startFor(ctx)', 'the ctx of a reducer');
  const plan = ctx.emit(intent);
  plans.set(key(plan), purpose);
  return plan;
}

/** What a plan is for; undefined when the cell remembers nothing of it. */
export function purposeOf<P>(plans: Table<P>, plan: number): P | undefined {
  return plans.get(key(plan));
}

/** What a plan was for: it is over. @returns undefined when the cell remembers nothing of it */
export function takePurpose<P>(plans: Table<P>, plan: number): P | undefined {
  requireMethods(plans, ['get', 'delete'], 'takePurpose(plans)', 'a table of the cell');
  const purpose = purposeOf(plans, plan);
  if (purpose !== undefined) plans.delete(key(plan));
  return purpose;
}

/** Cancels a plan, and forgets what it was for. @param plan null where none is under way */
export function cancelFor<P>(
  ctx: Pick<ReducerContext, 'cancel'>,
  plans: Table<P>,
  plan: number | null,
  options: { readonly actor?: Actor } = {},
): void {
  if (plan === null) return;
  plans.delete(key(plan));
  ctx.cancel(plan, options);
}

/** The number of the plan that raises this event: for events that only plans of the cell may send. */
export function ownPlan({ plan, reject }: Pick<ReducerContext, 'plan' | 'reject'>): number {
  return plan ?? reject('not_yours');
}
