/** Ends a plan that the app no longer has, as its manifest says. */
import type { PlanAddress } from '@reprise/contracts';
import { decode } from '../../codec/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { notify } from '../frame/notify.js';
import { planKey } from '../leaf/leaf-key.js';
import type { PlanLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';
import { cancelPlan, ownerOf, updateCell } from '../ledger/settle.js';

/** Cancels a plan and notifies its cell, as for any failed plan: otherwise the cell would wait for ever. */
export function dismissPlan(fold: FrameFold, plan: PlanAddress): void {
  const bytes = fold.overlay.get(planKey(plan));
  if (bytes === undefined) {
    throw new Refusal('invalid_argument', 'a manifest cancels a plan that does not run', { where: plan.join('/') });
  }
  const { name } = decode(bytes) as unknown as PlanLeaf;
  cancelPlan(fold, plan, 0);
  updateCell(fold, ownerOf(plan), (cell) => {
    cell.plans = cell.plans.filter((ordinal) => ordinal !== plan[2]);
  });
  notify(fold, ownerOf(plan), 'sys/PlanFailed@1', { plan, name, code: 'plan_unknown' }, 0);
}
