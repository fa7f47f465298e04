/** Checks the sender of an event against the declaration of its reducer: what `matchSender` needs to know of a delivery. */
import type { Address, Sender, Value } from '@reprise/contracts';
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
  const found = matchSender(from, new DeliveryFacts(delivered));
  if (found === undefined) throw new Rejected('not_yours');
  return found === 'no_row' ? undefined : found;
}

/** One delivery as facts. A class, since one is made for each event: closures cost more than the comparisons. */
class DeliveryFacts implements SenderFacts {
  constructor(private readonly delivered: Delivered) {}

  get from(): Sender {
    return this.delivered.delivery.from;
  }

  get to(): Address {
    return this.delivered.delivery.to;
  }

  get value(): Value {
    return this.delivered.delivery.event.value as Value;
  }

  get state(): Value | undefined {
    return this.isNew ? undefined : this.delivered.cell.state;
  }

  cellName(reducer: string): string {
    return cellName(this.delivered.fold.env.app, reducer);
  }

  isOutside(): boolean {
    return isOutside(this.delivered.fold, this.delivered.delivery);
  }

  isOwnAdapter(): boolean {
    return isOwnAdapter(this.delivered.fold, this.delivered.delivery);
  }

  isOwnRequest(): boolean {
    return isOwnRequest(this.delivered.fold, this.delivered.delivery);
  }

  /** A cell that is being made has its maker as the sender. A later generation of the maker is another cell. */
  isMaker(of: Address | null): boolean {
    if (this.isNew) return true;
    const { cell, fold, delivery } = this.delivered;
    return of === null ? cell.parent === null : isChild(fold, delivery.to, of);
  }

  isAbove(above: Address): boolean {
    return this.isNew || isBelow(this.delivered.fold, this.delivered.delivery.to, above);
  }

  row(table: string, key: string): Value | undefined {
    return isCellKey(key) ? this.delivered.tables.open(table).get(key) : undefined;
  }

  private get isNew(): boolean {
    return this.delivered.cell.n === 0;
  }
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
