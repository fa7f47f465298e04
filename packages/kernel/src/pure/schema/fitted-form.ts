/**
 * Normal form and schema in one walk: for what authors and adapters give, which nearly always is plain and fits.
 *
 * Invariants
 * W1  The result is that of `normalValue` and `check`: what they would refuse, fill in or take another way is undefined
 *     here, and they decide about it. So this walk has no refusals and no defaults of its own.
 * W2  No accessor is run, and nothing of the given thing is shared, links apart, which are frozen.
 */
import { raiseExhaustion, utf8Length, type Value } from '@reprise/contracts';
import { VALUE_DEPTH_MAX } from '../codec/bounds.js';
import { Copier, type NormalValue } from '../codec/normal.js';
import { byteLength, headBytes } from '../codec/size.js';
import { orderKeys, sortKeys } from '../codec/text.js';
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
    const fields = fieldsInOrder(node);
    if (fields === undefined || depth >= VALUE_DEPTH_MAX || !isPlainMap(thing)) return undefined;
    const copy: Record<string, Value> = {};
    let owned = 0;
    let present = 0;
    for (const { key, bytes, field, optional } of fields) {
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property !== undefined && !isData(property)) return undefined;
      if (property !== undefined) owned++;
      if (property?.value === undefined) {
        if (optional) continue; // absent, or a key without a value, which is no part of a map
        return undefined;
      }
      const item = this.fit(field, property.value, depth + 1);
      if (item === undefined || this.bytes > this.bytesMax) return undefined;
      copy[key] = item;
      this.bytes += bytes;
      present++;
    }
    if (Reflect.ownKeys(thing).length !== owned) return undefined; // keys that the schema does not have, and symbols
    this.bytes += headBytes(present);
    return copy;
  }

  #record(node: Kind<'record'>, thing: unknown, depth: number): Value | undefined {
    if (depth >= VALUE_DEPTH_MAX || !isPlainMap(thing)) return undefined;
    const keys = Object.keys(thing);
    const order = orderKeys(keys);
    if (order.bytes < 0 || Reflect.ownKeys(thing).length !== keys.length) return undefined;
    const copy: Record<string, Value> = {};
    this.bytes += order.bytes + headBytes(keys.length);
    for (const key of order.sorted) {
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property === undefined || !isData(property) || key === '__proto__' || !fitsKey(node.key, key))
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
      const item = this.fit(node.type === 'list' ? node.item : (node.items[i] as SchemaNode), thing[i], depth + 1);
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

/** A field of an object, and the bytes of its key. */
interface OrderedField {
  readonly key: string;
  readonly bytes: number;
  readonly field: SchemaNode;
  readonly optional: boolean;
}

const ordered = new WeakMap<SchemaNode, readonly OrderedField[] | null>();

/** The fields of an object in the canonical order of their keys; undefined when one of these is no key of a map. */
function fieldsInOrder(node: Kind<'object'>): readonly OrderedField[] | undefined {
  const known = ordered.get(node);
  if (known !== undefined) return known ?? undefined;
  const keys = sortKeys(Object.keys(node.fields));
  const isWhole = keys.every((key) => key !== '__proto__' && utf8Length(key) >= 0);
  const found = keys.map((key): OrderedField => {
    const { node: field, optional } = node.fields[key] as Kind<'object'>['fields'][string];
    return { key, bytes: byteLength(key), field, optional };
  });
  ordered.set(node, isWhole ? found : null);
  return isWhole ? found : undefined;
}

/** A property that is part of a value: no accessor, and found by those who list keys. */
function isData({ enumerable, get, set }: PropertyDescriptor): boolean {
  return enumerable === true && get === undefined && set === undefined;
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
