/**
 * Begins a fork: from this frame on the world is a new one, which shares its past with the original.
 *
 * Invariants
 * K1  No effect of the past is executed: every open effect is settled here, with the receipts in the ingress.
 * K2  The world has a new id, so its effects differ from the original's; its seed stays, so that the same
 *     inputs lead to the same identifiers.
 * K3  Going back restores no right: in a live fork no holder may do more than at the cut and at the original's head, nor
 *     more than the root was granted, and no account has spent less than it had at either.
 */
import type { Account, Amounts, Capability, IngressOf, InheritedRights } from '@reprise/contracts';
import { EVERYTHING, meet } from '../../authority/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { byGranter, isOfGranter } from '../gate/holds.js';
import { metReach } from '../gate/reach.js';
import { ownRights } from '../gate/rights.js';
import { NO_RIGHTS, replaceRights } from '../gate/rights-leaf.js';
import { accountKey, effectKey, PENDING_KEY, WORLD_KEY } from '../leaf/leaf-key.js';
import type { Hold, RightsLeaf, RightsSide, WorldLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';
import { openEffect, settleInFrame } from '../ledger/settle.js';

/**
 * Applies a fork ingress.
 *
 * @throws Refusal `invalid_argument` when it belongs to another world, or does not settle exactly the open effects
 */
export function beginFork(fold: FrameFold, ingress: IngressOf<'fork'>): void {
  requireCut(fold, ingress);
  settleOpen(fold, ingress);
  const { fork: _before, ...rules } = fold.rules;
  const { world, from, mode, origins, recorded } = ingress;
  const root = ingress.root === undefined ? {} : { root: meet(rules.root ?? EVERYTHING, ingress.root) };
  const leaf: WorldLeaf = { ...rules, ...root, world, fork: { from, mode, origins, recorded } };
  fold.overlay.set(WORLD_KEY, leaf);
  fold.world = leaf;
  if (ingress.root !== undefined) fold.govern();
  for (const [holder, rights] of ingress.rights) meetRights(fold, holder, rights);
  for (const [name, account] of ingress.accounts) takeAccount(fold, name, account);
}

function requireCut(fold: FrameFold, { from, seq }: IngressOf<'fork'>): void {
  const whole = fold.overlay.get(PENDING_KEY) === undefined;
  if (whole && from.seq === seq - 1 && from.world === fold.rules.world) return;
  throw new Refusal('invalid_argument', whole ? 'the fork belongs to another world' : 'the fork falls into a cascade', {
    where: `frame ${seq}`,
    expected: fold.rules.world,
    actual: from.world,
  });
}

// K1
function settleOpen(fold: FrameFold, { settled }: IngressOf<'fork'>): void {
  for (const [id, receipt] of settled) {
    const effect = openEffect(fold, id);
    if (effect === undefined) throw notAsOpen(`effect ${id} is not open`);
    settleInFrame(fold, id, effect, { by: 'fork', receipt, over: true }, 0);
  }
  for (const { key, leaf } of fold.overlay.list('effect')) {
    if (leaf.late === undefined) throw notAsOpen(`effect ${String(key.path[1])} is open`);
    fold.overlay.set(effectKey(String(key.path[1])), undefined); // its adapter answers the original
  }
}

function notAsOpen(what: string): Refusal {
  return new Refusal('invalid_argument', 'the fork must settle exactly the open effects', { actual: what });
}

/** K3: each side is intersected with the head's; an approval stays remembered when both have it, a hold when one has it. */
function meetRights(fold: FrameFold, holder: string, head: InheritedRights): void {
  const before = ownRights(fold, holder) ?? NO_RIGHTS;
  const own = [before.grant, head.grant].every((side) => side === null);
  const sides = {
    exercise: meetSides(before.exercise, head.exercise),
    grant: own ? null : meetSides(before.grant ?? before.exercise, head.grant ?? head.exercise),
  };
  const after: RightsLeaf = {
    ...sides,
    account: head.account ?? before.account,
    ...meetHolds(before.holds ?? [], (head.holds ?? []) as readonly Hold[]),
    ...meetOfGeneration(before, head, sides),
    revision: before.revision + 1,
  };
  replaceRights(fold, holder, before, after);
}

/** What belongs to one generation of the holder stays where both have it of the same one. */
function meetOfGeneration(
  before: RightsLeaf,
  head: InheritedRights,
  sides: Pick<RightsLeaf, RightsSide>,
): Pick<RightsLeaf, 'approved' | 'reach' | 'inc'> {
  if (before.inc !== head.inc) return { approved: [] };
  const approved = before.approved.flatMap(([kind, until]) =>
    head.approved.filter(([same]) => same === kind).map(([, end]) => [kind, earlier(until, end)] as const),
  );
  const reach = metReach(before, head, sides);
  const isBound = before.inc !== undefined && approved.length + reach.length > 0;
  return { approved, ...(reach.length === 0 ? {} : { reach }), ...(isBound ? { inc: before.inc } : {}) };
}

/** Every hold of either; of a granter of one generation that has one in both, what both permit. */
function meetHolds(cut: readonly Hold[], head: readonly Hold[]): Pick<RightsLeaf, 'holds'> {
  const known = (one: Hold) => cut.find((own) => isOfGranter(own, one));
  const changed = head.map((one): Hold => [one[0], meet(known(one)?.[1] ?? EVERYTHING, one[1]), one[2]]);
  const kept = cut.filter((own) => !head.some((one) => isOfGranter(own, one)));
  const holds = [...kept, ...changed].sort(byGranter);
  return holds.length === 0 ? {} : { holds };
}

/** Null means a side that is not narrowed. */
function meetSides(a: Capability | null, b: Capability | null): Capability | null {
  return a === null && b === null ? null : meet(a ?? EVERYTHING, b ?? EVERYTHING);
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function takeAccount(fold: FrameFold, name: string, { parent, limits, spent }: Account): void {
  const known = fold.overlay.get(accountKey(name));
  fold.overlay.set(accountKey(name), {
    parent: known === undefined ? parent : known.parent,
    limits,
    spent: larger(known?.spent ?? {}, spent),
    reserved: known?.reserved ?? {},
  });
}

function larger(a: Amounts, b: Amounts): Amounts {
  const units = Object.keys({ ...a, ...b });
  return Object.fromEntries(units.map((unit) => [unit, Math.max(of(a, unit), of(b, unit))]));
}

function of(amounts: Amounts, unit: string): number {
  return Object.hasOwn(amounts, unit) ? (amounts[unit] ?? 0) : 0;
}
