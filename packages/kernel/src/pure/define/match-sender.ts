/** Decides whether a sender is one that an event declares. Pure: what the engine knows of the delivery is passed in. */
import type { Address, Sender, Value } from '@reprise/contracts';
import type { KeyPart, RowForm, Who } from './senders.js';

/** What a declaration is checked against. */
export interface SenderFacts {
  readonly from: Sender;
  readonly to: Address;
  /** The value of the event. */
  readonly value: Value;
  /** The receiver's state; undefined while the cell is being made. */
  readonly state: Value | undefined;
  /** The permanent name of a reducer's cells. */
  cellName(reducer: string): string;
  /** Whether the event is a request of the operator or of a person. */
  isOutside(): boolean;
  /** Whether the event is a request of the adapter of an open effect of the receiver. */
  isOwnAdapter(): boolean;
  /** Whether the event is a request in the name of the receiver. */
  isOwnRequest(): boolean;
  /** Whether a cell made the receiver, in that generation; null for the outside. */
  isMaker(cell: Address | null): boolean;
  /** Whether a cell stands above the receiver. */
  isAbove(cell: Address): boolean;
  /** The row of a table of the receiver. */
  row(table: string, key: string): Value | undefined;
}

/** The row that the sender of an event has in a table of the receiver. */
export interface SenderRow {
  readonly key: string;
  readonly value: Value;
}

/**
 * Finds the first declared form that a sender has.
 *
 * @returns the sender's row, `'no_row'` for a form without one, undefined when no form matches
 */
export function matchSender(declared: readonly Who[], facts: SenderFacts): SenderRow | 'no_row' | undefined {
  for (const who of declared) {
    const found = who.form === 'row' ? rowOf(who, facts) : matches(who, facts) ? 'no_row' : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function matches(who: Exclude<Who, RowForm>, facts: SenderFacts): boolean {
  const { from, to, state } = facts;
  switch (who.form) {
    case 'any':
      return true;
    case 'outside':
      return facts.isOutside();
    case 'adapter':
      return facts.isOwnAdapter();
    case 'self':
      return from?.length === 2 && isCell(from, to);
    case 'ownPlan':
      return from?.length === 3 && from[0] === to[0] && from[1] === to[1];
    case 'ownRequest':
      return facts.isOwnRequest();
    case 'maker':
      return from === null ? facts.isOutside() && facts.isMaker(null) : from.length === 2 && facts.isMaker([...from]);
    case 'state':
      return isCell(from, fieldOf(state, who.state));
    case 'cell':
      return isCell(from, [facts.cellName(who.reducer), keyOf(who.key, facts)]);
    case 'above':
      return from?.length === 2 && from[0] === facts.cellName(who.reducer) && facts.isAbove([...from]);
    default:
      return who satisfies never;
  }
}

function isCell(from: Sender, cell: Value | readonly (string | undefined)[] | undefined): boolean {
  return from?.length === 2 && Array.isArray(cell) && from[0] === cell[0] && from[1] === cell[1];
}

/** The row of a sender whose key is the declared one: what stands for the row in it is the key of the row. */
function rowOf({ reducer, key, table }: RowForm, facts: SenderFacts): SenderRow | undefined {
  const { from, state } = facts;
  if (state === undefined || from?.length !== 2 || from[0] !== facts.cellName(reducer)) return undefined;
  if (key.length === 1) return rowAt(rowKeyIn(from[1], key[0]), table, facts); // the usual key, without its cost
  const at = key.findIndex(isRowPart);
  const [before, after] = [keyOf(key.slice(0, at), facts), keyOf(key.slice(at + 1), facts)];
  if (before === undefined || after === undefined) return undefined;
  const end = from[1].length - after.length;
  if (!from[1].startsWith(before) || !from[1].endsWith(after) || end <= before.length) return undefined;
  return rowAt(rowKeyIn(from[1].slice(before.length, end), key[at]), table, facts);
}

function rowAt(key: string | undefined, table: string, facts: SenderFacts): SenderRow | undefined {
  const value = key === undefined ? undefined : facts.row(table, key);
  return key === undefined || value === undefined ? undefined : { key, value };
}

type RowPart = Extract<KeyPart, { readonly row: true }>;

function isRowPart(part: KeyPart | undefined): part is RowPart {
  return typeof part === 'object' && 'row' in part;
}

/** The key of the row that a sender's key contains; undefined where no number has this text. */
function rowKeyIn(text: string, part: KeyPart | undefined): string | undefined {
  if (!isRowPart(part) || part.digits === undefined) return text;
  return NUMBER.test(text) && text.length <= part.digits ? text.padStart(part.digits, '0') : undefined;
}

/** A whole number as it is written: one text for each number. */
const NUMBER = /^(0|[1-9][0-9]*)$/;

/** The text of a key; undefined where a field that it names holds neither a text nor a whole number. */
function keyOf(parts: readonly KeyPart[], facts: SenderFacts): string | undefined {
  let text = '';
  for (const part of parts) {
    const next = textOf(part, facts);
    if (typeof next !== 'string' && !Number.isSafeInteger(next)) return undefined;
    text += String(next);
  }
  return text;
}

function textOf(part: KeyPart, { to, value, state }: SenderFacts): Value | undefined {
  if (typeof part === 'string') return part;
  if ('own' in part) return to[1];
  if ('event' in part) return fieldOf(value, part.event);
  return 'state' in part ? fieldOf(state, part.state) : undefined;
}

function fieldOf(thing: Value | undefined, field: string): Value | undefined {
  const fields = thing as Readonly<Record<string, Value>> | null | undefined;
  return typeof fields === 'object' && fields !== null && Object.hasOwn(fields, field) ? fields[field] : undefined;
}
