/** Plans of this entity that gave no result: they failed as plans, or ended when its cell failed. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { EntityState } from '../contracts/index.js';
import { planOfCallFailed } from './call-plans.js';
import { clearingFailed } from './clearing.js';
import { tableOf } from './entity-context.js';
import { isReviewing, resumeReview, stagingPlanFailed } from './reviews.js';
import { seeingFailed } from './seeing.js';
import { entriesOf } from './table-rows.js';

/** A plan of this entity failed as a plan. */
export function planFailed(draft: EntityState, plan: number, code: string, ctx: ReducerContext): void {
  const other = planOfCallFailed(draft, plan, code, ctx);
  if (other === undefined || seeingFailed(other, code, ctx) || clearingFailed(draft, other, ctx)) return;
  stagingPlanFailed(draft, other, code, ctx);
}

/** All plans of this entity ended with its cell. The items of a review are written once each, so a review goes on. */
export function plansLost(draft: EntityState, ctx: ReducerContext): void {
  const plans = tableOf(ctx, 'plans');
  for (const [key, purpose] of entriesOf(plans)) {
    if (!isReviewing(purpose, ctx)) {
      planFailed(draft, Number(key), 'cell_failed', ctx);
      continue;
    }
    plans.delete(key);
    resumeReview(draft, purpose, ctx);
  }
}
