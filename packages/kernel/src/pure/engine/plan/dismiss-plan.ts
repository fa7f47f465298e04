/** Ends a plan that the app no longer has, as its manifest says. */
import type { PlanAddress } from '@reprise/contracts';
import type { FrameFold } from '../frame/frame-fold.js';
import { notify } from '../frame/notify.js';
import { planKey } from '../leaf/leaf-key.js';
import { Refusal } from '../leaf/signals.js';
import { cancelPlan, forgetPlan, ownerOf } from '../ledger/settle.js';

/** Cancels a plan and notifies its cell, as for any failed plan: otherwise the cell would wait for ever. */
export function dismissPlan(fold: FrameFold, plan: PlanAddress): void {
  const leaf = fold.overlay.get(planKey(plan));
  if (leaf === undefined) {
    throw new Refusal('invalid_argument', 'a manifest cancels a plan that does not run', { where: plan.join('/') });
  }
  cancelPlan(fold, plan, 0);
  forgetPlan(fold, plan);
  notify(fold, ownerOf(plan), 'sys/PlanFailed@1', { plan, name: leaf.name, code: 'plan_unknown' }, 0);
}
