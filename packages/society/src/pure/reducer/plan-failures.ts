/** A plan of an entity failed as a plan: what waited for it goes on without. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { EntityState } from '../contracts/index.js';
import { planOfCallFailed } from './call-plans.js';
import { clearingFailed } from './clearing.js';
import { stagingPlanFailed } from './reviews.js';
import { seeingFailed } from './seeing.js';

/** Follows the failure of a plan, by its number. */
export function planFailed(draft: EntityState, plan: number, code: string, ctx: ReducerContext): void {
  const other = planOfCallFailed(draft, plan, code, ctx);
  if (other === undefined || seeingFailed(other, code, ctx) || clearingFailed(draft, other, ctx)) return;
  stagingPlanFailed(draft, other, code, ctx);
}
