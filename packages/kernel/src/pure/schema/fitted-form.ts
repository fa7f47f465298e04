/**
 * Normal form and schema in one walk: for what authors and adapters give, which nearly always is plain and fits.
 *
 * Invariants
 * W1  The result is that of `normalValue` and `check`: what they would refuse, fill in or take another way is undefined
 *     here, and they decide about it. So this walk has no refusals and no defaults of its own.
 * W2  No accessor is run, and nothing of the given thing is shared, links apart, which are frozen.
 * W3  Arrangements of keys are remembered to be faster: one that was forgotten is made again, with the same result.
 */
import { raiseExhaustion, type Value } from '@reprise/contracts';
import { VALUE_DEPTH_MAX } from '../codec/bounds.js';
import { itemAt } from '../codec/kinds.js';
import { Copier, type NormalValue } from '../codec/normal.js';
import { byteLength, headBytes } from '../codec/size.js';
import { orderKeys } from '../codec/text.js';
import { fits, isLeaf, optionsByTag, within } from './check.js';
import type { SchemaNode } from './node.js';

type Kind<T extends SchemaNode['type']> = Extract<SchemaNode, { type: T }>;

/**
 * Copies a thing into normal form, if it is plain, complete, and fits a schema as it is.
 *
 * @param node a compiled schema
 * @param thing anything; nothing of it is shared
 * @param bytesMax how many canonical bytes it may take
 * @returns undefined for anything else: `normalValue` and `check` decide about it
 */
export function fittedForm(node: SchemaNode, thing: unknown, bytesMax: number): NormalValue | undefined {
  const walk = new FittingCopier(bytesMax);
  try {
    const value = walk.fit(node, thing, 0);
    return value === undefined || walk.bytes > bytesMax ? undefined : { value, bytes: walk.bytes };
  } catch (thrown) {
    raiseExhaustion(thrown); // a proxy threw
    return undefined;
  }
}

class FittingCopier extends Copier {
  constructor(private readonly bytesMax: number) {
    super(VALUE_DEPTH_MAX);
  }

  /** The copy; undefined when it is for others to decide (W1). */
  fit(node: SchemaNode, thing: unknown, depth: number): Value | undefined {
    switch (node.type) {
      case 'object':
        return this.#object(node, thing, depth);
      case 'record':
        return this.#record(node, thing, depth);
      case 'list':
      case 'tuple':
        return this.#items(node, thing, depth);
      case 'union':
        return node.on === undefined ? this.#union(node, thing, depth) : this.#tagged(node, node.on, thing, depth);
      default: {
        const copy = this.copy(thing, depth);
        return copy !== undefined && fits(node, copy) ? copy : undefined;
      }
    }
  }

  #object(node: Kind<'object'>, thing: unknown, depth: number): Value | undefined {
    if (depth >= VALUE_DEPTH_MAX || !isPlainMap(thing)) return undefined;
    const arranged = arrangementOf(node, Object.keys(thing));
    if (arranged === undefined || Object.getOwnPropertySymbols(thing).length > 0) return undefined;
    const { fields } = arranged;
    const copy: Record<string, Value> = {};
    let present = fields.length;
    this.bytes += arranged.bytes;
    for (let i = 0; i < fields.length; i++) {
      const { key, field, optional } = fields[i] as ArrangedField;
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property === undefined || isAccessor(property)) return undefined;
      if (property.value === undefined) {
        if (!optional) return undefined;
        present--; // a key without a value is no part of a map
        this.bytes -= byteLength(key);
        continue;
      }
      const item = this.fit(field, property.value, depth + 1);
      if (item === undefined || this.bytes > this.bytesMax) return undefined;
      copy[key] = item;
    }
    this.bytes += headBytes(present);
    return copy;
  }

  #record(node: Kind<'record'>, thing: unknown, depth: number): Value | undefined {
    if (depth >= VALUE_DEPTH_MAX || !isPlainMap(thing)) return undefined;
    const keys = Object.keys(thing);
    const order = orderKeys(keys);
    if (order.bytes < 0 || Object.getOwnPropertySymbols(thing).length > 0) return undefined;
    const copy: Record<string, Value> = {};
    this.bytes += order.bytes + headBytes(keys.length);
    for (const key of order.sorted) {
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property === undefined || isAccessor(property) || key === '__proto__' || !fitsKey(node.key, key))
        return undefined;
      const item = this.fit(node.item, property.value, depth + 1);
      if (item === undefined || this.bytes > this.bytesMax) return undefined;
      copy[key] = item;
    }
    return copy;
  }

  #items(node: Kind<'list' | 'tuple'>, thing: unknown, depth: number): Value | undefined {
    if (!isPlainList(thing) || depth >= VALUE_DEPTH_MAX) return undefined;
    const isLength = node.type === 'list' ? within(node, thing.length) : thing.length === node.items.length;
    if (!isLength) return undefined;
    const copy: Value[] = [];
    this.bytes += headBytes(thing.length);
    for (let i = 0; i < thing.length; i++) {
      const item = this.fit(
        node.type === 'list' ? node.item : (node.items[i] as SchemaNode),
        itemAt(thing, i),
        depth + 1,
      );
      if (item === undefined || this.bytes > this.bytesMax) return undefined;
      copy.push(item);
    }
    return copy;
  }

  /**
   * The first option that fits is taken, with its defaults. So a map or a list is decided by the first option that takes
   * any such thing: whether a later one may be asked is for others to decide, too.
   */
  #union({ options }: Kind<'union'>, thing: unknown, depth: number): Value | undefined {
    const kind = isPlainMap(thing) ? 'map' : isPlainList(thing) ? 'list' : undefined;
    if (kind === undefined) {
      const copy = this.copy(thing, depth);
      return copy !== undefined && options.some((option) => fitsScalar(option, copy)) ? copy : undefined;
    }
    const option = options.find((one) => mayTake(one, kind));
    return option === undefined ? undefined : this.fit(option, thing, depth);
  }

  #tagged(node: Kind<'union'>, on: string, thing: unknown, depth: number): Value | undefined {
    if (!isPlainMap(thing)) return undefined;
    const tag: unknown = Object.getOwnPropertyDescriptor(thing, on)?.value;
    const option = tag === undefined ? undefined : optionsByTag(node, on).get(tag as Value);
    return option === undefined ? undefined : this.fit(option, thing, depth);
  }
}

/** A field of an object under a key that a map has. */
interface ArrangedField {
  readonly key: string;
  readonly field: SchemaNode;
  readonly optional: boolean;
}

/** The keys of a map that may fit an object, in canonical order. */
interface Arrangement {
  /** The keys as the map lists them. */
  readonly given: readonly string[];
  readonly fields: readonly ArrangedField[];
  /** The canonical bytes of all keys. */
  readonly bytes: number;
}

/** How many arrangements of an object are remembered: maps of one origin list their keys alike. */
const ARRANGEMENTS_MAX = 8;

const arrangements = new WeakMap<SchemaNode, Arrangement[]>();

/** The keys of a map in order; undefined when it has one that is not in the schema, or lacks one that it must have. */
function arrangementOf(node: Kind<'object'>, keys: readonly string[]): Arrangement | undefined {
  const known = arrangements.get(node);
  if (known !== undefined) {
    for (let i = 0; i < known.length; i++) {
      const one = known[i] as Arrangement;
      if (areSame(one.given, keys)) return one;
    }
  }
  const made = arranged(node, keys);
  if (known === undefined) arrangements.set(node, made === undefined ? [] : [made]);
  else if (made !== undefined && known.length < ARRANGEMENTS_MAX) known.push(made);
  return made;
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false;
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false;
  return true;
}

function arranged({ fields: of }: Kind<'object'>, keys: readonly string[]): Arrangement | undefined {
  const { sorted, bytes } = orderKeys(keys);
  if (bytes < 0 || keys.includes('__proto__') || !keys.every((key) => Object.hasOwn(of, key))) return undefined;
  const isWhole = Object.keys(of).every((key) => of[key]?.optional === true || keys.includes(key));
  if (!isWhole) return undefined;
  const fields = sorted.map((key): ArrangedField => {
    const { node, optional } = of[key] as Kind<'object'>['fields'][string];
    return { key, field: node, optional };
  });
  return { given: [...keys], fields, bytes };
}

/** Code is not data: to ask for the value would run it. */
function isAccessor({ get, set }: PropertyDescriptor): boolean {
  return get !== undefined || set !== undefined;
}

function isPlainMap(thing: unknown): thing is object {
  return typeof thing === 'object' && thing !== null && Object.getPrototypeOf(thing) === Object.prototype;
}

function isPlainList(thing: unknown): thing is readonly unknown[] {
  return Array.isArray(thing) && Object.getPrototypeOf(thing) === Array.prototype;
}

/** Whether the key of a record fits; false for schemas of keys that are not looked at here. */
function fitsKey(node: SchemaNode, key: string): boolean {
  return isLeaf(node) && fits(node, key);
}

/** Whether something that is no map and no list fits. */
function fitsScalar(node: SchemaNode, value: Value): boolean {
  if (isLeaf(node)) return fits(node, value);
  return node.type === 'union' && node.on === undefined && node.options.some((option) => fitsScalar(option, value));
}

/** Whether some map, or some list, may fit. */
function mayTake(node: SchemaNode, kind: 'map' | 'list'): boolean {
  switch (node.type) {
    case 'object':
    case 'record':
      return kind === 'map';
    case 'list':
    case 'tuple':
      return kind === 'list';
    case 'union':
      return node.on === undefined ? node.options.some((option) => mayTake(option, kind)) : kind === 'map';
    default:
      return node.type === 'value';
  }
}
