/**
 * The ledger of open effects: settling, cancelling and ending. Nothing here runs authors' code.
 *
 * Invariants
 * G1  An effect is settled once: first wins. What comes later is a `late` record, which changes what was spent.
 * G2  An armed effect that is settled without its adapter stays in the ledger, as `late`, until its adapter has
 *     answered or cannot any more: the real outcome is never lost.
 */
import {
  type Actor,
  type Address,
  type DerivedOf,
  type FaultCode,
  type PlanAddress,
  type Principal,
  present,
  type Receipt,
} from '@reprise/contracts';
import type { FrameFold } from '../frame/frame-fold.js';
import { notify, tellOwner } from '../frame/notify.js';
import { dropWake, wakeWhenDue } from '../frame/wake.js';
import { CANCEL_GRACE_MS, LEAF_BYTES_MAX, SETTLED_BYTES } from '../leaf/bounds.js';
import { cellKey, effectKey, planKey, settledKey, timerKey } from '../leaf/leaf-key.js';
import type {
  CellLeaf,
  DecidedBy,
  EffectLeaf,
  EmissionPlace,
  KeyedLeaf,
  PlanLeaf,
  SettledLeaf,
} from '../leaf/leaves.js';
import { bookLate, bookReceipt } from './accounts.js';
import { planBytes } from './plan-bytes.js';

/** The name of the timer behind an await's deadline. */
export const AWAIT_TIMER = 'await';

/** The cell that owns a plan. */
export function ownerOf(plan: PlanAddress): Address {
  return [plan[0], plan[1]];
}

/** The effect's leaf; undefined when it is not open, or only its late answer is missing. */
export function openEffect(fold: FrameFold, id: string): EffectLeaf | undefined {
  const effect = fold.overlay.get(effectKey(id));
  return effect?.late === undefined ? effect : undefined;
}

/** The selected open effects, in the order in which they were emitted. */
export function openEffects(fold: FrameFold, isMeant: (effect: EffectLeaf) => boolean): readonly OpenEffect[] {
  return asEmitted(fold.overlay.list('effect').filter(({ leaf }) => isMeant(leaf)));
}

/** Those of some effects that are open, in the order in which they were emitted: the order of leaves is not journaled. */
function asEmitted(effects: readonly KeyedLeaf<EffectLeaf>[]): readonly OpenEffect[] {
  const open = effects.filter(({ leaf }) => leaf.late === undefined);
  return open
    .map(({ key, leaf }) => ({ id: String(key.path[1]), leaf }))
    .sort((a, b) => comparePlaces(a.leaf.queued, b.leaf.queued));
}

export interface OpenEffect {
  readonly id: string;
  readonly leaf: EffectLeaf;
}

/** Orders emissions by their delivery, then by their place in it. */
export function comparePlaces(a: EmissionPlace, b: EmissionPlace): number {
  return a[0] - b[0] || a[1] - b[1];
}

/**
 * Settles effects that wait for a cell that ends or fails: a cell made anew at the address knows nothing of them, and one
 * that is revived may have lost them with the fault.
 *
 * @returns how many
 */
export function abandonBySettler(
  fold: FrameFold,
  cell: Address,
  why: 'no_settler' | 'cell_failed',
  cause: number,
): number {
  const [reducer, key] = cell;
  const isMeant = ({ leaf: { settler } }: KeyedLeaf<EffectLeaf>) => settler?.[0] === reducer && settler[1] === key;
  const open = asEmitted(fold.overlay.naming('effect', cell).filter(isMeant));
  for (const { id } of open) {
    const effect = openEffect(fold, id);
    if (effect === undefined) continue;
    const receipt: Receipt = { ...withoutSettler(why), attempts: effect.attempt };
    const apart = why === 'cell_failed' || effect.queued[0] < fold.began;
    settleInFrame(fold, id, effect, { by: 'cell', receipt, apart }, cause);
  }
  return open.length;
}

/** Settles an effect that a cell was to settle, when that cell does not exist, has ended, or has failed. */
export function withoutSettler(why: 'no_settler' | 'cell_failed'): Omit<Receipt, 'attempts'> {
  const code = why === 'no_settler' ? 'adapter_error/no_settler' : 'adapter_error/cell_failed';
  return { adapter: 'kernel', status: 'error', code, retryable: false };
}

/** Whether its adapter is at work, or was when the process stopped. */
export function isUnderWay(effect: EffectLeaf): boolean {
  return effect.attempt > 0 && effect.deferred === undefined;
}

/**
 * Whether a cancel can only tell it to stop, since it may have an outcome: its adapter is at work or, in a dry fork, the
 * original's was. An effect emitted in this frame is not under way anywhere.
 */
export function mayHaveOutcome(fold: FrameFold, effect: EffectLeaf): boolean {
  if (isUnderWay(effect)) return true;
  const answered = effect.origins !== undefined && effect.approval === undefined && effect.deferred === undefined;
  return answered && effect.queued[0] !== fold.ingress.seq;
}

/** How an effect is settled inside a frame, without its adapter. */
interface InFrame {
  readonly by: DerivedOf<'settled'>['by'];
  readonly receipt: Receipt;
  /** No attempt of it can be running any more, whatever its number says. */
  readonly over?: true;
  /** Its plan continues in a cascade of its own. */
  readonly apart?: boolean;
}

/** The details of a settlement. */
interface SettledBy {
  readonly receipt: Receipt;
  /** The index of the record that says so. */
  readonly cause: number;
  /** Its adapter may still answer. */
  readonly unanswered: boolean;
  /** Its plan continues in a cascade of its own. */
  readonly apart?: boolean;
}

/** Settles an effect inside a frame: a record is written, and a running adapter is told to stop. */
export function settleInFrame(
  fold: FrameFold,
  id: string,
  effect: EffectLeaf,
  { by, receipt, over, apart = false }: InFrame,
  c: number,
): void {
  const { status, code = null } = receipt;
  const cause = fold.push({ kind: 'settled', c, effect: id, status, code, by });
  fold.weigh(SETTLED_BYTES);
  const unanswered = over === undefined && isUnderWay(effect);
  if (unanswered) fold.aborts.push(id);
  settleEffect(fold, id, effect, { receipt, cause, unanswered, apart });
}

/** Settles an effect: it leaves the ledger, and its plan, if it still runs, finds the receipt in its inbox. */
export function settleEffect(fold: FrameFold, id: string, effect: EffectLeaf, settlement: SettledBy): void {
  const { receipt, cause, unanswered } = settlement;
  closeEffect(fold, id, effect, receipt, unanswered);
  const key = planKey(effect.plan);
  const plan = fold.overlay.get(key);
  if (plan === undefined) return; // the plan ended: the effect was detached
  if (!plan.open.some(([, open]) => open === id)) return; // another plan's place: the effect was detached as well
  const open = plan.open.filter(([, open]) => open !== id);
  const next: PlanLeaf = { ...plan, open, inbox: [...plan.inbox, [effect.emission, receipt]] };
  if (planBytes(next) > LEAF_BYTES_MAX) {
    fold.push({ kind: 'fault', c: cause, target: effect.plan, code: 'plan_too_large' });
    endPlan(fold, effect.plan, next, { status: 'error', code: 'plan_too_large' }, cause);
    return;
  }
  fold.overlay.set(key, next);
  keepGenerator(fold, plan, next);
  const woken = { kind: 'plan', plan: effect.plan, cause } as const;
  if (settlement.apart === true) fold.enqueueApart(woken);
  else fold.enqueue(woken);
}

/** Takes an effect off the ledger, or leaves there a late entry for its adapter's answer. */
export function closeEffect(
  fold: FrameFold,
  id: string,
  effect: EffectLeaf,
  receipt: Receipt,
  unanswered: boolean,
): void {
  const { status } = receipt;
  fold.settled.push({ effect: id, leaf: effect, receipt });
  dropWake(fold, id, effect);
  const booked = bookReceipt(fold, effect, receipt);
  // Known when the adapter will report it, or the settlement did.
  const known = unanswered || booked === undefined || receipt.usage !== undefined;
  const remains = remainsOf(fold.at, effect, receipt);
  // Once for each effect: it cannot be there, so it is not looked for.
  if (remains !== undefined) fold.overlay.add(settledKey(id), known ? remains : { ...remains, owed: booked });
  if (!unanswered) return fold.overlay.set(effectKey(id), undefined);
  const late = { status, ...booked };
  const { asks: _asked, reserved: _reserved, cancelled: _told, ...rest } = effect;
  fold.overlay.set(effectKey(id), { ...rest, late });
}

/** What remains of an effect whose id others than the world's own adapters know: a late decision must get an answer. */
function remainsOf(at: number, effect: EffectLeaf, { status, by, actor }: Receipt): SettledLeaf | undefined {
  const { name, approval, approved, deferred, settler, asks = [] } = effect;
  const waited = approval !== undefined || approved !== undefined || deferred !== undefined;
  if (!waited && asks.length === 0) return undefined;
  const answers = asks.flatMap(({ n, to, answer }) =>
    answer === undefined || 'expired' in answer ? [] : [{ n, to, ...decidedBy(answer) }],
  );
  return present({
    name,
    status,
    at,
    to: deferred?.to ?? approval?.to ?? approved?.to ?? null,
    settler,
    approved: approved === undefined ? undefined : decidedBy(approved),
    decided: by === undefined ? undefined : decidedBy({ by: by as Principal, actor }),
    asked: waited ? undefined : (true as const),
    answers: answers.length === 0 ? undefined : answers,
  });
}

/** Who decided, without what else stands beside it. */
export function decidedBy({ by, actor }: { readonly by: Principal; readonly actor?: Actor | undefined }): DecidedBy {
  return actor === undefined ? { by } : { by, actor };
}

/** Takes in the late answer of an adapter whose effect is settled. */
export function takeLate(fold: FrameFold, id: string, effect: EffectLeaf, receipt: Receipt): void {
  const settled = effect.late?.status ?? receipt.status;
  const cause = fold.push({ kind: 'late', c: 0, effect: id, status: receipt.status, settled });
  bookLate(fold, effect.late ?? {}, receipt.usage);
  fold.overlay.set(effectKey(id), undefined);
  const { name, plan, params } = effect;
  const { status, payload, usage } = receipt;
  const said = {
    ...{ effect: id, name, plan: [...plan], params, settled, status },
    ...(payload === undefined ? {} : { payload }),
    ...(usage === undefined ? {} : { usage: { ...usage } }),
  };
  tellOwner(fold, plan, 'sys/EffectLate@1', said, cause);
}

/** A plan's leaf was replaced without the plan running: its generator stays valid. */
function keepGenerator(fold: FrameFold, from: PlanLeaf, to: PlanLeaf): void {
  const live = fold.env.plans?.get(from);
  if (live === undefined) return;
  fold.env.plans?.delete(from);
  fold.env.plans?.set(to, live);
}

/** The result of a plan. */
interface PlanEnding {
  readonly status: 'ok' | 'error' | 'cancelled';
  readonly code: FaultCode | null;
}

/** Ends a plan: its leaf is removed, its open effects are detached, its cell forgets it and gets a notice of an error. */
export function endPlan(fold: FrameFold, plan: PlanAddress, leaf: PlanLeaf, ending: PlanEnding, cause: number): void {
  dropPlan(fold, plan, leaf, ending, cause);
  forgetPlan(fold, plan);
  if (ending.code === null) return;
  notify(fold, ownerOf(plan), 'sys/PlanFailed@1', { plan, name: leaf.name, code: ending.code }, cause);
}

/**
 * Cancels a plan. Its generator is dropped (`finally` blocks do not run: they could emit), effects that are not
 * under way are settled as cancelled, running ones are told to stop and have their grace.
 * The caller takes the ordinal off the cell.
 */
export function cancelPlan(fold: FrameFold, plan: PlanAddress, cause: number, who?: DecidedBy): void {
  const leaf = fold.overlay.get(planKey(plan));
  if (leaf === undefined) return;
  dropPlan(fold, plan, leaf, { status: 'cancelled', code: null }, cause);
  for (const [, id] of leaf.open) cancelEffect(fold, id, cause, { who });
}

/**
 * Stops the open effects of a plan while the plan lives: those not under way are settled as cancelled, running
 * ones are told to stop and have their grace; the plan gets the receipt of each. A plan that was started in this very
 * frame and has not run yet starts no effect.
 */
export function stopPlan(fold: FrameFold, plan: PlanAddress, cause: number, graceMs: number): void {
  const leaf = fold.overlay.get(planKey(plan));
  if (leaf === undefined) return;
  if (leaf.started === null) fold.overlay.set(planKey(plan), { ...leaf, stopped: true });
  for (const [, id] of leaf.open) {
    const effect = openEffect(fold, id);
    if (effect === undefined) continue;
    const receipt: Receipt = { adapter: 'kernel', status: 'cancelled', attempts: effect.attempt };
    if (mayHaveOutcome(fold, effect)) tellToStop(fold, id, effect, graceMs);
    else settleInFrame(fold, id, effect, { by: 'cancel', receipt }, cause);
  }
}

/**
 * Cancels one effect. A running one is told to stop, and settled when its grace is over without an answer.
 *
 * @returns its receipt when it was settled at once; the caller passes it to the plan
 */
export function cancelEffect(
  fold: FrameFold,
  id: string,
  cause: number,
  {
    graceMs = CANCEL_GRACE_MS,
    who,
  }: { readonly graceMs?: number | undefined; readonly who?: DecidedBy | undefined } = {},
): Receipt | undefined {
  const effect = openEffect(fold, id);
  if (effect === undefined) return undefined;
  if (mayHaveOutcome(fold, effect)) {
    tellToStop(fold, id, effect, graceMs);
    return undefined;
  }
  const receipt: Receipt = { adapter: 'kernel', status: 'cancelled', ...who, attempts: effect.attempt };
  fold.push({ kind: 'settled', c: cause, effect: id, status: 'cancelled', code: null, by: 'cancel' });
  closeEffect(fold, id, effect, receipt, false);
  return receipt;
}

/** Tells a running effect to stop. A second cancel can shorten the grace but not lengthen it. */
function tellToStop(fold: FrameFold, id: string, effect: EffectLeaf, graceMs: number): void {
  const until = fold.at + graceMs;
  if (effect.cancelled !== undefined && effect.cancelled.until <= until) return;
  if (effect.cancelled === undefined) fold.aborts.push(id);
  fold.overlay.set(effectKey(id), wakeWhenDue(fold, id, { ...effect, cancelled: { until } }));
}

/** Changes a cell's bookkeeping outside a delivery. */
export function updateCell(fold: FrameFold, address: Address, change: (cell: CellLeaf) => Partial<CellLeaf>): void {
  const cell = fold.overlay.get(cellKey(address));
  if (cell !== undefined) fold.overlay.set(cellKey(address), { ...cell, ...change(cell) });
}

/** Takes a plan that ended off its cell. */
export function forgetPlan(fold: FrameFold, plan: PlanAddress): void {
  updateCell(fold, ownerOf(plan), ({ plans }) => ({ plans: plans.filter((ordinal) => ordinal !== plan[2]) }));
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
