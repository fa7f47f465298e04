/** Checks the sender of an event against the declaration of its reducer: what `matchSender` needs to know of a delivery. */
import { cellName, type EventDefinition, matchSender, type SenderFacts, type SenderRow } from '../../define/index.js';
import type { EventDelivery, FrameFold } from '../frame/frame-fold.js';
import { effectBehind, holderOf, isBelow, isChild, isGeneration } from '../gate/rights.js';
import { effectKey, isCellKey } from '../leaf/leaf-key.js';
import type { CellLeaf } from '../leaf/leaves.js';
import { Rejected } from '../leaf/signals.js';
import type { CellTables } from '../table/cell-tables.js';

/** One delivery, and its receiver. */
interface Delivered {
  readonly fold: FrameFold;
  readonly delivery: EventDelivery;
  /** The receiver; it is being made while it has no delivery behind it. */
  readonly cell: CellLeaf;
  readonly tables: CellTables;
}

/**
 * Refuses a sender that the event does not declare. A notice of the kernel has no declaration.
 *
 * @returns the row of the sender, where the form that matches finds one
 * @throws Rejected `not_yours`; Miss when a leaf must be loaded first
 */
export function requireDeclaredSender({ from }: EventDefinition, delivered: Delivered): SenderRow | undefined {
  if (from === undefined || delivered.delivery.notice) return undefined;
  const found = matchSender(from, factsOf(delivered));
  if (found === undefined) throw new Rejected('not_yours');
  return found === 'no_row' ? undefined : found;
}

function factsOf({ fold, delivery, cell, tables }: Delivered): SenderFacts {
  const { from, to, event } = delivery;
  const isNew = cell.n === 0;
  return {
    from,
    to,
    value: event.value,
    state: isNew ? undefined : cell.state,
    cellName: (reducer) => cellName(fold.env.app, reducer),
    isOutside: () => isOutside(fold, delivery),
    isOwnAdapter: () => isOwnAdapter(fold, delivery),
    isOwnRequest: () => isOwnRequest(fold, delivery),
    // A cell that is being made has its maker as the sender. A later generation of the maker is another cell.
    isMaker: (of) => (isNew ? true : of === null ? cell.parent === null : isChild(fold, to, of)),
    isAbove: (above) => isNew || isBelow(fold, to, above),
    row: (table, key) => (isCellKey(key) ? tables.open(table).get(key) : undefined),
  };
}

/** A person or the operator: not an adapter, and not a request in the name of a cell. */
function isOutside({ ingress }: FrameFold, { from, root }: EventDelivery): boolean {
  if (from !== null || !root || ingress.kind !== 'request') return false;
  return ingress.principal === 'operator' || ingress.principal.startsWith('human:');
}

function isOwnRequest({ ingress }: FrameFold, { from, root, to }: EventDelivery): boolean {
  return from === null && root && ingress.kind === 'request' && ingress.principal === holderOf(to);
}

function isOwnAdapter(fold: FrameFold, { from, root, to }: EventDelivery): boolean {
  if (from !== null || !root || fold.ingress.kind !== 'request') return false;
  const id = effectBehind(fold.ingress.principal);
  const effect = id === undefined ? undefined : fold.overlay.get(effectKey(id));
  const isOfReceiver = effect?.plan[0] === to[0] && effect.plan[1] === to[1];
  return isOfReceiver && isGeneration(fold, to, effect.inc);
}
