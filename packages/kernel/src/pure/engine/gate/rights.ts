/**
 * Who may do what: the rights of a holder, computed from the whole chain above it whenever they are asked for.
 *
 * Invariants
 * H1  Nothing is copied down: a right that is taken away anywhere is gone below at once.
 * H2  A chain that is too long or broken permits nothing. It breaks where a cell's parent has ended and was made anew:
 *     the new one's rights are not those under which the child was made.
 * H3  A cell that ended keeps its place in the chains of its children, and its rights. Approvals are given to one
 *     generation: who is made anew in its place asks again.
 * H4  An effect is judged by the generation that emitted it. When another stands in its place the chain is broken.
 * H5  An adapter has no rights of its own: it acts for the cell of its effect, while that is open.
 */
import { type Address, type Capability, formatAddress, type Principal, type Rights } from '@reprise/contracts';
import { EVERYTHING, effectiveExercise, effectiveGrant } from '../../authority/index.js';
import { decode } from '../../codec/index.js';
import { type App, cellAddress } from '../../define/index.js';
import { AUTHORITY_DEPTH_MAX } from '../leaf/bounds.js';
import { cellKey, effectKey, isAddress, rightsKey } from '../leaf/leaf-key.js';
import type { CellLeaf, EffectLeaf, LeafReader, RightsLeaf, WorldLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';

/** What rights are read from: a frame that is being folded, or a world between two frames. */
export interface RightsReader {
  readonly overlay: Pick<LeafReader, 'get'>;
  readonly rules: WorldLeaf;
}

/** A cell as whoever it acts. */
export function holderOf(cell: Address): `cell:${string}` {
  return `cell:${formatAddress(cell)}`;
}

/**
 * The cell behind a holder; undefined when it is no cell.
 *
 * @throws Refusal `invalid_argument` when it says that it is one and no cell can have this name
 */
export function cellOf(holder: string): Address | undefined {
  if (!holder.startsWith('cell:')) return undefined;
  const cell = namedCell(holder);
  if (cell !== undefined) return cell;
  throw new Refusal('invalid_argument', 'no cell has this name', {
    expected: 'cell:namespace/Reducer@1/key',
    actual: holder,
  });
}

/** Whether a holder is none, since it says that it is a cell and no cell can have this name. */
export function isNobody(holder: string): boolean {
  return holder.startsWith('cell:') && namedCell(holder) === undefined;
}

/** A reducer's name has one slash, so what comes after the second is the key, whatever it looks like. */
function namedCell(holder: string): Address | undefined {
  const [, reducer, key] = /^cell:([^/]+\/[^/]+)\/(.+)$/s.exec(holder) ?? [];
  const address = [reducer, key];
  return isAddress(address) ? address : undefined;
}

/** Whether somebody speaks for an effect, and for nothing else. */
export function isAdapter(who: string): boolean {
  return effectBehind(who) !== undefined;
}

/** The effect that somebody speaks for; undefined when they speak for none. */
export function effectBehind(who: string): string | undefined {
  return who.startsWith(ADAPTER) ? who.slice(ADAPTER.length) : undefined;
}

/** The cell as which somebody acts; null for an adapter whose effect is not open (H5), undefined for people and the host. */
export function actorOf(fold: RightsReader, who: string): Address | null | undefined {
  const id = effectBehind(who);
  if (id === undefined) return cellOf(who);
  const bytes = fold.overlay.get(effectKey(id));
  const effect = bytes === undefined ? undefined : (decode(bytes) as unknown as EffectLeaf);
  if (effect === undefined || effect.late !== undefined) return null;
  const cell: Address = [effect.plan[0], effect.plan[1]];
  return isGeneration(fold, cell, effect.inc) ? cell : null;
}

const ADAPTER = 'adapter:';

/** The generation of a cell that was made last, ended or not. */
export function lastGeneration(fold: RightsReader, cell: Address): number {
  return cellAt(fold, cell)?.inc ?? 0;
}

/** Whether the generation of a cell is the last one that was made there, ended or not (H4). */
export function isGeneration(fold: RightsReader, cell: Address, inc = 0): boolean {
  return cellAt(fold, cell)?.inc === inc;
}

/** A holder as leaves name it: a cell by the name that its address keeps, whichever version of it is given. */
export function holderIn(app: App, holder: Principal): Principal {
  const cell = cellOf(holder);
  return cell === undefined ? holder : holderOf(cellAddress(app, cell));
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

/** Whether a cell was made by another, in the generation that stands there now: the next one is a stranger. */
export function isChild(fold: RightsReader, cell: Address, of: Address): boolean {
  const child = cellAt(fold, cell);
  if (child?.parent == null || child.parent[0] !== of[0] || child.parent[1] !== of[1]) return false;
  return cellAt(fold, of)?.inc === (child.pinc ?? 0);
}

/** The generation of a cell that rights of now are for: the one that is there, else the next. */
export function generationOf(fold: RightsReader, cell: Address): number {
  const leaf = cellAt(fold, cell);
  return leaf === undefined ? 0 : leaf.live ? leaf.inc : leaf.inc + 1;
}

/** The kinds whose approval is remembered for a holder as it is now (H3). */
export function approvalsOf(fold: RightsReader, holder: string): RightsLeaf['approved'] {
  const rights = declaredRights(fold, holder);
  if (rights === undefined || rights.approved.length === 0) return [];
  const cell = cellOf(holder);
  return cell === undefined || generationOf(fold, cell) === (rights.inc ?? 0) ? rights.approved : [];
}

function cellAt(fold: RightsReader, cell: Address): CellLeaf | undefined {
  const bytes = fold.overlay.get(cellKey(cell));
  return bytes === undefined ? undefined : (decode(bytes) as unknown as CellLeaf);
}

function chainOf(fold: RightsReader, holder: Principal): readonly string[] | undefined {
  const actor = actorOf(fold, holder);
  if (actor === null) return undefined;
  if (actor !== undefined) return ancestorsOf(fold, actor);
  return holder === 'operator' || holder === 'kernel' ? [] : [holder];
}

/** A cell and those above it, as holders; undefined when the chain is broken or too long (H2). */
function ancestorsOf(fold: RightsReader, cell: Address): readonly string[] | undefined {
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

function rightsOf(leaf: RightsLeaf | undefined): Rights {
  const exercise = leaf?.exercise ?? EVERYTHING;
  return leaf?.grant ? { exercise, grant: leaf.grant } : { exercise };
}
