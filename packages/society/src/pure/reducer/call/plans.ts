/** Plans of an entity: what each is for, while it is under way. */
import type { Intent } from '@reprise/kernel/define';
import { ownPlan, startFor, takePurpose } from '@reprise/org/contracts';
import type { Row } from '../../contracts/index.js';
import type { EntityContext } from '../context/entity.js';

/** Starts a plan for a call, which waits: when it fails as a plan, the call is answered with that. */
export function startForCall<I>(ctx: EntityContext, call: string, plan: Intent<I>['plan'], input: I): undefined {
  startPlan(ctx, { for: 'call', call }, { plan, input });
}

export function startPlan<I>(ctx: EntityContext, purpose: Row<'plans'>, intent: Intent<I>): void {
  startFor(ctx, ctx.table('plans'), intent, purpose);
}

/** What the plan that raises this event is for: it is over. */
export function planOver(ctx: EntityContext): Row<'plans'> {
  return takePurpose(ctx.table('plans'), ownPlan(ctx)) ?? ctx.reject('no_call');
}

/** The call that the plan of this event is for: the plan is over. */
export function callOfPlan(ctx: EntityContext): string {
  const purpose = planOver(ctx);
  return purpose.for === 'call' ? purpose.call : ctx.reject('no_call');
}
