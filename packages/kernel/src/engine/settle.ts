/** The ledger of open effects: settling, cancelling and ending. Nothing here runs authors' code. */
import type { Address, FaultCode, PlanAddress, Receipt } from '@reprise/contracts';
import { encodeLeaf, type FrameFold } from './frame-fold.js';
import { cellKey, effectKey, planKey, timerKey } from './leaf-key.js';
import type { CellLeaf, EffectLeaf, PlanLeaf } from './leaves.js';
import { LEAF_BYTES_MAX } from './limits.js';
import { notify } from './notify.js';

/** The name of the timer behind an await's deadline. */
export const AWAIT_TIMER = 'await';

/** The cell that owns a plan. */
export function ownerOf(plan: PlanAddress): Address {
  return [plan[0], plan[1]];
}

/**
 * Settles an effect: it leaves the ledger, and its plan, if it still runs, finds the receipt in its inbox.
 *
 * @param cause the index of the record that settles it
 */
export function settleEffect(fold: FrameFold, id: string, effect: EffectLeaf, receipt: Receipt, cause: number): void {
  fold.overlay.set(effectKey(id), undefined);
  const key = planKey(effect.plan);
  const bytes = fold.overlay.get(key);
  if (bytes === undefined) return; // the plan ended: the effect was detached
  const plan = fold.take<PlanLeaf>(bytes);
  if (!plan.open.some(([, open]) => open === id)) return; // another plan's place: the effect was detached as well
  plan.open = plan.open.filter(([, open]) => open !== id);
  plan.inbox.push([effect.emission, receipt]);
  const next = encodeLeaf(plan);
  if (next.length > LEAF_BYTES_MAX) {
    fold.push({ kind: 'fault', c: cause, target: effect.plan, code: 'plan_too_large' });
    endPlan(fold, effect.plan, plan, { status: 'error', code: 'plan_too_large' }, cause);
    return;
  }
  fold.overlay.set(key, next);
  keepGenerator(fold, bytes, next);
  fold.enqueue({ kind: 'plan', plan: effect.plan, cause });
}

/** A plan's leaf got new bytes without the plan running: its generator stays valid. */
export function keepGenerator(fold: FrameFold, from: Uint8Array, to: Uint8Array): void {
  const live = fold.env.caches?.plans.get(from);
  if (live === undefined) return;
  fold.env.caches?.plans.delete(from);
  fold.env.caches?.plans.set(to, live);
}

/** How a plan ends. */
export interface PlanEnding {
  readonly status: 'ok' | 'error' | 'cancelled';
  readonly code: FaultCode | null;
}

/** Ends a plan: its leaf goes, its open effects are detached, its cell forgets it and learns of an error. */
export function endPlan(fold: FrameFold, plan: PlanAddress, leaf: PlanLeaf, ending: PlanEnding, cause: number): void {
  dropPlan(fold, plan, leaf, ending, cause);
  updateCell(fold, ownerOf(plan), (cell) => {
    cell.plans = cell.plans.filter((ordinal) => ordinal !== plan[2]);
  });
  if (ending.code === null) return;
  notify(fold, ownerOf(plan), 'sys/PlanFailed@1', { plan, name: leaf.name, code: ending.code }, cause);
}

/**
 * Cancels a plan. Its generator is dropped (`finally` blocks do not run: they could emit), effects that are not
 * armed are settled as cancelled, running ones are told to stop and stay open until their own receipt.
 * The caller takes the ordinal off the cell.
 */
export function cancelPlan(fold: FrameFold, plan: PlanAddress, cause: number): void {
  const bytes = fold.overlay.get(planKey(plan));
  if (bytes === undefined) return;
  const leaf = fold.take<PlanLeaf>(bytes);
  dropPlan(fold, plan, leaf, { status: 'cancelled', code: null }, cause);
  for (const [, id] of leaf.open) cancelEffect(fold, id, cause);
}

/** Cancels one effect. @returns the receipt when it was settled at once, undefined when it runs and was told to stop */
export function cancelEffect(fold: FrameFold, id: string, cause: number): EffectLeaf | undefined {
  const bytes = fold.overlay.get(effectKey(id));
  if (bytes === undefined) return undefined;
  const effect = fold.take<EffectLeaf>(bytes);
  if (effect.attempt > 0) {
    effect.cancelled = true;
    fold.write(effectKey(id), effect);
    fold.aborts.push(id);
    return undefined;
  }
  fold.overlay.set(effectKey(id), undefined);
  fold.push({ kind: 'settled', c: cause, effect: id, status: 'cancelled', code: null, by: 'cancel' });
  return effect;
}

/** Changes a cell's bookkeeping outside a delivery. */
export function updateCell(fold: FrameFold, address: Address, change: (cell: CellLeaf) => void): void {
  const bytes = fold.overlay.get(cellKey(address));
  if (bytes === undefined) return;
  const cell = fold.take<CellLeaf>(bytes);
  change(cell);
  fold.write(cellKey(address), cell);
}

function dropPlan(fold: FrameFold, plan: PlanAddress, leaf: PlanLeaf, ending: PlanEnding, cause: number): void {
  fold.overlay.set(planKey(plan), undefined);
  dropAwaitTimer(fold, plan, leaf);
  fold.push({ kind: 'plan_ended', c: cause, plan, status: ending.status, code: ending.code });
}

/** Removes the timer behind a plan's await, when it has one. */
export function dropAwaitTimer(fold: FrameFold, plan: PlanAddress, leaf: PlanLeaf): void {
  if (leaf.wait === null || leaf.wait.for === 'peek' || leaf.wait.until === null) return;
  fold.overlay.set(timerKey(leaf.wait.until, ownerOf(plan), plan[2], AWAIT_TIMER), undefined);
}
