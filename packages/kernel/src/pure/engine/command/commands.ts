/** The session commands: one handler for each. A refused command changes nothing. */
import {
  ACCOUNT_DEPTH_MAX,
  type Address,
  type CommandName,
  type CommandValue,
  type FailureCode,
  formatAddress,
  type KernelCommand,
  type Principal,
  type Receipt,
  type Settlement,
  type Value,
} from '@reprise/contracts';
import { amountsFit } from '../../authority/index.js';
import { encode, FRAME_DEPTH_MAX, type Hash, toHex } from '../../codec/index.js';
import { check } from '../../schema/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { tellOwner } from '../frame/notify.js';
import { wakeWhenDue } from '../frame/wake.js';
import { guaranteeOf, startOrWait } from '../gate/effects.js';
import { fullName, gateEffect, mayAnswer } from '../gate/gate.js';
import { setRights } from '../gate/grants.js';
import { authorityOf, cellOf, holderOf, isAdapter, isGeneration } from '../gate/rights.js';
import { accountKey, effectKey, settledKey } from '../leaf/leaf-key.js';
import type { EffectLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';
import { bookLate, chainOf } from '../ledger/accounts.js';
import { isAsking } from '../ledger/parked.js';
import { cancelEffect, mayHaveOutcome, openEffect, settleInFrame } from '../ledger/settle.js';

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
  const handler = HANDLERS[command.name as N] as (fold: FrameFold, value: unknown, asking: Asking) => void;
  handler(fold, command.value, asking);
}

/** The digest that an approval is bound to: of an effect's kind and parameters. */
export function approvalDigest(hash: Hash, { name, params }: Pick<EffectLeaf, 'name' | 'params'>): string {
  return toHex(hash(encode([name, params], FRAME_DEPTH_MAX)));
}

function settle(fold: FrameFold, { effect: id, outcome }: CommandValue<'sys/Settle@1'>, { who, cause }: Asking): void {
  const effect = openEffect(fold, id);
  if (effect === undefined) return tooLate(fold, id, outcome, { who, cause });
  requireAnswerer(fold, who, { ...effect, to: effect.deferred?.to ?? null }, nameOf(effect));
  if (effect.deferred === undefined && who !== 'operator')
    throw notAllowed('cap_denied', `effect ${id} does not wait for a settlement`);
  const payload = outcome.status === 'ok' ? { payload: checkedPayload(fold, effect, outcome.payload) } : {};
  const receipt: Receipt = { adapter: 'kernel', ...outcome, ...payload, by: who, attempts: effect.attempt };
  const by = cellOf(who) === undefined ? 'command' : 'cell';
  settleInFrame(fold, id, effect, { by, receipt }, cause);
}

/** A settlement that comes too late is answered with a record; for an effect that never waited it is refused. */
function tooLate(fold: FrameFold, id: string, { status, usage }: Settlement, { who, cause: c }: Asking): void {
  const settled = fold.overlay.get(settledKey(id));
  if (settled === undefined) throw notOpen(id);
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
  if (effect?.approval === undefined) throw notOpen(id, 'does not wait for approval');
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
  if (decision.approve) return release(fold, id, effect, decision, { who, cause });
  const receipt = denied(effect, 'policy_denied/not_approved', who);
  settleInFrame(fold, id, effect, { by: 'command', receipt }, cause);
}

/** Releases an approved effect: it passes the whole gate again, for much may have changed since. */
function release(
  fold: FrameFold,
  id: string,
  effect: EffectLeaf,
  decision: { readonly params?: unknown; readonly remember?: { readonly until: number | null } },
  { who, cause }: Asking,
): void {
  const definition = fold.env.app.effects.get(effect.name);
  if (definition === undefined) throw new Refusal('unknown_effect', `the app has no effect ${effect.name}`);
  const given = decision.params ?? effect.params;
  const checked = check(definition.params, given as never);
  if (!checked.ok && decision.params !== undefined) {
    throw new Refusal('event_invalid', `invalid parameters of ${effect.name}`, {
      where: checked.path,
      expected: checked.expected,
      actual: checked.actual,
    });
  }
  if (!checked.ok) return refuseRelease(fold, id, effect, 'validation_error', { who, cause }); // a deploy came between
  const { plan } = effect;
  const cell: Address = [plan[0], plan[1]];
  if (decision.remember !== undefined && isGeneration(fold, cell, effect.inc)) {
    const kind: [string, number | null] = [fullName(definition, checked.value), decision.remember.until];
    setRights(fold, { holder: holderOf(cell), remember: kind }, who, cause);
  }
  const verdict = gateEffect(fold, { plan, inc: effect.inc, definition, params: checked.value, approved: id });
  if (!verdict.allow) return refuseRelease(fold, id, effect, verdict.code, { who, cause });
  const { approval, ...rest } = effect;
  const deadline = approval?.timeoutMs == null ? null : fold.at + approval.timeoutMs;
  const reserved = verdict.reserved === undefined ? {} : { reserved: verdict.reserved };
  const guarantee = guaranteeOf(definition, checked.value); // edited parameters may carry another
  const freed: EffectLeaf = { ...rest, params: checked.value, guarantee, deadline, approved: true };
  const receipt = startOrWait(fold, id, { ...freed, ...reserved }, definition, cause);
  if (receipt !== undefined) return settleInFrame(fold, id, freed, { by: 'gate', receipt }, cause); // nothing is reserved yet
  tellOwner(fold, plan, 'sys/EffectGoesOn@1', { effect: id, name: effect.name, plan: [...plan] }, cause);
}

function refuseRelease(
  fold: FrameFold,
  id: string,
  effect: EffectLeaf,
  code: FailureCode,
  { who, cause }: Asking,
): void {
  settleInFrame(fold, id, effect, { by: 'gate', receipt: denied(effect, code, who) }, cause);
}

function answer(
  fold: FrameFold,
  { effect: id, n, answer: given }: CommandValue<'sys/Answer@1'>,
  { who, cause }: Asking,
): void {
  const effect = openEffect(fold, id);
  const asked = effect?.asks?.find((question) => question.n === n);
  if (effect === undefined || asked === undefined) throw notOpen(id, `has no open question ${n}`);
  requireAnswerer(fold, who, { ...effect, to: asked.to }, nameOf(effect));
  if (asked.answer !== undefined) throw notOpen(id, `already has an answer to question ${n}`);
  const asks = effect.asks?.map((ask) => (ask === asked ? { ...ask, answer: { by: who, value: given } } : ask)) ?? [];
  const answered = wakeWhenDue(fold, id, { ...effect, asks });
  fold.overlay.set(effectKey(id), answered);
  if (isAsking(answered)) return;
  tellOwner(fold, effect.plan, 'sys/EffectGoesOn@1', { effect: id, name: effect.name, plan: [...effect.plan] }, cause);
}

function cancel(fold: FrameFold, { effect: id, graceMs }: CommandValue<'sys/Cancel@1'>, { who, cause }: Asking): void {
  const effect = openEffect(fold, id);
  if (effect === undefined) throw notOpen(id);
  requireAnswerer(fold, who, { ...effect, to: effect.deferred?.to ?? effect.approval?.to ?? null }, nameOf(effect));
  const receipt: Receipt = { adapter: 'kernel', status: 'cancelled', by: who, attempts: effect.attempt };
  if (mayHaveOutcome(fold, effect)) cancelEffect(fold, id, cause, graceMs);
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

function notOpen(id: string, why = 'is not open'): Refusal {
  return new Refusal('effect_settled', `effect ${id} ${why}`, {
    hint: 'The effect was settled before, or does not belong to this world.',
  });
}

function denied(effect: EffectLeaf, code: FailureCode, by: Principal): Receipt {
  return { adapter: 'gate', status: 'denied', code, by, attempts: effect.attempt };
}
