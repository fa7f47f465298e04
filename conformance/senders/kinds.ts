/**
 * The kinds of senders that the law tries, and for each form of a declaration the kinds that it lets through. This table
 * is the oracle: it shares no code with the engine. A plan raises events for its own cell only, so no plan of another cell
 * is among them.
 */
import type { KeyPart, Who } from '@reprise/kernel/define';

/** One kind of sender, by its relation to the receiver. A named one is the cell that a form of the declaration names. */
export type Kind =
  | 'the operator'
  | 'a person'
  | 'a person without rights'
  | 'the adapter of an own effect'
  | 'the adapter of an effect of another cell'
  | 'a request in the name of the cell'
  | 'the cell itself'
  | 'an own plan'
  | 'the maker'
  | 'a later generation of the maker'
  | 'an ancestor'
  | 'a child'
  | 'a child that was made again by another'
  | 'a stranger'
  | NamedKind;

/** The cell that a form names, or one that differs from it in one respect. */
export type NamedKind =
  | `the cell that form ${number} names`
  | `a foreign reducer with the key that form ${number} names`
  | `the reducer that form ${number} names with another key`
  | `a cell of the reducer that form ${number} names, not above`;

/** How the receiver came to be. */
export type Made = 'by the outside' | 'by a cell' | 'now';

const OF_ALL: readonly Kind[] = [
  'the operator',
  'a person',
  'a person without rights',
  'the adapter of an own effect',
  'the adapter of an effect of another cell',
  'a request in the name of the cell',
  'the cell itself',
  'an own plan',
  'the maker',
  'a later generation of the maker',
  'an ancestor',
  'a child',
  'a child that was made again by another',
  'a stranger',
];

/** Those that can send to a cell that does not exist yet: it has no plan, effect, maker or child. */
const OF_NEW: readonly Kind[] = ['the operator', 'a person', 'a person without rights', 'a stranger'];

/** Those that need a maker. */
const BELOW: readonly Kind[] = ['the maker', 'a later generation of the maker', 'an ancestor'];

/** The kinds that are tried for an event. */
export function kindsOf(from: readonly Who[], made: Made): readonly Kind[] {
  const usual = made === 'now' ? OF_NEW : OF_ALL.filter((kind) => made === 'by a cell' || !BELOW.includes(kind));
  return [...usual, ...from.flatMap(namedKinds)];
}

function namedKinds({ form }: Who, i: number): readonly NamedKind[] {
  if (form === 'above') return [`a cell of the reducer that form ${i} names, not above`];
  if (form !== 'state' && form !== 'cell' && form !== 'row') return [];
  return [
    `the cell that form ${i} names`,
    `a foreign reducer with the key that form ${i} names`,
    `the reducer that form ${i} names with another key`,
  ];
}

/** Whether a declaration lets a kind of sender through. */
export function isDeclared(from: readonly Who[], kind: Kind, made: Made): boolean {
  if (kind === 'a person without rights') return false; // the gate refuses it first
  return from.some((who, i) => lets(who, i, kind, made));
}

function lets(who: Who, i: number, kind: Kind, made: Made): boolean {
  switch (who.form) {
    case 'any':
      return true;
    case 'outside':
      return kind === 'the operator' || kind === 'a person';
    case 'adapter':
      return kind === 'the adapter of an own effect';
    case 'self':
      return kind === 'the cell itself';
    case 'ownPlan':
      return kind === 'an own plan';
    case 'ownRequest':
      return kind === 'a request in the name of the cell';
    case 'maker':
      return isMaker(kind, made);
    case 'above':
      // Ancestors and makers are of this reducer on the stage, and who makes a cell stands above it.
      if (made === 'now') return kind === `a cell of the reducer that form ${i} names, not above`;
      return kind === 'an ancestor' || kind === 'the maker';
    case 'cell':
      return (made !== 'now' || !readsState(who.key)) && kind === `the cell that form ${i} names`;
    case 'state':
    case 'row':
      return made !== 'now' && kind === `the cell that form ${i} names`;
  }
}

/** Whether a key depends on the receiver's state, which a cell that is being made does not have. */
function readsState(key: readonly KeyPart[]): boolean {
  return key.some((part) => typeof part === 'object' && 'state' in part);
}

/** The cell that makes another one is its maker; people are, where it is made from outside. */
function isMaker(kind: Kind, made: Made): boolean {
  const isPerson = kind === 'the operator' || kind === 'a person';
  if (made === 'now') return true;
  return made === 'by a cell' ? kind === 'the maker' : isPerson;
}
