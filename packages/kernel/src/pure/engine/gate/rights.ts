/**
 * Computes the rights of a holder from the whole chain above it, whenever they are needed.
 *
 * Invariants
 * H1  Nothing is copied down: a right that is revoked anywhere is gone below at once.
 * H2  A chain that is too long or broken permits nothing. It breaks where a cell's parent has ended and was made anew:
 *     the rights of the new parent are not those under which the child was made.
 * H3  A cell that ended keeps its rights and its place in the chains of its children. Approvals and reach belong to one
 *     generation: a cell made anew at the address must ask again.
 * H4  An effect is judged by the generation that emitted it. When the cell was made anew the chain is broken.
 * H5  An adapter has no rights of its own: it acts for the cell of its effect, while that is open.
 * H6  A person for whom no rights were set has those of {@link EVERYBODY}, if any were set.
 * H7  A hold is met with both sides of its holder, here and below. It only narrows: a right that a hold names is not granted
 *     by it.
 */
import { type Address, type Capability, formatAddress, type Principal } from '@reprise/contracts';
import { EVERYTHING, effectiveExercise, effectiveGrant, type HeldRights, meet } from '../../authority/index.js';
import { type App, cellAddress } from '../../define/index.js';
import { AUTHORITY_DEPTH_MAX } from '../leaf/bounds.js';
import { cellKey, effectKey, isAddress, rightsKey } from '../leaf/leaf-key.js';
import type { CellLeaf, Hold, LeafReader, RightsLeaf, WorldLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';

/** Where rights are read from: a frame that is being folded, or a world between two frames. */
export interface RightsReader {
  readonly overlay: Pick<LeafReader, 'get'>;
  readonly rules: WorldLeaf;
}

/** The principal of a cell. */
export function holderOf(cell: Address): `cell:${string}` {
  return `cell:${formatAddress(cell)}`;
}

/**
 * The cell behind a holder; undefined for another kind of holder.
 *
 * @throws Refusal `invalid_argument` for a holder in the form of a cell with an impossible name
 */
export function cellOf(holder: string): Address | undefined {
  if (!holder.startsWith('cell:')) return undefined;
  const cell = namedCell(holder);
  if (cell !== undefined) return cell;
  throw new Refusal('invalid_argument', 'invalid cell name', {
    expected: 'cell:namespace/Reducer@1/key',
    actual: holder,
  });
}

/** Whether a holder has the form of a cell but a name that no cell can have. */
export function isNobody(holder: string): boolean {
  return holder.startsWith('cell:') && namedCell(holder) === undefined;
}

/** A reducer's name has one slash, so the text after the second one is the key, whatever it contains. */
function namedCell(holder: string): Address | undefined {
  const [, reducer, key] = /^cell:([^/]+\/[^/]+)\/(.+)$/s.exec(holder) ?? [];
  const address = [reducer, key];
  return isAddress(address) ? address : undefined;
}

/** Whether a principal is an adapter, acting for one effect. */
export function isAdapter(who: string): boolean {
  return effectBehind(who) !== undefined;
}

/** The effect that an adapter acts for; undefined for other principals. */
export function effectBehind(who: string): string | undefined {
  return who.startsWith(ADAPTER) ? who.slice(ADAPTER.length) : undefined;
}

/** The cell as which a principal acts; null for an adapter without an open effect (H5), undefined for people and the operator. */
export function actorOf(fold: RightsReader, who: string): Address | null | undefined {
  const id = effectBehind(who);
  if (id === undefined) return cellOf(who);
  const effect = fold.overlay.get(effectKey(id));
  if (effect === undefined || effect.late !== undefined) return null;
  const cell: Address = [effect.plan[0], effect.plan[1]];
  return isGeneration(fold, cell, effect.inc) ? cell : null;
}

const ADAPTER = 'adapter:';

/** The newest generation of a cell, ended or not. */
export function lastGeneration(fold: RightsReader, cell: Address): number {
  return cellAt(fold, cell)?.inc ?? 0;
}

/** Whether a generation of a cell is the newest one, ended or not (H4). */
export function isGeneration(fold: RightsReader, cell: Address, inc = 0): boolean {
  return cellAt(fold, cell)?.inc === inc;
}

/** A holder in the form used in leaves: a cell by its permanent name, whichever version of it is given. */
export function holderIn(app: App, holder: Principal): Principal {
  const cell = cellOf(holder);
  return cell === undefined ? holder : holderOf(cellAddress(app, cell));
}

/** The current rights of a holder on both sides, and its account. */
export interface Authority {
  readonly exercise: Capability;
  readonly grant: Capability;
  readonly account: string | null;
}

/** The rights that were set for a holder itself; undefined when none were. */
export function declaredRights(fold: RightsReader, holder: string): RightsLeaf | undefined {
  return fold.overlay.get(rightsKey(holder));
}

/** The holder of the rights of each person for whom none were set. */
const EVERYBODY = 'human:*';

/** The rights that count for a holder itself: its own, or those of everybody (H6); undefined when none were set. */
export function ownRights(fold: RightsReader, holder: string): RightsLeaf | undefined {
  const own = declaredRights(fold, holder);
  if (own !== undefined || !holder.startsWith('human:')) return own;
  const shared = declaredRights(fold, EVERYBODY);
  return shared && { ...shared, account: null, approved: [], revision: 0 };
}

/** The effective rights of a holder, over its whole chain; undefined when the chain permits nothing (H2). */
export function authorityOf(fold: RightsReader, holder: Principal): Authority | undefined {
  const root = fold.rules.root ?? EVERYTHING;
  const holders = chainOf(fold, holder);
  if (holders === undefined) return undefined;
  const leaves = holders.map((one) => ownRights(fold, one));
  const lowest = leaves.find((leaf) => leaf !== undefined);
  if (lowest === undefined) return authorityBy(leaves, root);
  const kept = KEPT.get(lowest);
  if (kept !== undefined && kept.root === root && isSame(kept.leaves, leaves)) return kept.authority;
  const authority = authorityBy(leaves, root);
  KEPT.set(lowest, { root, leaves, authority });
  return authority;
}

type Leaves = readonly (RightsLeaf | undefined)[];

/**
 * What the leaves of a chain last came to, by the lowest of them. A leaf is replaced and never changed, so the same leaves
 * give the same authority; and when rights change, all open effects are judged again, most of them by the leaves of before.
 */
const KEPT = new WeakMap<
  RightsLeaf,
  { readonly root: Capability; readonly leaves: Leaves; readonly authority: Authority }
>();

function isSame(some: Leaves, others: Leaves): boolean {
  return some.length === others.length && some.every((leaf, i) => leaf === others[i]);
}

function authorityBy(leaves: Leaves, root: Capability): Authority {
  const chain = leaves.map(heldRights);
  const account = leaves.find((leaf) => leaf !== undefined && leaf.account !== null)?.account ?? null;
  return { exercise: effectiveExercise(chain, root), grant: effectiveGrant(chain, root), account };
}

/** Whether a cell descends from another. */
export function isBelow(fold: RightsReader, cell: Address, ancestor: Address): boolean {
  const holders = ancestorsOf(fold, cell) ?? [];
  return holders.slice(1).includes(holderOf(ancestor));
}

/** Whether the current generation of a cell was made by another cell; the next generation may have another maker. */
export function isChild(fold: RightsReader, cell: Address, of: Address): boolean {
  const child = cellAt(fold, cell);
  if (child?.parent == null || child.parent[0] !== of[0] || child.parent[1] !== of[1]) return false;
  return cellAt(fold, of)?.inc === (child.pinc ?? 0);
}

/** The generation that rights set now belong to: the current one, else the next. */
export function generationOf(fold: RightsReader, cell: Address): number {
  const leaf = cellAt(fold, cell);
  return leaf === undefined ? 0 : leaf.live ? leaf.inc : leaf.inc + 1;
}

/** The kinds with a remembered approval for the current generation of a holder (H3). */
export function approvalsOf(fold: RightsReader, holder: string): RightsLeaf['approved'] {
  const rights = declaredRights(fold, holder);
  if (rights === undefined || rights.approved.length === 0) return [];
  return isOfGeneration(fold, holder, rights) ? rights.approved : [];
}

/** Whether the approvals and the reach of a holder belong to its current generation. */
export function isOfGeneration(fold: RightsReader, holder: string, { inc = 0 }: RightsLeaf): boolean {
  const cell = cellOf(holder);
  return cell === undefined || generationOf(fold, cell) === inc;
}

function cellAt(fold: RightsReader, cell: Address): CellLeaf | undefined {
  return fold.overlay.get(cellKey(cell));
}

function chainOf(fold: RightsReader, holder: Principal): readonly string[] | undefined {
  const actor = actorOf(fold, holder);
  if (actor === null) return undefined;
  if (actor !== undefined) return ancestorsOf(fold, actor);
  return holder === 'operator' || holder === 'kernel' ? [] : [holder];
}

/** A cell and those above it, as holders; undefined when the chain is broken or too long (H2). */
export function ancestorsOf(fold: RightsReader, cell: Address): readonly string[] | undefined {
  const chain: string[] = [];
  let [at, generation]: [Address, number | undefined] = [cell, undefined];
  for (;;) {
    const leaf = cellAt(fold, at);
    if (generation !== undefined && leaf?.inc !== generation) return undefined;
    chain.push(holderOf(at));
    if (leaf === undefined || leaf.parent === null) return chain;
    if (chain.length >= AUTHORITY_DEPTH_MAX) return undefined;
    [at, generation] = [leaf.parent, leaf.pinc ?? 0];
  }
}

/** The rights of a holder with its holds (H7). */
function heldRights(leaf: RightsLeaf | undefined): HeldRights {
  const exercise = leaf?.exercise ?? EVERYTHING;
  const sides = leaf?.grant ? { exercise, grant: leaf.grant } : { exercise };
  return leaf?.holds === undefined ? sides : { ...sides, hold: metHolds(leaf.holds) };
}

/** What all holds permit together. */
export function metHolds(holds: readonly Hold[] = []): Capability {
  return holds.reduce((met, [, hold]) => meet(met, hold), EVERYTHING);
}
