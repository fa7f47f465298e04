/** Checks the sender of an event against the declaration of its reducer: see `define/senders.ts`. */
import type { Address, Sender, Value } from '@reprise/contracts';
import { cellName, type EventDefinition, type KeyPart, type RowForm, type Who } from '../../define/index.js';
import type { EventDelivery, FrameFold } from '../frame/frame-fold.js';
import { effectBehind, isBelow, isChild, isGeneration } from '../gate/rights.js';
import { effectKey, isCellKey } from '../leaf/leaf-key.js';
import type { CellLeaf } from '../leaf/leaves.js';
import { Rejected } from '../leaf/signals.js';
import type { CellTables } from '../table/cell-tables.js';
import { isSameCell } from './cell-context.js';

/** The row that the sender of an event has in a table of the receiver. */
export interface SenderRow {
  readonly key: string;
  readonly value: Value;
}

/** One delivery, as its declaration is checked against it. */
interface Delivered {
  readonly fold: FrameFold;
  readonly delivery: EventDelivery;
  /** The receiver; new while it has no delivery behind it. */
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
  for (const who of from) {
    const found = who.form === 'row' ? rowOf(who, delivered) : matches(who, delivered);
    if (found !== false) return found === true ? undefined : found;
  }
  throw new Rejected('not_yours');
}

function matches(who: Exclude<Who, RowForm>, delivered: Delivered): boolean {
  const { fold, delivery, cell } = delivered;
  const { from, to } = delivery;
  switch (who.form) {
    case 'any':
      return true;
    case 'outside':
      return isOutside(fold, delivery);
    case 'adapter':
      return isOwnAdapter(fold, delivery);
    case 'self':
      return from?.length === 2 && isSameCell(from, to);
    case 'ownPlan':
      return from?.length === 3 && isSameCell(from, to);
    case 'maker':
      return isMaker(delivered);
    case 'state':
      return !isNew(cell) && isCell(from, (cell.state as Readonly<Record<string, Value>>)[who.state]);
    case 'cell':
      return isCell(from, [cellName(fold.env.app, who.reducer), keyOf(who.key, delivered)]);
    case 'above':
      return from?.length === 2 && from[0] === cellName(fold.env.app, who.reducer) && isAbove(delivered, [...from]);
    default:
      return who satisfies never;
  }
}

/** A person or the operator: not an adapter, and not a request in the name of a cell. */
function isOutside({ ingress }: FrameFold, { from, root }: EventDelivery): boolean {
  if (from !== null || !root || ingress.kind !== 'request') return false;
  return ingress.principal === 'operator' || ingress.principal.startsWith('human:');
}

function isOwnAdapter(fold: FrameFold, { from, root, to }: EventDelivery): boolean {
  if (from !== null || !root || fold.ingress.kind !== 'request') return false;
  const id = effectBehind(fold.ingress.principal);
  const effect = id === undefined ? undefined : fold.overlay.get(effectKey(id));
  return effect !== undefined && isSameCell(effect.plan, to) && isGeneration(fold, to, effect.inc);
}

/** A cell that is being made has its maker as the sender. A later generation of the maker is another cell. */
function isMaker({ fold, delivery, cell }: Delivered): boolean {
  const { from, to } = delivery;
  if (from === null) return cell.parent === null && isOutside(fold, delivery);
  if (from.length !== 2) return false;
  return isNew(cell) || isChild(fold, to, [from[0], from[1]]);
}

function isAbove({ fold, delivery, cell }: Delivered, from: Address): boolean {
  return isNew(cell) || isBelow(fold, delivery.to, from);
}

function isCell(from: Sender, cell: Value | readonly (string | undefined)[] | undefined): boolean {
  return from?.length === 2 && Array.isArray(cell) && from[0] === cell[0] && from[1] === cell[1];
}

function isNew({ n }: CellLeaf): boolean {
  return n === 0;
}

/** The row of a sender whose key is the declared one: what stands for the row in it is the key of the row. */
function rowOf({ reducer, key, table }: RowForm, delivered: Delivered): SenderRow | false {
  const { fold, delivery, cell, tables } = delivered;
  const { from } = delivery;
  if (isNew(cell) || from?.length !== 2 || from[0] !== cellName(fold.env.app, reducer)) return false;
  const at = key.findIndex((part) => typeof part !== 'string' && 'row' in part);
  const [before, after] = [keyOf(key.slice(0, at), delivered), keyOf(key.slice(at + 1), delivered)];
  if (before === undefined || after === undefined) return false;
  const end = from[1].length - after.length;
  if (!from[1].startsWith(before) || !from[1].endsWith(after) || end <= before.length) return false;
  const rowKey = from[1].slice(before.length, end);
  const value = isCellKey(rowKey) ? tables.open(table).get(rowKey) : undefined;
  return value === undefined ? false : { key: rowKey, value };
}

/** The text of a key; undefined where a field that it names holds no text. */
function keyOf(parts: readonly KeyPart[], { delivery, cell }: Delivered): string | undefined {
  let text = '';
  for (const part of parts) {
    const next = textOf(part, delivery, cell);
    if (typeof next !== 'string') return undefined;
    text += next;
  }
  return text;
}

function textOf(part: KeyPart, { to, event }: EventDelivery, cell: CellLeaf): Value | undefined {
  if (typeof part === 'string') return part;
  if ('own' in part) return to[1];
  if ('event' in part) return (event.value as Readonly<Record<string, Value>>)[part.event];
  if ('state' in part) return isNew(cell) ? undefined : (cell.state as Readonly<Record<string, Value>>)[part.state];
  return undefined;
}
