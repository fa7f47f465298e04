/** Sets rights, and ends in the same frame what they no longer permit. */
import {
  type Address,
  type Capability,
  type CommandValue,
  formatAddress,
  type Principal,
  type Receipt,
} from '@reprise/contracts';
import { canonical, capabilityFits, coversPatterns, EVERYTHING, firstExcess, leq } from '../authority/index.js';
import { decode } from '../codec/index.js';
import { chainOf } from './accounts.js';
import type { FrameFold } from './frame-fold.js';
import { rightsRefusal } from './gate.js';
import { effectKey, rightsKey, timerKey } from './leaf-key.js';
import type { EffectLeaf, RightsLeaf } from './leaves.js';
import { authorityOf, cellOf, declaredRights, isBelow, parentOf } from './rights.js';
import { isUnderWay, openEffect, settleInFrame } from './settle.js';
import { Refusal } from './signals.js';

/** Authors' timers cannot begin with a tilde. */
const RIGHTS_TIMER = '~rights';

/** Whether this timer watches over the end of rights. */
export function isRightsTimer(name: string): boolean {
  return name === RIGHTS_TIMER;
}

/** A change of rights; `remember` adds one approval to those that are remembered. */
export type RightsChange = CommandValue<'sys/SetRights@1'> & { readonly remember?: readonly [string, number | null] };

const NONE: RightsLeaf = { exercise: null, grant: null, account: null, approved: [], revision: 0 };

/**
 * Changes a holder's rights. What is open below it and is not permitted any more ends in this frame.
 *
 * @throws Refusal `cap_denied`, `rights_exceeded`, `revision_conflict`, `account_unknown`, `bound_exceeded`
 */
export function setRights(fold: FrameFold, change: RightsChange, who: Principal, cause: number): void {
  const before = declaredRights(fold, change.holder) ?? NONE;
  if (change.revision !== undefined && change.revision !== before.revision) {
    throw new Refusal('revision_conflict', 'the rights have changed since they were read', {
      where: change.holder,
      expected: before.revision,
      actual: change.revision,
      hint: 'Read them again and decide anew.',
    });
  }
  const after = changed(before, change);
  requireGranter(fold, change.holder, before, after, who);
  const narrows = !isWithin(before, after);
  fold.govern();
  moveExpiry(fold, change.holder, before, after);
  fold.write(rightsKey(change.holder), after);
  if (narrows) endRefused(fold, cause);
}

/** Rights of a holder have ended by time: what is open below and not permitted any more ends. */
export function rightsExpired(fold: FrameFold, cell: Address): void {
  const holder = `cell:${formatAddress(cell)}`;
  const rights = declaredRights(fold, holder);
  if (rights === undefined) return;
  const due = nextExpiry(rights, fold.at);
  if (due !== undefined) fold.write(timerKey(due, cell, -1, RIGHTS_TIMER), { due });
  endRefused(fold, 0);
}

function changed(before: RightsLeaf, change: RightsChange): RightsLeaf {
  const { exercise, grant, account, remember } = change;
  const approved = (change.approved ?? before.approved) as RightsLeaf['approved'];
  return {
    exercise: exercise === undefined ? before.exercise : fitted(exercise),
    grant: grant === undefined ? before.grant : fitted(grant),
    account: account === undefined ? before.account : account,
    approved: remember === undefined ? approved : [...approved.filter(([kind]) => kind !== remember[0]), remember],
    revision: before.revision + 1,
  };
}

function fitted(capability: Capability | null): Capability | null {
  if (capability === null) return null;
  if (capabilityFits(capability)) return canonical(capability);
  throw new Refusal('bound_exceeded', 'these rights name too many dimensions', { hint: 'Use fewer, wider ones.' });
}

/** Whether everything that was permitted before still is. */
function isWithin(before: RightsLeaf, after: RightsLeaf): boolean {
  const grantOf = ({ exercise, grant }: RightsLeaf) => grant ?? exercise ?? EVERYTHING;
  return leq(before.exercise ?? EVERYTHING, after.exercise ?? EVERYTHING) && leq(grantOf(before), grantOf(after));
}

/**
 * Who may change rights: the host and people within what they may hand on; a cell those of cells below it, within what
 * it may hand on, widening only those of its own children; and its own, narrowing them.
 */
function requireGranter(fold: FrameFold, holder: string, before: RightsLeaf, after: RightsLeaf, who: Principal): void {
  const granter = cellOf(who);
  if (granter !== undefined) requireAbove(fold, holder, before, after, granter);
  const mine = who === 'host' ? undefined : authorityOf(fold, who);
  const limit = who === 'host' ? (fold.rules.root ?? EVERYTHING) : mine?.grant;
  if (limit === undefined) throw new Refusal('cap_denied', 'this principal may hand on nothing', { where: who });
  if (who !== holder) {
    for (const side of [after.exercise, after.grant]) if (side !== null) requireWithin(side, limit, holder);
  }
  requireAccount(fold, after, before, granter === undefined ? null : (mine?.account ?? null), granter !== undefined);
}

function requireAbove(fold: FrameFold, holder: string, before: RightsLeaf, after: RightsLeaf, granter: Address): void {
  const cell = cellOf(holder);
  const narrows = isWithin(after, before) && coversApproved(before, after);
  const self = cell !== undefined && formatAddress(cell) === formatAddress(granter);
  const parent = cell === undefined ? null : parentOf(fold, cell);
  const own = parent !== null && formatAddress(parent) === formatAddress(granter);
  const above = cell !== undefined && isBelow(fold, cell, granter);
  if ((self || above) && narrows) return;
  if (own && above && coversApproved(before, after)) return;
  throw new Refusal('cap_denied', 'a cell changes the rights of cells below it', {
    where: holder,
    hint: 'It widens those of its own children only, narrows its own, and remembers no approval.',
  });
}

function coversApproved(before: RightsLeaf, after: RightsLeaf): boolean {
  return coversPatterns(
    before.approved.map(([kind]) => kind),
    after.approved.map(([kind]) => kind),
  );
}

function requireWithin(side: Capability, limit: Capability, holder: string): void {
  const excess = firstExcess(side, limit);
  if (excess === undefined) return;
  throw new Refusal('rights_exceeded', 'nobody grants more than they may hand on', {
    ...excess,
    where: `${holder} ${excess.where}`,
    hint: 'Grant within the rights of the granter, or widen those first.',
  });
}

function requireAccount(
  fold: FrameFold,
  after: RightsLeaf,
  before: RightsLeaf,
  own: string | null,
  isCell: boolean,
): void {
  if (after.account === null || after.account === before.account) return;
  const chain = chainOf(fold, after.account);
  if (chain === undefined) {
    throw new Refusal('account_unknown', 'there is no such account', {
      where: after.account,
      hint: 'Make it first: sys/SetAccount@1.',
    });
  }
  if (isCell && !chain.some(([name]) => name === own)) {
    throw new Refusal('cap_denied', 'a cell charges accounts of its own', { where: after.account });
  }
}

/** Asks of every open effect whether it is permitted still; of each the first refusal ends it. */
function endRefused(fold: FrameFold, cause: number): void {
  for (const id of openEffectIds(fold)) {
    const effect = openEffect(fold, id);
    const definition = effect === undefined ? undefined : fold.env.app.effects.get(effect.name);
    if (effect === undefined || definition === undefined) continue;
    const code = rightsRefusal(fold, { plan: effect.plan, definition, params: effect.params });
    if (code === undefined) continue;
    const started = effect.attempt > 0;
    const receipt: Receipt = {
      adapter: 'gate',
      status: started ? 'cancelled' : 'denied',
      code: code === 'cap_denied' ? 'cap_denied/revoked' : code,
      attempts: effect.attempt,
    };
    settleInFrame(fold, id, effect, { by: isUnderWay(effect) || started ? 'revoked' : 'gate', receipt }, cause);
  }
}

/** In the order in which they were emitted: the order of leaves in memory is no journaled fact. */
function openEffectIds(fold: FrameFold): readonly string[] {
  return fold.overlay
    .list('effect')
    .map(({ key, bytes }) => ({ id: String(key.path[1]), ...(decode(bytes) as unknown as EffectLeaf) }))
    .sort((a, b) => a.queued[0] - b.queued[0] || a.queued[1] - b.queued[1])
    .map(({ id }) => id)
    .filter((id) => fold.overlay.get(effectKey(id)) !== undefined);
}

function moveExpiry(fold: FrameFold, holder: string, before: RightsLeaf, after: RightsLeaf): void {
  const cell = cellOf(holder);
  if (cell === undefined) return; // people have no effects
  const [was, is] = [nextExpiry(before, fold.at), nextExpiry(after, fold.at)];
  if (was === is) return;
  if (was !== undefined) fold.overlay.set(timerKey(was, cell, -1, RIGHTS_TIMER), undefined);
  if (is !== undefined) fold.write(timerKey(is, cell, -1, RIGHTS_TIMER), { due: is });
}

function nextExpiry({ exercise, grant }: RightsLeaf, now: number): number | undefined {
  const times = [exercise?.expires_at, grant?.expires_at].filter((time) => time !== undefined && time > now);
  return times.length === 0 ? undefined : Math.min(...(times as number[]));
}
