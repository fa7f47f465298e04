/**
 * Reach: which rights let a cell send to cells that are no kin of it.
 *
 * Invariants
 * R1  A side that names `send` narrows. It gives reach besides only where the operator or a person named it: a cell that
 *     names `send`, for itself or for a cell below, reaches no more afterwards than before.
 * R2  A side that gives reach still gives it after a cell has narrowed its `send`, and not after a cell has widened it.
 * R3  A cell reaches what its exercise side gives, the grant side of a cell above it, or the root. A hold gives nothing.
 * R4  Reach belongs to one generation of its holder, as approvals do.
 */
import type { Address, Capability } from '@reprise/contracts';
import { leq } from '../../authority/index.js';
import type { RightsLeaf, RightsSide } from '../leaf/leaves.js';
import { ancestorsOf, cellOf, declaredRights, isGeneration, isOfGeneration, type RightsReader } from './rights.js';

/** Both sides as they are set; null where one is not narrowed. */
type Sides = Pick<RightsLeaf, RightsSide>;

/** What says whether a side gives reach. */
type Giving = Pick<RightsLeaf, 'grant' | 'reach'>;

const SIDES: readonly RightsSide[] = ['exercise', 'grant'];

/**
 * Whether the rights of a cell give it reach (R3). Which cells it then reaches its effective rights say, so this is asked
 * behind their check.
 */
export function hasReach(fold: RightsReader, cell: Address): boolean {
  if (sendsOf(fold.rules.root ?? null) !== undefined) return true;
  const [own, ...above] = ancestorsOf(fold, cell) ?? [];
  if (own === undefined) return false;
  return givesReach(fold, own, 'exercise') || above.some((holder) => givesReach(fold, holder, 'grant'));
}

/**
 * The sides of a holder that give reach after a change.
 *
 * @param set the sides that the change sets
 * @param byCell whether a cell makes the change (R1)
 */
export function reachAfter(
  fold: RightsReader,
  { holder, before, after }: { readonly holder: string; readonly before: RightsLeaf; readonly after: Sides },
  set: readonly RightsSide[],
  byCell: boolean,
): readonly RightsSide[] {
  if (cellOf(holder) === undefined) return []; // people reach every cell that their rights permit
  const had = isOfGeneration(fold, holder, before) ? before : { ...before, reach: [] };
  return SIDES.filter((side) => {
    if (sendsOf(after[side]) === undefined) return false;
    return (!byCell && set.includes(side)) || (gives(had, side) && isWithin(after[side], had[sourceOf(had, side)]));
  });
}

/** The sides that give reach in both of two rights of one generation, which are met: a fork keeps no more. */
export function metReach(one: Giving, other: Giving, met: Sides): readonly RightsSide[] {
  return SIDES.filter((side) => sendsOf(met[side]) !== undefined && gives(one, side) && gives(other, side));
}

// R4
function givesReach(fold: RightsReader, holder: string, side: RightsSide): boolean {
  const [leaf, cell] = [declaredRights(fold, holder), cellOf(holder)];
  return leaf !== undefined && cell !== undefined && isGeneration(fold, cell, leaf.inc) && gives(leaf, side);
}

function gives(leaf: Giving, side: RightsSide): boolean {
  return leaf.reach?.includes(sourceOf(leaf, side)) === true;
}

/** A holder without a grant side hands on its own. */
function sourceOf({ grant }: Pick<RightsLeaf, 'grant'>, side: RightsSide): RightsSide {
  return grant === null ? 'exercise' : side;
}

/** Whether one side permits no send that another does not. */
function isWithin(one: Capability | null, other: Capability | null): boolean {
  const sends = (side: Capability | null): Capability => {
    const patterns = sendsOf(side);
    return { may: patterns === undefined ? {} : { send: patterns } };
  };
  return leq(sends(one), sends(other));
}

function sendsOf(side: Capability | null): Capability['may'][string] | undefined {
  return side !== null && Object.hasOwn(side.may, 'send') ? side.may.send : undefined;
}
