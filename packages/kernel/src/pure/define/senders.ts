/**
 * Declared senders: who may send an event, stated beside its schema. The engine checks the declaration before the recipe
 * runs and refuses every other sender with `not_yours`, so that no recipe compares senders by hand.
 *
 * Invariants
 * S1  A declaration is data: it is part of the reducer's digest, and policy rules are derived from it.
 * S2  A form names cells by reducer and whole key, never by the key alone: two reducers may use equal keys.
 */
import { RepriseError, type Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { SchemaNode } from '../schema/index.js';
import { requireTableName, requireWireName } from './parts.js';

/**
 * A part of a sender's key: a fixed text, the receiver's own key, the key of a row of its table, or the text (or whole
 * number) in a top-level field of the event or of the receiver's state. With `digits`, the sender's key has the number of a
 * row as it is, and the table has it with leading zeros, so that its rows are in order.
 */
export type KeyPart =
  | string
  | { readonly own: true }
  | { readonly row: true; readonly digits?: number }
  | { readonly event: string }
  | { readonly state: string };

/** A sender that needs no further data: each is described at {@link by}. */
export interface PlainForm {
  readonly form: 'outside' | 'adapter' | 'self' | 'ownPlan' | 'ownRequest' | 'maker' | 'any';
}

/** The cell whose address stands in a top-level field of the receiver's state. */
export interface StateForm {
  readonly form: 'state';
  readonly state: string;
}

/** The cell of this reducer with this key. */
export interface CellForm {
  readonly form: 'cell';
  readonly reducer: string;
  readonly key: readonly KeyPart[];
}

/** A cell of this reducer for which the receiver's table has a row. */
export interface RowForm<N extends string = string> {
  readonly form: 'row';
  readonly table: N;
  readonly reducer: string;
  readonly key: readonly KeyPart[];
}

/** A cell of this reducer that stands above the receiver in the kernel's chain of makers. */
export interface AboveForm {
  readonly form: 'above';
  readonly reducer: string;
}

/** One kind of sender, made by {@link by}. */
export type Who = PlainForm | StateForm | CellForm | RowForm | AboveForm;

/** Where `by.cell` finds its cell: in a field of the state, or by reducer and key. */
export type CellPlace = { readonly state: string } | { readonly reducer: string; readonly key: readonly KeyPart[] };

/** Where `by.row` finds the key of a row: in the key of the sender, `[{ row: true }]` when absent. */
export interface RowPlace {
  readonly reducer: string;
  readonly key?: readonly KeyPart[];
}

function cellForm(at: CellPlace): StateForm | CellForm {
  return 'reducer' in at ? { form: 'cell', reducer: at.reducer, key: at.key } : { form: 'state', state: at.state };
}

/**
 * The kinds of senders that a reducer can declare for an event, see {@link from}.
 *
 * @example
 * events: {
 *   'shop/Placed@1': creates(from(placed, by.outside)),
 *   'shop/Packed@1': from(packed, by.row('parcels', { reducer: 'shop/Parcel@1' })),
 * }
 */
export const by = Object.freeze({
  /** A request of the operator or of a person (`human:*`); no adapter's request, and none in the name of a cell. */
  outside: { form: 'outside' },
  /** The adapter of an open effect of this cell. */
  adapter: { form: 'adapter' },
  /** This cell itself, by `ctx.send` or a delivery to its own address. */
  self: { form: 'self' },
  /** A plan of this cell; `ctx.plan` is its ordinal. */
  ownPlan: { form: 'ownPlan' },
  /** A request in the name of this cell (`world.as('cell:…')`): of a client that acts as it, outside. */
  ownRequest: { form: 'ownRequest' },
  /** The cell that made this one, in that generation; of a cell made from outside: the outside. */
  maker: { form: 'maker' },
  /** Each sender that the gate lets through. The recipe must not believe what the event says about its sender. */
  any: { form: 'any' },
  /** The cell whose address is in a top-level field of the state, or the cell of a reducer with a key. */
  cell: cellForm,
  /**
   * A cell of a reducer for which this cell has a row in a table. The row is handed on as `event.row`, its key as
   * `ctx.rowKey`.
   */
  row: <const N extends string>(table: N, { reducer, key = [{ row: true }] }: RowPlace): RowForm<N> => ({
    form: 'row',
    table,
    reducer,
    key,
  }),
  /** A cell of this reducer that stands above this one in the chain of makers. */
  above: (reducer: string): AboveForm => ({ form: 'above', reducer }),
} as const);

/** An event schema with the senders that may send the event. */
export interface From<Z extends z.AnySchema, W extends readonly Who[] = readonly Who[]> {
  readonly from: W;
  readonly schema: Z;
}

/**
 * Declares who may send an event. The engine refuses every other sender with `not_yours` before the recipe runs, whatever
 * the policy permits. The declaration is part of the reducer's digest. An event without a declaration takes each sender
 * that the gate lets through.
 *
 * @param schema the event's schema
 * @param who one or more kinds of senders; the first that matches counts
 * @example creates(from(z.strictObject({ by: z.int() }), by.outside, by.maker))
 */
export function from<Z extends z.AnySchema, const W extends readonly [Who, ...Who[]]>(
  schema: Z,
  ...who: W
): From<Z, W> {
  return { from: who, schema };
}

/** Several events that have the same senders. */
export type AllFrom<E extends Readonly<Record<string, z.AnySchema>>, W extends readonly Who[]> = {
  readonly [N in keyof E]: From<E[N], W>;
};

/**
 * Declares the same senders for several events.
 *
 * @example events: { ...fromAll({ 'shop/Paused@1': paused, 'shop/Resumed@1': resumed }, by.outside, by.maker) }
 */
export function fromAll<
  const E extends Readonly<Record<string, z.AnySchema>>,
  const W extends readonly [Who, ...Who[]],
>(schemas: E, ...who: W): AllFrom<E, W> {
  const declared = Object.entries(schemas).map(([name, schema]) => [name, { from: who, schema }] as const);
  return Object.fromEntries(declared) as unknown as AllFrom<E, W>;
}

/** The parts of a reducer that a declaration may name. */
interface Declaring {
  readonly reducer: string;
  readonly event: string;
  readonly state: SchemaNode;
  readonly node: SchemaNode;
  readonly tables: ReadonlyMap<string, SchemaNode>;
}

/**
 * Checks a declaration against the reducer it belongs to.
 *
 * @throws RepriseError `invalid_definition` when it is empty or names a field or table that the reducer does not have
 */
export function checkedSenders(given: unknown, declaring: Declaring): readonly Who[] {
  const where = `the senders of ${declaring.event} of ${declaring.reducer}`;
  if (declaring.event.startsWith('sys/')) {
    throw invalid(where, 'no declaration: only the kernel sends sys/ events', declaring.event);
  }
  if (!Array.isArray(given) || given.length === 0) throw invalid(where, 'one or more forms of `by`', given);
  for (const who of given as readonly Who[]) requireForm(who, declaring, where);
  return Object.freeze([...(given as readonly Who[])]);
}

function requireForm(who: Who, declaring: Declaring, where: string): void {
  switch (who?.form) {
    case 'outside':
    case 'adapter':
    case 'self':
    case 'ownPlan':
    case 'ownRequest':
    case 'maker':
    case 'any':
      return;
    case 'state':
      return requireField(declaring.state, who.state, `${where}: the state`);
    case 'above':
      return requireWireName(who.reducer, where);
    case 'cell':
      return requireKey(who, declaring, where, 0);
    case 'row':
      requireTableName(who.table);
      if (!declaring.tables.has(who.table)) {
        throw invalid(where, `a table of the reducer: ${[...declaring.tables.keys()].join(', ')}`, who.table);
      }
      return requireKey(who, declaring, where, 1);
    default:
      throw invalid(where, 'one or more forms of `by`', who);
  }
}

function requireKey(
  { reducer, key }: { readonly reducer: string; readonly key: readonly KeyPart[] },
  declaring: Declaring,
  where: string,
  rows: 0 | 1,
): void {
  requireWireName(reducer, where);
  if (!Array.isArray(key) || key.length === 0) throw invalid(where, 'a key of one or more parts', key);
  let found = 0;
  for (const part of key as readonly KeyPart[]) {
    if (typeof part === 'string' || 'own' in part) continue;
    if ('row' in part) found++;
    else if ('event' in part) requireField(declaring.node, part.event, `${where}: the event`);
    else requireField(declaring.state, part.state, `${where}: the state`);
  }
  if (found !== rows) throw invalid(where, `${rows} parts { row: true } in the key`, found);
}

function requireField(node: SchemaNode, field: string, what: string): void {
  const fields = fieldsOf(node);
  if (fields.includes(field)) return;
  throw invalid(what, `a top-level field: ${fields.join(', ')}`, field);
}

/** The top-level fields of a schema; of a union, those that all of its options have. */
function fieldsOf(node: SchemaNode): readonly string[] {
  if (node.type === 'object') return Object.keys(node.fields);
  if (node.type !== 'union') return [];
  const [first = [], ...rest] = node.options.map(fieldsOf);
  return first.filter((field) => rest.every((fields) => fields.includes(field)));
}

function invalid(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'invalid declaration of senders', { where, expected, actual });
}

/** A declaration as a value, for the digest of its reducer (S1). */
export function sendersValue(who: readonly Who[]): Value {
  return who.map((one) => ({ ...one })) as unknown as Value;
}
