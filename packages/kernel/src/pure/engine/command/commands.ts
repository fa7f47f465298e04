/**
 * The kernel's commands: one handler for each. A command comes from outside, with a principal that the driver has
 * authenticated, or from a cell, which acts as itself.
 *
 * Invariants
 * C1  A refused command changes nothing: each handler has passed its last refusal before it writes its first leaf. A
 *     command of a cell runs in the middle of a frame, where nothing would undo the half of it.
 * C2  What was approved is judged again when it is released: rights, budget and policy may have changed since the question
 *     was asked, and so may the parameters (GATE-13).
 * C3  Each item is decided once. A later principal is told who was first if it might have decided itself; any other one is
 *     refused as it would have been before.
 */
import {
  ACCOUNT_DEPTH_MAX,
  type Actor,
  type Address,
  actorOf,
  type CommandName,
  type CommandValue,
  type EffectDecision,
  type FailureCode,
  formatAddress,
  type KernelCommand,
  type Principal,
  present,
  type Receipt,
  type Ref,
  type Settlement,
  type Value,
} from '@reprise/contracts';
import { amountsFit } from '../../authority/index.js';
import { encode, FRAME_DEPTH_MAX, type Hash, toHex } from '../../codec/index.js';
import type { EffectDefinition } from '../../define/index.js';
import { check } from '../../schema/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { tellOwner } from '../frame/notify.js';
import { wakeWhenDue } from '../frame/wake.js';
import { guaranteeOf, startOrWait } from '../gate/effects.js';
import { gateEffect, mayAnswer, rememberedName } from '../gate/gate.js';
import { setRights } from '../gate/grants.js';
import { authorityOf, cellOf, holderOf, isAdapter, isGeneration } from '../gate/rights.js';
import { accountKey, effectKey, settledKey } from '../leaf/leaf-key.js';
import type { DecidedBy, EffectLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';
import { bookLate, chainOf } from '../ledger/accounts.js';
import { firstDecision, type ItemName } from '../ledger/first-decision.js';
import { isAsking } from '../ledger/parked.js';
import { cancelEffect, decidedBy, mayHaveOutcome, openEffect, settleInFrame } from '../ledger/settle.js';
import { requireActor } from './require-actor.js';

/** The principal, and the index of the record of the command. */
interface Asking {
  readonly who: Principal;
  readonly cause: number;
}

type Handlers = { readonly [N in CommandName]: (fold: FrameFold, value: CommandValue<N>, asking: Asking) => void };

const HANDLERS: Handlers = {
  'sys/Settle@1': settle,
  'sys/Decide@1': decide,
  'sys/Answer@1': answer,
  'sys/Cancel@1': cancel,
  'sys/SetRights@1': (fold, value, { who, cause }) => setRights(fold, value, who, cause),
  'sys/SetAccount@1': setAccount,
};

/**
 * Applies a command.
 *
 * @throws Refusal when the command is impossible, or not permitted to this principal
 */
export function applyCommand<N extends CommandName>(
  fold: FrameFold,
  command: KernelCommand & { name: N },
  asking: Asking,
): void {
  requireActor(asking.who, actorIn(command));
  const handler = HANDLERS[command.name as N] as (fold: FrameFold, value: unknown, asking: Asking) => void;
  handler(fold, command.value, asking);
}

/** The digest that an approval is bound to: of an effect's kind and parameters. */
export function approvalDigest(hash: Hash, { name, params }: Pick<EffectLeaf, 'name' | 'params'>): string {
  return toHex(hash(encode([name, params], FRAME_DEPTH_MAX)));
}

function actorIn({ value }: KernelCommand): Actor | undefined {
  return 'actor' in value ? value.actor : undefined;
}

function settle(fold: FrameFold, value: CommandValue<'sys/Settle@1'>, { who, cause }: Asking): void {
  const { effect: id, outcome } = value;
  const effect = openEffect(fold, id);
  if (effect === undefined) return tooLate(fold, id, outcome, { who, cause });
  requireAnswerer(fold, who, { ...effect, to: effect.deferred?.to ?? null }, nameOf(effect));
  if (effect.deferred === undefined && who !== 'operator')
    throw notAllowed('cap_denied', `effect ${id} does not wait for a settlement`);
  const payload = outcome.status === 'ok' ? { payload: checkedPayload(fold, effect, outcome.payload) } : {};
  const said = { by: who, ...saidIn(value), attempts: effect.attempt };
  const receipt: Receipt = { adapter: 'kernel', ...outcome, ...payload, ...said };
  const by = cellOf(who) === undefined ? 'command' : 'cell';
  settleInFrame(fold, id, effect, { by, receipt }, cause);
}

/** The actor and the reason of a command, as receipts hold them. */
function saidIn({ actor, reason_ref }: { readonly actor?: Actor; readonly reason_ref?: Ref }): Said {
  return present({ actor, reason_ref });
}

type Said = Pick<Receipt, 'actor' | 'reason_ref'>;

/** A settlement that comes too late is answered with a record; for an effect that never waited it is refused. */
function tooLate(fold: FrameFold, id: string, { status, usage }: Settlement, { who, cause: c }: Asking): void {
  const settled = fold.overlay.get(settledKey(id));
  if (settled === undefined || settled.asked === true) throw notOpen(id);
  requireAnswerer(fold, who, settled, `effect ${id}`);
  fold.push({ kind: 'late', c, effect: id, status, settled: settled.status });
  if (usage === undefined || settled.owed === undefined) return;
  const { owed, ...known } = settled; // once: a second report is refused
  bookLate(fold, owed, usage);
  fold.overlay.set(settledKey(id), known);
}

function checkedPayload(fold: FrameFold, effect: EffectLeaf, payload: unknown): Value {
  const definition = fold.env.app.effects.get(effect.name);
  if (definition === undefined) throw new Refusal('unknown_effect', `the app has no effect ${effect.name}`);
  const checked = check(definition.receipt, payload as never);
  if (checked.ok) return checked.value;
  throw new Refusal('event_invalid', `invalid outcome of ${effect.name}`, {
    where: checked.path,
    expected: checked.expected,
    actual: checked.actual,
  });
}

function decide(fold: FrameFold, value: CommandValue<'sys/Decide@1'>, { who, cause }: Asking): void {
  const { effect: id, digest, decision } = value;
  const effect = openEffect(fold, id);
  if (effect?.approval === undefined)
    throw decidedBefore(fold, { effect: id, approval: true }, who, 'does not wait for approval');
  requireAnswerer(fold, who, { ...effect, to: effect.approval.to }, nameOf(effect));
  const now = approvalDigest(fold.env.hash, effect);
  if (digest !== undefined && digest !== now) {
    throw new Refusal('approval_stale', 'the approval names other parameters than those that wait', {
      where: `effect ${id}`,
      expected: now,
      actual: digest,
      hint: 'Show the pending item again and decide on its current parameters.',
    });
  }
  if (decision.approve) return release(fold, id, effect, { ...value, decision }, { who, cause });
  const receipt = denied(effect, 'policy_denied/not_approved', { by: who, ...saidIn(value) });
  settleInFrame(fold, id, effect, { by: 'command', receipt }, cause);
}

type Approval = CommandValue<'sys/Decide@1'> & { readonly decision: Extract<EffectDecision, { approve: true }> };

/** Releases an approved effect: it passes the whole gate again, for much may have changed since. */
function release(fold: FrameFold, id: string, waiting: EffectLeaf, value: Approval, { who, cause }: Asking): void {
  const { decision } = value;
  const { approval, ...rest } = waiting;
  const said = saidIn(value);
  const by: DecidedBy = decidedBy({ by: who, actor: value.actor });
  const effect: EffectLeaf = { ...rest, approved: { ...by, to: approval?.to ?? null } };
  const definition = fold.env.app.effects.get(effect.name);
  if (definition === undefined) throw new Refusal('unknown_effect', `the app has no effect ${effect.name}`);
  const given = decision.params ?? effect.params;
  const checked = check(definition.params, given as never);
  if (!checked.ok) {
    const isWaiting = decision.params === undefined; // a deployment came between
    throw new Refusal('event_invalid', `invalid parameters of ${effect.name}`, {
      where: checked.path,
      expected: checked.expected,
      actual: checked.actual,
      ...(isWaiting ? { hint: 'Its definition has changed: approve it with other parameters, or deny it.' } : {}),
    });
  }
  const { plan } = effect;
  const cell: Address = [plan[0], plan[1]];
  if (decision.remember !== undefined && isGeneration(fold, cell, effect.inc)) {
    const name = requireRememberedName(definition, checked.value, id);
    setRights(fold, { holder: holderOf(cell), remember: [name, decision.remember.until] }, who, cause);
  }
  const verdict = gateEffect(fold, { plan, inc: effect.inc, definition, params: checked.value, approved: id });
  if (!verdict.allow) return refuseRelease(fold, id, effect, verdict.code, cause);
  const deadline = approval?.timeoutMs == null ? null : fold.at + approval.timeoutMs;
  const reserved = verdict.reserved === undefined ? {} : { reserved: verdict.reserved };
  const guarantee = guaranteeOf(definition, checked.value); // edited parameters may carry another
  const freed: EffectLeaf = { ...effect, params: checked.value, guarantee, deadline };
  const receipt = startOrWait(fold, id, { ...freed, ...reserved }, definition, cause);
  if (receipt !== undefined) return settleInFrame(fold, id, freed, { by: 'gate', receipt }, cause); // nothing is reserved yet
  tellGoesOn(fold, id, effect, { ...by, ...said }, cause);
}

/** An approval that would cover nothing is not remembered in silence. */
function requireRememberedName(definition: EffectDefinition, params: Value, id: string): string {
  const name = rememberedName(definition, params);
  if (name !== undefined) return name;
  throw new Refusal('invalid_argument', 'the approval cannot be remembered', {
    where: `effect ${id}`,
    expected: `the parameter "${definition.remembers}", which says what is approved`,
    actual: undefined,
    hint: 'Approve it without `remember`.',
  });
}

/** The gate refuses what was approved: that is no denial of the principal that approved it. */
function refuseRelease(fold: FrameFold, id: string, effect: EffectLeaf, code: FailureCode, cause: number): void {
  settleInFrame(fold, id, effect, { by: 'gate', receipt: denied(effect, code) }, cause);
}

/** Tells the cell that an effect of its plan continues, and who made it continue. */
function tellGoesOn(
  fold: FrameFold,
  id: string,
  { name, plan }: EffectLeaf,
  said: DecidedBy & Said,
  cause: number,
): void {
  const { by, actor, reason_ref } = said;
  const value = present({ effect: id, name, plan: [...plan], by, actor: actor && { ...actor }, reason_ref });
  tellOwner(fold, plan, 'sys/EffectGoesOn@1', value, cause);
}

function answer(
  fold: FrameFold,
  { effect: id, n, answer: given, actor }: CommandValue<'sys/Answer@1'>,
  { who, cause }: Asking,
): void {
  const effect = openEffect(fold, id);
  const asked = effect?.asks?.find((question) => question.n === n);
  if (effect === undefined || asked === undefined || asked.answer !== undefined)
    throw decidedBefore(fold, { effect: id, n }, who, `has no open question ${n}`);
  requireAnswerer(fold, who, { ...effect, to: asked.to }, nameOf(effect));
  const by = decidedBy({ by: who, actor });
  const asks = effect.asks?.map((ask) => (ask === asked ? { ...ask, answer: { ...by, value: given } } : ask)) ?? [];
  const answered = wakeWhenDue(fold, id, { ...effect, asks });
  fold.overlay.set(effectKey(id), answered);
  if (isAsking(answered)) return;
  tellGoesOn(fold, id, effect, by, cause);
}

function cancel(fold: FrameFold, value: CommandValue<'sys/Cancel@1'>, { who, cause }: Asking): void {
  const { effect: id, graceMs } = value;
  const effect = openEffect(fold, id);
  if (effect === undefined) throw decidedBefore(fold, { effect: id }, who, 'is not open');
  requireAnswerer(fold, who, { ...effect, to: effect.deferred?.to ?? effect.approval?.to ?? null }, nameOf(effect));
  const said = { by: who, ...saidIn(value), attempts: effect.attempt };
  const receipt: Receipt = { adapter: 'kernel', status: 'cancelled', ...said };
  if (mayHaveOutcome(fold, effect)) cancelEffect(fold, id, cause, { graceMs });
  else settleInFrame(fold, id, effect, { by: 'cancel', receipt }, cause);
}

function setAccount(
  fold: FrameFold,
  { account, parent, limits }: CommandValue<'sys/SetAccount@1'>,
  { who }: Asking,
): void {
  const where = `account ${account}`;
  if (!amountsFit(limits)) throw new Refusal('bound_exceeded', 'an account limits too many units', { where });
  const known = chainOf(fold, account)?.[0]?.[1];
  if (known !== undefined && known.parent !== parent) {
    throw new Refusal('invalid_argument', 'the account has another parent and cannot be moved', {
      where,
      expected: known.parent,
      actual: parent,
      hint: 'Its reservations are also made at its parents. Create another account.',
    });
  }
  const above = parent === null ? [] : chainOf(fold, parent);
  if (above === undefined)
    throw new Refusal('account_unknown', 'the account above does not exist', { where, actual: parent });
  if (above.length >= ACCOUNT_DEPTH_MAX) {
    throw new Refusal('bound_exceeded', 'accounts are nested too deeply', {
      where,
      expected: `at most ${ACCOUNT_DEPTH_MAX}`,
      actual: above.length + 1,
    });
  }
  requireOwner(
    fold,
    who,
    above.map(([name]) => name),
    where,
  );
  fold.overlay.set(accountKey(account), { parent, limits, spent: known?.spent ?? {}, reserved: known?.reserved ?? {} });
  fold.govern();
}

/**
 * Accounts belong to the operator. A person or a cell that is charged to an account can divide it among accounts below;
 * a principal cannot change the account that it is charged to, and without an account it has none to divide.
 */
function requireOwner(fold: FrameFold, who: Principal, above: readonly string[], where: string): void {
  if (who === 'operator') return;
  const own = isAdapter(who) ? null : (authorityOf(fold, who)?.account ?? null); // an adapter spends, and gives nothing
  if (own === null || !above.includes(own)) throw notAllowed('cap_denied', where);
}

/** The cell that settles an effect, and the principals that were asked; people by default. */
function requireAnswerer(
  fold: FrameFold,
  who: Principal,
  { name, settler, to }: { readonly name: string; readonly settler?: Address; readonly to: string | null },
  where: string,
): void {
  if (settler !== undefined && who === holderOf(settler)) return;
  const refusal = mayAnswer(fold, who, name, to);
  if (refusal !== undefined) throw notAllowed(refusal, where);
}

function nameOf({ name, plan }: EffectLeaf): string {
  return `an effect ${name} of ${formatAddress(plan)}`;
}

function notAllowed(code: FailureCode, where: string): Refusal {
  const error = code.startsWith('policy_denied') ? 'policy_denied' : 'cap_denied';
  return new Refusal(error, 'the principal lacks the right to do that', { where, reason: code });
}

/** The refusal of a decision that comes too late: a principal that might have decided is told who did. */
function decidedBefore(fold: FrameFold, item: ItemName, who: Principal, why: string): Refusal {
  const first = firstDecision(fold.overlay, item);
  if (first === undefined) return notOpen(item.effect, why);
  requireAnswerer(fold, who, first, `effect ${item.effect}`);
  return notOpen(item.effect, why, first.decided);
}

function notOpen(id: string, why = 'is not open', first?: DecidedBy): Refusal {
  return new Refusal('effect_settled', `effect ${id} ${why}`, {
    ...(first === undefined ? {} : { by: first.by, actor: actorOf(first.by, first.actor) }),
    hint: 'The effect was settled before, or does not belong to this world.',
  });
}

function denied(effect: EffectLeaf, code: FailureCode, said: Said & Partial<DecidedBy> = {}): Receipt {
  return { adapter: 'gate', status: 'denied', code, ...said, attempts: effect.attempt };
}
