/**
 * Who may do what: the rights of a holder, computed from the whole chain above it whenever they are asked for.
 *
 * Invariants
 * H1  Nothing is copied down: a right that is taken away anywhere is gone below at once.
 * H2  A chain that is too long or broken permits nothing. It breaks where a cell's parent has ended and was made anew:
 *     the new one's rights are not those under which the child was made.
 * H3  A cell that ended keeps its place in the chains of its children, and its rights.
 */
import {
  type Address,
  type Capability,
  formatAddress,
  type Principal,
  parseAddress,
  type Rights,
} from '@reprise/contracts';
import { EVERYTHING, effectiveExercise, effectiveGrant } from '../authority/index.js';
import { decode } from '../codec/index.js';
import { cellKey, rightsKey } from './leaf-key.js';
import type { CellLeaf, LeafReader, RightsLeaf, WorldLeaf } from './leaves.js';
import { AUTHORITY_DEPTH_MAX } from './limits.js';

/** What rights are read from: a frame that is being folded, or a world between two frames. */
export interface RightsReader {
  readonly overlay: Pick<LeafReader, 'get'>;
  readonly rules: WorldLeaf;
}

/** A cell as whoever it acts. */
export function holderOf(cell: Address): `cell:${string}` {
  return `cell:${formatAddress(cell)}`;
}

/** The cell behind a holder; undefined when it is no cell. */
export function cellOf(holder: string): Address | undefined {
  return holder.startsWith('cell:') ? parseAddress(holder.slice('cell:'.length)) : undefined;
}

/** What a holder may do and hand on now, and what pays for it. */
export interface Authority {
  readonly exercise: Capability;
  readonly grant: Capability;
  readonly account: string | null;
}

/** The rights that were set for a holder itself; undefined when none were. */
export function declaredRights(fold: RightsReader, holder: string): RightsLeaf | undefined {
  const bytes = fold.overlay.get(rightsKey(holder));
  return bytes === undefined ? undefined : (decode(bytes) as unknown as RightsLeaf);
}

/** What a holder may, by its whole chain; undefined when the chain permits nothing (H2). */
export function authorityOf(fold: RightsReader, holder: Principal): Authority | undefined {
  const root = fold.rules.root ?? EVERYTHING;
  const holders = chainOf(fold, holder);
  if (holders === undefined) return undefined;
  const leaves = holders.map((one) => declaredRights(fold, one));
  const chain = leaves.map(rightsOf);
  const account = leaves.find((leaf) => leaf !== undefined && leaf.account !== null)?.account ?? null;
  return { exercise: effectiveExercise(chain, root), grant: effectiveGrant(chain, root), account };
}

/** Whether a cell descends from another. */
export function isBelow(fold: RightsReader, cell: Address, ancestor: Address): boolean {
  const holders = ancestorsOf(fold, cell) ?? [];
  return holders.slice(1).includes(holderOf(ancestor));
}

/** The cell that made this one, as the chain of authority knows it. */
export function parentOf(fold: RightsReader, cell: Address): Address | null {
  const bytes = fold.overlay.get(cellKey(cell));
  return bytes === undefined ? null : (decode(bytes) as unknown as CellLeaf).parent;
}

function chainOf(fold: RightsReader, holder: Principal): readonly string[] | undefined {
  const cell = cellOf(holder);
  if (cell !== undefined) return ancestorsOf(fold, cell);
  return holder === 'host' || holder === 'kernel' ? [] : [holder];
}

/** A cell and those above it, as holders; undefined when the chain is broken or too long (H2). */
function ancestorsOf(fold: RightsReader, cell: Address): readonly string[] | undefined {
  const chain: string[] = [];
  let [at, incarnation]: [Address, number | undefined] = [cell, undefined];
  for (;;) {
    const bytes = fold.overlay.get(cellKey(at));
    const leaf = bytes === undefined ? undefined : (decode(bytes) as unknown as CellLeaf);
    if (incarnation !== undefined && leaf?.inc !== incarnation) return undefined;
    chain.push(holderOf(at));
    if (leaf === undefined || leaf.parent === null) return chain;
    if (chain.length >= AUTHORITY_DEPTH_MAX) return undefined;
    [at, incarnation] = [leaf.parent, leaf.pinc ?? 0];
  }
}

function rightsOf(leaf: RightsLeaf | undefined): Rights {
  const exercise = leaf?.exercise ?? EVERYTHING;
  return leaf?.grant ? { exercise, grant: leaf.grant } : { exercise };
}
