/**
 * Holds: rights that are cut from above, whatever state the holder's cell is in.
 *
 * Invariants
 * O1  A hold is set by a cell above its holder, or by the operator: within no grant and without a version, since it can only
 *     narrow.
 * O2  Each granter has one hold on a holder, and replaces it at will.
 * O3  Its granter, a cell above its granter, and the operator lift it. Sides that are set later leave it as it is, and so
 *     does another generation of the holder.
 * O4  The granter is a cell in one generation. A later cell at its address is another granter, and neither it nor what
 *     stands above it lifts or replaces the hold: only the operator can.
 */
import type { Address, Capability, CommandValue, Principal } from '@reprise/contracts';
import { leq } from '../../authority/index.js';
import { encode, equalBytes } from '../../codec/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { HOLDS_MAX } from '../leaf/bounds.js';
import type { Hold, RightsLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';
import { cellOf, declaredRights, holderIn, isBelow, lastGeneration, metHolds } from './rights.js';
import { fittedCapability, NO_RIGHTS, replaceRights } from './rights-leaf.js';

type HoldChange = CommandValue<'sys/SetRights@1'> & { readonly holder: Principal };

/**
 * Sets or lifts a hold.
 *
 * @param who the granter, or a principal that lifts the hold of another granter
 * @returns whether something is no longer permitted
 * @throws Refusal `invalid_argument`, `cap_denied`, `bound_exceeded`
 */
export function setHold(fold: FrameFold, change: HoldChange, who: Principal): boolean {
  const cell = requireHold(change);
  const { holder, hold, granter } = change;
  const of = granter === undefined ? who : holderIn(fold.env.app, granter as Principal);
  const before = declaredRights(fold, holder) ?? NO_RIGHTS;
  if (hold == null) requireLifter(fold, before.holds ?? [], of, who);
  else requireAbove(fold, cell, who);
  const holds = replaced(fold, before.holds ?? [], { of, who, hold });
  if (equalBytes(encode(holds as never), encode((before.holds ?? []) as never))) return false;
  requireRoom(holds, holder);
  const { holds: _before, ...rest } = before;
  const after: RightsLeaf = { ...rest, ...(holds.length === 0 ? {} : { holds }) };
  fold.govern();
  replaceRights(fold, holder, before, after);
  return !leq(metHolds(before.holds), metHolds(holds));
}

/** Only cells are held: a person is below nobody but the operator, who sets the sides themselves. */
function requireHold({ holder, hold, granter, ...rest }: HoldChange): Address {
  const others = Object.keys(rest);
  const cell = cellOf(holder);
  const isLift = hold === null || granter === undefined;
  if (cell !== undefined && others.length === 0 && hold !== undefined && isLift) return cell;
  throw new Refusal('invalid_argument', 'invalid hold', {
    where: holder,
    expected: 'a cell as the holder, `hold` without other changes, and `granter` only with `hold: null`',
    actual: others.length === 0 ? holder : others.join(', '),
    hint: 'A hold is set by itself and needs no revision.',
  });
}

// O1
function requireAbove(fold: FrameFold, cell: Address, who: Principal): void {
  if (who === 'operator') return;
  const granter = cellOf(who);
  if (granter !== undefined && isBelow(fold, cell, granter)) return;
  throw new Refusal('cap_denied', 'the principal may not hold this cell', {
    where: who,
    expected: 'a cell above the holder, or the operator',
    actual: who,
    hint: 'A holder narrows its own sides; people ask an entity above it.',
  });
}

// O3, O4
function requireLifter(fold: FrameFold, holds: readonly Hold[], granter: Principal, who: Principal): void {
  if (who === 'operator') return;
  const [of, by] = [cellOf(granter), cellOf(who)];
  const isOver = by !== undefined && (granter === who || (of !== undefined && isBelow(fold, of, by)));
  const present = presentOf(fold, granter);
  const ofGranter = holds.filter(([one]) => one === granter);
  const isEarlier = ofGranter.length > 0 && !ofGranter.some((one) => isOfGranter(one, present));
  if (isOver && !isEarlier) return;
  throw new Refusal('cap_denied', 'the principal may not lift this hold', {
    where: granter,
    expected: 'the granter in the generation that set it, a cell above it, or the operator',
    actual: who,
  });
}

function requireRoom(holds: readonly Hold[], holder: string): void {
  if (holds.length <= HOLDS_MAX) return;
  throw new Refusal('bound_exceeded', 'the cell has too many holds', {
    where: holder,
    expected: `at most ${HOLDS_MAX}`,
    actual: holds.length,
    hint: 'The operator lifts those of granters that no longer stand above it.',
  });
}

/** A change of the holds of one granter. */
interface Replacement {
  readonly of: Principal;
  readonly who: Principal;
  readonly hold: Capability | null | undefined;
}

/** O2, O4: the operator lifts those of every generation. */
function replaced(fold: FrameFold, holds: readonly Hold[], { of, who, hold }: Replacement): readonly Hold[] {
  const present = presentOf(fold, of);
  if (hold == null && who === 'operator') return holds.filter(([granter]) => granter !== of);
  const others = holds.filter((one) => !isOfGranter(one, present));
  if (hold == null) return others;
  return [...others, [of, fittedCapability(hold), present[2]] as const].sort(byGranter);
}

/** A granter in its present generation. */
type Granter = readonly [granter: Principal, unused: unknown, inc: number];

function presentOf(fold: FrameFold, granter: Principal): Granter {
  const cell = cellOf(granter);
  return [granter, null, cell === undefined ? 0 : lastGeneration(fold, cell)];
}

/** Whether a hold is of a granter, in one generation. */
export function isOfGranter([of, , inc]: Granter, [granter, , by]: Granter): boolean {
  return of === granter && inc === by;
}

/** The order of holds in a leaf. */
export function byGranter([a, , one]: Granter, [b, , other]: Granter): number {
  return a === b ? one - other : a < b ? -1 : 1;
}
