/**
 * The stepping engine's one entry: an ingress record in, a frame out. Live, replay and recovery all go through here.
 *
 * Invariants
 * F1  A frame is a function of its ingress, the leaves before it, and the app: this file and all that it calls have no
 *     clock, no chance, no I/O and no promise. So a replay that gets the same ingress writes the same bytes (RPL-1).
 * F2  Folding changes nothing outside: the leaves are an overlay, and records, content and settled effects are lists in
 *     the result. Live, a fold that is thrown away has not happened.
 * F3  A refusal ends the fold: of a refused request or command nothing is journaled.
 * F4  The attempts that ride in a frame are chosen between the fold and the seal, by the driver, which knows which
 *     adapters have room. They are records of the frame, so a replay takes them from there (EFF-2).
 */
import {
  type Address,
  type DerivedRecord,
  type EventEnvelope,
  formatAddress,
  type IngressOf,
  type IngressRecord,
  type JournalRecord,
  type PlanAddress,
  type Principal,
  type Receipt,
  type Ref,
  type RidingAttempt,
} from '@reprise/contracts';
import { encodeFrame, recordsOf } from '../record/index.js';
import { deliverEvent, exceedEvent } from './cell/deliver-event.js';
import { beginFork } from './command/begin-fork.js';
import { applyCommand } from './command/commands.js';
import { requireActor } from './command/require-actor.js';
import {
  type Deliverer,
  type EmittedEffect,
  type EngineEnv,
  type FaultedDelivery,
  FrameFold,
  type SettledEffect,
} from './frame/frame-fold.js';
import { notify, takes } from './frame/notify.js';
import { effectOfTimer } from './frame/wake.js';
import { gateErase, gateRequest, type SendVerdict, sendText, standingRefusal } from './gate/gate.js';
import { endRefused, rightsExpired } from './gate/grants.js';
import { isRightsTimer } from './gate/rights-leaf.js';
import { cellKey, effectKey, failedKey, PENDING_KEY, planKey, timerKey, WORLD_KEY } from './leaf/leaf-key.js';
import type { EffectLeaf, LeafChange, LeafReader, WorldLeaf } from './leaf/leaves.js';
import type { StagedBlob } from './leaf/log.js';
import { Refusal } from './leaf/signals.js';
import { stateRecord } from './leaf/state-record.js';
import { askOutside, deferEffect, effectDue } from './ledger/parked.js';
import { closeEffect, endPlan, settleEffect, settleInFrame, takeLate, updateCell } from './ledger/settle.js';
import { advancePlan, deadlineReached, exceedPlan } from './plan/advance-plan.js';
import { dismissPlan } from './plan/dismiss-plan.js';
import { sweepTable } from './table/sweep-table.js';

/** A frame with its derived records, before its attempts are decided. */
interface FoldedFrame {
  readonly ingress: IngressRecord;
  /** Effects of this frame that are open at its end, in order: candidates for riding attempts. */
  readonly emitted: readonly EmittedEffect[];
  /** The effect whose record has this index in the frame; undefined when another record has it. */
  effectAt(index: number): string | undefined;
  /** Arms these effects in this frame and closes it. Called once. */
  seal(arm: readonly string[]): SealedFrame;
}

/** A finished frame: its bytes and its changes to the leaves. Nothing has happened yet. */
export interface SealedFrame {
  readonly records: readonly JournalRecord[];
  readonly bytes: Uint8Array;
  /** The list that the bytes encode. */
  readonly packed: readonly unknown[];
  /** The links in its records, each once. */
  readonly links: readonly Ref[];
  readonly changes: readonly LeafChange[];
  /** Content that the frame links and the fold made. */
  readonly staged: readonly StagedBlob[];
  /** Running effects that should stop. */
  readonly aborts: readonly string[];
  /** Effects that were open before, or waited for an answer from outside, and are settled now: in order. */
  readonly settled: readonly SettledEffect[];
  /** Deliveries that became faults, with the errors thrown, for watchers, in order. */
  readonly faulted: readonly FaultedDelivery[];
  /** The cascade goes on: the next frame must be a `continue`. */
  readonly continues: boolean;
}

/** The event that revives a failed cell; the kernel handles it, for any reducer. */
export const REVIVE = 'sys/Revive@1';

const deliverer: Deliverer = {
  event: deliverEvent,
  plan: advancePlan,
  sweep: sweepTable,
  exceeded: (fold, delivery) => (delivery.kind === 'event' ? exceedEvent(fold, delivery) : exceedPlan(fold, delivery)),
};

/**
 * Folds an ingress record.
 *
 * @param env the app and the hash; with running plans, or without to rebuild every plan
 * @param leaves the state before the frame
 * @param ingress stamped, with its values already parsed and canonical
 * @throws Miss when a leaf must be loaded first; Refusal for requests; Exhausted when the machine ran out
 */
export function foldIngress(env: EngineEnv, leaves: LeafReader, ingress: IngressRecord): FoldedFrame {
  const fold = new FrameFold(env, leaves, ingress);
  fold.world = fold.overlay.get(WORLD_KEY);
  admit(fold, ingress);
  fold.run(deliverer);
  return {
    ingress,
    emitted: stillOpen(fold),
    effectAt: (index) => effectIn(fold.records[index - 1]),
    seal: (arm) => seal(fold, arm),
  };
}

function effectIn(record: DerivedRecord | undefined): string | undefined {
  return record?.kind === 'effect' ? record.effect : undefined;
}

/** The effects that may be armed with the frame: one that was cancelled in its own frame is settled already. */
function stillOpen(fold: FrameFold): readonly EmittedEffect[] {
  return fold.emitted.filter(({ effect }) => fold.overlay.get(effectKey(effect)) !== undefined);
}

/** Applies the ingress: its changes to the ledger, and the first deliveries. */
function admit(fold: FrameFold, ingress: IngressRecord): void {
  switch (ingress.kind) {
    case 'manifest':
      return admitManifest(fold, ingress);
    case 'request':
      return admitRequest(fold, ingress);
    case 'command':
      return applyCommand(fold, ingress.command, { who: ingress.principal as Principal, cause: 0 });
    case 'deferred':
      return deferEffect(fold, ingress);
    case 'ask':
      return askOutside(fold, ingress);
    case 'receipt':
      return admitReceipt(fold, ingress);
    case 'timer':
      return admitTimer(fold, ingress);
    case 'attempt':
      return admitAttempt(fold, ingress);
    case 'continue':
      return admitContinue(fold, ingress.quarantined === true);
    case 'fork':
      return beginFork(fold, ingress);
    case 'erase': // content is not state: decisions based on it stand
      return requireAllowed(gateErase(fold, ingress.principal as Principal, ingress.cell), {
        where: ingress.cell === null ? '*' : formatAddress(ingress.cell),
        what: `${ingress.principal} may not erase this`,
      });
    case 'snapshot':
    case 'clock':
      return;
    default:
      return ingress satisfies never;
  }
}

function admitManifest(fold: FrameFold, ingress: IngressOf<'manifest'>): void {
  const before = fold.world;
  const { governed, root, fork } = before ?? {}; // settings of commands and forks outlive the era
  const leaf: WorldLeaf = {
    ...(governed === undefined ? {} : { governed }),
    ...(root === undefined ? {} : { root }),
    ...(fork === undefined ? {} : { fork }),
    world: ingress.world,
    seed: ingress.seed,
    semantics: ingress.semantics,
    policy: ingress.policy,
  };
  fold.overlay.set(WORLD_KEY, leaf);
  fold.world = leaf;
  for (const plan of ingress.cancels ?? []) dismissPlan(fold, plan);
  if (before !== undefined) endRefused(fold, 0); // what another policy forbids ends, as what rights forbid does
}

/** Repeated requests are detected by the driver: a repetition is never journaled, so never folded. */
function admitRequest(fold: FrameFold, { to, event, principal, actor }: IngressOf<'request'>): void {
  requireActor(principal as Principal, actor);
  requireMaySend(fold, principal as Principal, to, event.name);
  if (event.name !== REVIVE) return enqueueRequest(fold, to, event as EventEnvelope);
  const { next } = event.value as { readonly next?: EventEnvelope };
  if (next !== undefined) requireMaySend(fold, principal as Principal, to, next.name);
  reviveCell(fold, to);
  if (next !== undefined) enqueueRequest(fold, to, next);
}

function requireMaySend(fold: FrameFold, who: Principal, to: Address, event: string): void {
  const verdict = gateRequest(fold, who, to, event);
  requireAllowed(verdict, { where: sendText(to, event), what: `${who} may not send this` });
}

function enqueueRequest(fold: FrameFold, to: Address, event: EventEnvelope): void {
  fold.enqueue({
    kind: 'event',
    to,
    event,
    from: null,
    cause: 0,
    reply: false,
    notice: false,
    root: true,
  });
}

/** Turns the gate's refusal of an outside principal into a refusal of the ingress. */
function requireAllowed(verdict: SendVerdict, refused: { readonly what: string; readonly where: string }): void {
  if (verdict.allow) return;
  const code = verdict.code.startsWith('policy_denied') ? 'policy_denied' : 'cap_denied';
  throw new Refusal(code, refused.what, { where: refused.where, reason: verdict.code });
}

/** Revives a failed cell: its state is the one before the fault. It hears so before anything else. */
function reviveCell(fold: FrameFold, address: Address): void {
  const cell = fold.overlay.get(cellKey(address));
  if (cell?.live !== true) throw new Refusal('cell_absent', `${formatAddress(address)} does not exist`);
  const { failed: code } = cell;
  updateCell(fold, address, () => ({ failed: null }));
  fold.overlay.set(failedKey(address), undefined);
  if (code !== null && takes(fold, address, REVIVED, { code })) notify(fold, address, REVIVED, { code }, 0);
}

const REVIVED = 'sys/Revived@1';

function admitReceipt(fold: FrameFold, ingress: IngressOf<'receipt'>): void {
  const effect = fold.overlay.get(effectKey(ingress.effect));
  if (effect === undefined) throw settledBefore(ingress.effect);
  if (effect.attempt !== ingress.attempt) {
    throw new Refusal('effect_settled', 'the receipt belongs to another attempt', {
      expected: effect.attempt,
      actual: ingress.attempt,
      where: `effect ${ingress.effect}`,
    });
  }
  if (effect.late !== undefined && ingress.unanswered === true) throw settledBefore(ingress.effect);
  if (effect.late !== undefined) takeLate(fold, ingress.effect, effect, ingress.receipt);
  else if (ingress.quarantined === true) quarantineEffect(fold, ingress, effect);
  else {
    const { receipt, unanswered = false } = ingress;
    settleEffect(fold, ingress.effect, effect, { receipt, cause: 0, unanswered });
  }
}

/** The kernel's own receipt is too late when the effect is settled: only the adapter's answer still counts. */
function settledBefore(effect: string): Refusal {
  return new Refusal('effect_settled', `effect ${effect} is not open`, {
    hint: 'The effect was settled before, or does not belong to this world.',
  });
}

/** Settles the ledger and ends the plan: folding this receipt in full exhausted the machine. */
function quarantineEffect(
  fold: FrameFold,
  { effect: id, receipt, unanswered }: IngressOf<'receipt'>,
  effect: EffectLeaf,
): void {
  closeEffect(fold, id, effect, receipt, unanswered === true);
  quarantinePlan(fold, effect.plan);
}

/**
 * Ends a plan that would have continued in a quarantined frame: nothing else would ever wake it. Its cell gets a
 * notice in the next frame, so that it does not wait for ever either.
 */
function quarantinePlan(fold: FrameFold, plan: PlanAddress): void {
  const leaf = fold.overlay.get(planKey(plan));
  if (leaf === undefined) return;
  const cause = fold.push({ kind: 'fault', c: 0, target: plan, code: 'exhausted' });
  endPlan(fold, plan, leaf, { status: 'error', code: 'exhausted' }, cause);
}

function admitTimer(fold: FrameFold, ingress: IngressOf<'timer'>): void {
  const { cell, plan, name, due } = ingress;
  const key = timerKey(due, cell, plan ?? -1, name);
  if (fold.overlay.get(key) === undefined)
    throw new Refusal('invalid_argument', 'no such timer is set', { where: key.path.join(' ') });
  fold.overlay.set(key, undefined);
  const effect = effectOfTimer(name);
  if (effect !== undefined) return effectDue(fold, effect);
  if (isRightsTimer(name)) return rightsExpired(fold, cell);
  if (plan !== null) {
    if (ingress.quarantined === true) quarantinePlan(fold, [cell[0], cell[1], plan]);
    else deadlineReached(fold, [cell[0], cell[1], plan], due);
    return;
  }
  updateCell(fold, cell, ({ timers: { [name]: _fired, ...timers } }) => ({ timers }));
  if (ingress.quarantined === true) {
    fold.push({ kind: 'fault', c: 0, target: cell, code: 'exhausted' });
    return;
  }
  const value = { name, due };
  if (!takes(fold, cell, 'sys/TimerFired@1', value)) {
    notify(fold, cell, 'sys/TimerFired@1', value, 0);
    return;
  }
  const event = { name: 'sys/TimerFired@1', value };
  fold.enqueue({ kind: 'event', to: cell, event, from: null, cause: 0, reply: false, notice: true, root: false });
}

/** Rights are checked again before an effect starts: they may have ended since it was emitted. */
function admitAttempt(fold: FrameFold, { effect: id, attempt }: IngressOf<'attempt'>): void {
  const effect = fold.overlay.get(effectKey(id));
  if (effect?.late !== undefined) throw settledBefore(id); // it waited to be offered again
  const definition = effect === undefined ? undefined : fold.env.app.effects.get(effect.name);
  const code = effect && definition && standingRefusal(fold, effect, definition);
  if (effect === undefined || code === undefined) return armEffect(fold, id, attempt);
  const status = effect.attempt > 0 ? 'cancelled' : 'denied';
  const receipt: Receipt = { adapter: 'gate', status, code, attempts: effect.attempt };
  settleInFrame(fold, id, effect, { by: 'gate', receipt, over: true }, 0);
}

function armEffect(fold: FrameFold, id: string, attempt: number): void {
  const effect = fold.overlay.get(effectKey(id));
  if (effect === undefined) throw settledBefore(id);
  if (attempt !== effect.attempt + 1) {
    throw new Refusal('invalid_argument', 'invalid attempt number of the effect', {
      expected: effect.attempt + 1,
      actual: attempt,
    });
  }
  fold.overlay.set(effectKey(id), { ...effect, attempt });
}

function admitContinue(fold: FrameFold, quarantined: boolean): void {
  const pending = fold.overlay.get(PENDING_KEY);
  if (pending === undefined) throw new Refusal('invalid_argument', 'there is no cascade to continue');
  fold.overlay.set(PENDING_KEY, undefined);
  fold.resume(pending);
  if (pending.ending !== undefined) endRefused(fold, 0, pending.ending);
  if (!quarantined) return;
  for (const delivery of fold.abandon()) {
    if (delivery.kind === 'plan') quarantinePlan(fold, delivery.plan);
    else if (delivery.kind === 'sweep') fold.enqueue(delivery);
    else fold.push({ kind: 'fault', c: 0, target: delivery.to, code: 'exhausted' });
  }
}

function seal(fold: FrameFold, arm: readonly string[]): SealedFrame {
  const attempts: RidingAttempt[] = arm.map((effect) => {
    armEffect(fold, effect, 1);
    return { kind: 'attempt', effect, attempt: 1 };
  });
  const changes = fold.overlay.changes();
  const state = stateRecord(changes, fold.env.hash);
  const parts = { ingress: fold.ingress, derived: fold.records, attempts, state };
  return {
    records: recordsOf(parts),
    ...encodeFrame(parts),
    changes,
    staged: fold.staged,
    aborts: fold.aborts,
    settled: fold.settled,
    faulted: fold.faulted,
    continues: fold.overlay.get(PENDING_KEY) !== undefined,
  };
}
