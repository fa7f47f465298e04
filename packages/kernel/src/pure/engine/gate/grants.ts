/** Sets rights, and ends in the same frame the effects that they no longer permit. */
import {
  type Address,
  type Capability,
  type CommandValue,
  formatAddress,
  type Principal,
  type Receipt,
} from '@reprise/contracts';
import { covers, EVERYTHING, extend, firstExcess, leq, meet } from '../../authority/index.js';
import { encode, equalBytes } from '../../codec/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { ENDINGS_AT_ONCE } from '../leaf/bounds.js';
import { cellKey, type LeafKey, rightsKey } from '../leaf/leaf-key.js';
import type { EmissionPlace, RightsLeaf, RightsSide } from '../leaf/leaves.js';
import { Miss, Refusal } from '../leaf/signals.js';
import { chainOf } from '../ledger/accounts.js';
import {
  comparePlaces,
  isUnderWay,
  type OpenEffect,
  openEffect,
  openEffects,
  settleInFrame,
} from '../ledger/settle.js';
import { standingRefusal } from './gate.js';
import { setHold } from './holds.js';
import { reachAfter } from './reach.js';
import {
  approvalsOf,
  authorityOf,
  cellOf,
  declaredRights,
  generationOf,
  holderIn,
  holderOf,
  isAdapter,
  isBelow,
  isChild,
  ownRights,
} from './rights.js';
import { fittedCapability, NO_RIGHTS, replaceRights, watchExpiry } from './rights-leaf.js';

/** A change of rights; `remember` adds one approval to those that are remembered. */
type RightsChange = CommandValue<'sys/SetRights@1'> & { readonly remember?: readonly [string, number | null] };

/**
 * Changes a holder's rights. Open effects below it that are no longer permitted end in this frame.
 *
 * @param given a change of sides, account and approvals, or a hold by itself (see `holds.ts`)
 * @throws Refusal `invalid_argument`, `cap_denied`, `rights_exceeded`, `revision_conflict`, `account_unknown`,
 *   `bound_exceeded`
 */
export function setRights(fold: FrameFold, given: RightsChange, who: Principal, cause: number): void {
  const change = { ...given, holder: holderIn(fold.env.app, given.holder as Principal) };
  requireHolder(change.holder);
  if (change.hold !== undefined || change.granter !== undefined) {
    if (setHold(fold, change, who)) endRefused(fold, cause);
    return;
  }
  const before = ownRights(fold, change.holder) ?? NO_RIGHTS;
  if (change.revision !== undefined && change.revision !== before.revision) {
    throw new Refusal('revision_conflict', 'the rights have changed since they were read', {
      where: change.holder,
      expected: before.revision,
      actual: change.revision,
      hint: 'Read them again and repeat the change.',
    });
  }
  const after = changed(fold, before, { ...change, ...cutSides(fold, before, change, who) }, who);
  requireGranter(fold, { ...change, before, after }, who);
  const narrows = !isWithin(before, after);
  fold.govern();
  replaceRights(fold, change.holder, before, after);
  if (narrows) endRefused(fold, cause);
}

/** The rights of a holder have expired: open effects below that are no longer permitted end. */
export function rightsExpired(fold: FrameFold, cell: Address): void {
  const holder = `cell:${formatAddress(cell)}`;
  const rights = declaredRights(fold, holder);
  if (rights === undefined) return;
  watchExpiry(fold, cell, rights);
  endRefused(fold, 0);
}

/** The operator is the origin of all rights, the kernel acts for no principal, and an adapter for the cell of its effect. */
function requireHolder(holder: string): void {
  if (holder !== 'operator' && holder !== 'kernel' && !isAdapter(holder)) return;
  throw new Refusal('invalid_argument', 'no rights can be set for this principal', { where: holder });
}

/**
 * The sides of a change whose excess is cut off: of what is asked, a holder keeps what it has; a child of the granter gets what
 * the granter hands on, and keeps besides what lasts as long. What it keeps beyond that it cannot use while the granter is held.
 */
function cutSides(
  fold: FrameFold,
  before: RightsLeaf,
  change: RightsChange,
  who: Principal,
): Pick<RightsChange, RightsSide> {
  if (change.excess === undefined) return {};
  if (cellOf(who) === undefined) throw notOfCell(who);
  const stood = sidesOf(before);
  const hands = who === change.holder ? undefined : authorityOf(fold, who)?.grant;
  const cut = SIDES.flatMap((side) => {
    const asked = change[side];
    if (asked == null) return [];
    const wanted = fittedCapability(asked);
    const kept = meet(wanted, stood[side]);
    return [[side, hands === undefined ? kept : extend(meet(wanted, hands), kept)] as const];
  });
  return Object.fromEntries(cut);
}

function notOfCell(who: Principal): Refusal {
  return new Refusal('invalid_argument', 'only a cell can have the excess of a change cut off', {
    where: who,
    expected: 'a change without `excess`',
    actual: 'cut',
    hint: 'Leave `excess` out, and grant what the principal may hand on.',
  });
}

function changed(fold: FrameFold, before: RightsLeaf, change: RightsChange, who: Principal): RightsLeaf {
  const { holder, account, remember } = change;
  const known = (change.approved ?? approvalsOf(fold, holder)) as RightsLeaf['approved'];
  const approved = remember === undefined ? known : [...known.filter(([kind]) => kind !== remember[0]), remember];
  const set = SIDES.filter((side) => change[side] !== undefined);
  const sides = {
    exercise: change.exercise === undefined ? before.exercise : fitted(change.exercise),
    grant: change.grant === undefined ? before.grant : fitted(change.grant),
  };
  const reach = reachAfter(fold, { holder, before, after: sides }, set, cellOf(who) !== undefined);
  const cell = approved.length + reach.length === 0 ? undefined : cellOf(holder);
  const inc = cell === undefined ? 0 : generationOf(fold, cell);
  return {
    ...sides,
    account: account === undefined ? before.account : account,
    approved,
    ...(before.holds === undefined ? {} : { holds: before.holds }),
    ...(reach.length === 0 ? {} : { reach }),
    ...(inc === 0 ? {} : { inc }),
    revision: before.revision + 1,
  };
}

function fitted(capability: Capability | null): Capability | null {
  return capability === null ? null : fittedCapability(capability);
}

/** Whether all earlier permissions remain. */
function isWithin(before: RightsLeaf, after: RightsLeaf): boolean {
  const [was, is] = [sidesOf(before), sidesOf(after)];
  return leq(was.exercise, is.exercise) && leq(was.grant, is.grant);
}

/** Both sides in effect: a side that is not narrowed is everything, and a holder without a grant side hands on its own. */
function sidesOf({ exercise, grant }: RightsLeaf): { readonly exercise: Capability; readonly grant: Capability } {
  return { exercise: exercise ?? EVERYTHING, grant: grant ?? exercise ?? EVERYTHING };
}

/** A change of rights, in the form that is judged. */
interface Judged {
  readonly holder: string;
  readonly before: RightsLeaf;
  readonly after: RightsLeaf;
  /** The remembered approval, when an approver decided so. */
  readonly remember?: RightsChange['remember'];
  /** The sides were cut to what the granter hands on. */
  readonly excess?: RightsChange['excess'];
}

/**
 * Rules for changing rights. The operator may do anything. People act within their grant side, and can only narrow their
 * own rights. A cell acts on cells below it within its grant side; it widens only its own children and narrows itself.
 * Approvals are added by the operator, and by an approver that has its decision remembered.
 */
function requireGranter(fold: FrameFold, change: Judged, who: Principal): void {
  if (who === 'operator') {
    const { exercise, grant } = change.after;
    for (const side of [exercise, grant]) if (side) requireWithin(side, fold.rules.root ?? EVERYTHING, change.holder);
    return requireAccount(fold, change, null);
  }
  const granter = cellOf(who);
  if (granter === undefined) requirePerson(change, who);
  else requireAbove(fold, change, granter);
  const mine = authorityOf(fold, who);
  if (mine === undefined) throw new Refusal('cap_denied', 'the principal has no rights to hand on', { where: who });
  if (who !== change.holder && change.excess === undefined) requireGranted(change, mine.grant, granter !== undefined);
  else if (granter === undefined) requireNarrower(change);
  const self = who === change.holder;
  requireAccount(fold, change, { account: mine.account, frees: granter !== undefined && !self });
}

/** People may change rights; an adapter acts for one effect and grants nothing. */
function requirePerson({ before, after, remember }: Judged, who: Principal): void {
  const adds = remember === undefined && !coversApproved(before, after);
  if (who.startsWith('human:') && !adds) return;
  throw new Refusal('cap_denied', 'the principal may not change rights or add a remembered approval', {
    where: who,
    hint: 'Only people change rights by themselves, and an approval is remembered only with a decision: `remember`.',
  });
}

function requireAbove(fold: FrameFold, { holder, before, after }: Judged, granter: Address): void {
  const cell = cellOf(holder);
  const narrows = isWithin(after, before) && coversApproved(before, after);
  const self = holder === holderOf(granter);
  const own = cell !== undefined && isChild(fold, cell, granter);
  const above = cell !== undefined && isBelow(fold, cell, granter);
  if ((self || above) && narrows) return;
  if (own && above && coversApproved(before, after)) return;
  throw new Refusal('cap_denied', 'the cell may not make this change of rights', {
    where: holder,
    expected: 'rights of a cell below it, or narrower rights of its own, without new approvals',
    hint: 'A cell may widen only the rights of its own children.',
  });
}

/** Whether every later approval existed before, and for as long. */
function coversApproved(before: RightsLeaf, after: RightsLeaf): boolean {
  const lasts = (was: number | null, is: number | null) => was === null || (is !== null && is <= was);
  return after.approved.every(([kind, until]) =>
    before.approved.some(([known, was]) => covers(known, kind) && lasts(was, until)),
  );
}

const SIDES = ['exercise', 'grant'] as const;

/** No changed right exceeds the granter's own. Where a cell sets no bound the chain above it does. */
function requireGranted({ holder, before, after }: Judged, limit: Capability, isCell: boolean): void {
  const is = sidesOf(after);
  for (const side of SIDES) {
    const same = equalBytes(encode(before[side]), encode(after[side]));
    if (!same && !(isCell && after[side] === null)) requireWithin(is[side], limit, holder);
  }
}

function requireNarrower({ holder, before, after }: Judged): void {
  const [was, is] = [sidesOf(before), sidesOf(after)];
  requireWithin(is.exercise, was.exercise, holder);
  requireWithin(is.grant, was.grant, holder);
}

function requireWithin(side: Capability, limit: Capability, holder: string): void {
  const excess = firstExcess(side, limit);
  if (excess === undefined) return;
  throw new Refusal('rights_exceeded', 'the rights exceed what may be handed on here', {
    ...excess,
    where: `${holder} ${excess.where}`,
    hint: 'Grant within the rights of the granter, or widen those first.',
  });
}

/**
 * The operator changes the account of a holder at will. Others move it within the account that pays for them: no holder
 * leaves its account, and one without an account has none to assign. A cell may reset one below it to its own account.
 */
function requireAccount(
  fold: FrameFold,
  { before, after }: Judged,
  granter: { readonly account: string | null; readonly frees: boolean } | null,
): void {
  if (after.account === before.account) return;
  const chain = after.account === null ? [] : chainOf(fold, after.account);
  const where = `account ${after.account}`;
  if (chain === undefined) {
    throw new Refusal('account_unknown', 'the account does not exist', {
      where,
      hint: 'Create it first with sys/SetAccount@1.',
    });
  }
  if (granter === null) return;
  const above = after.account === null && granter.frees; // the granter's account will pay
  const within = chain.some(([name]) => name === granter.account);
  if (!above && !within) {
    throw new Refusal('cap_denied', 'the principal may not charge this account', { where });
  }
}

/**
 * Checks whether every open effect is still permitted; the first refusal ends an effect. The rest of a large check runs
 * in `continue` frames, before anything else, so that no forbidden effect can be used meanwhile.
 *
 * @param after where the frame before stopped
 */
export function endRefused(fold: FrameFold, cause: number, after: EmissionPlace = BEFORE_ALL): void {
  const open = openEffects(fold, ({ queued }) => comparePlaces(queued, after) > 0);
  const asked = open.slice(0, ENDINGS_AT_ONCE - fold.judged); // of the frame, however often rights change in it
  fold.judged += asked.length;
  fold.ending = open.length > asked.length ? (asked.at(-1)?.leaf.queued ?? after) : undefined;
  requireLoaded(fold, asked);
  for (const { id } of asked) {
    const effect = openEffect(fold, id);
    const definition = effect === undefined ? undefined : fold.env.app.effects.get(effect.name);
    if (effect === undefined || definition === undefined) continue;
    const code = standingRefusal(fold, effect, definition);
    if (code === undefined) continue;
    const started = effect.attempt > 0;
    const receipt: Receipt = {
      adapter: 'gate',
      status: started ? 'cancelled' : 'denied',
      code: code === 'cap_denied' ? 'cap_denied/revoked' : code,
      attempts: effect.attempt,
    };
    const by = isUnderWay(effect) || started ? 'revoked' : 'gate';
    // The number of existing effects is bounded: ending them is not a runaway, and does not count as one.
    settleInFrame(fold, id, effect, { by, receipt, apart: effect.queued[0] < fold.began }, cause);
  }
}

/** No effect is emitted by the ingress of a frame: no effect has this place, and all have later ones. */
const BEFORE_ALL: EmissionPlace = [0, 0];

/** Requests all cold leaves at once: one by one, a world of n cold cells would be folded n times. */
function requireLoaded(fold: FrameFold, open: readonly OpenEffect[]): void {
  const cold = new Map<string, LeafKey>();
  for (const {
    leaf: { plan },
  } of open) {
    const cell: Address = [plan[0], plan[1]];
    for (const key of [cellKey(cell), rightsKey(holderOf(cell))]) if (isCold(fold, key)) cold.set(key.id, key);
  }
  const [first, ...rest] = cold.values();
  if (first !== undefined) throw new Miss(first, rest);
}

function isCold(fold: FrameFold, key: LeafKey): boolean {
  try {
    fold.overlay.get(key);
    return false;
  } catch (thrown) {
    if (thrown instanceof Miss) return true;
    throw thrown;
  }
}
