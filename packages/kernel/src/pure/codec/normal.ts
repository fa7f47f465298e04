import { Ref, utf8Length, type Value } from '@reprise/contracts';
import { VALUE_DEPTH_MAX } from './bounds.js';
import { decode } from './decode.js';
import { encode } from './encode.js';
import { itemAt } from './kinds.js';
import { byteLength, headBytes, LINK_BYTES } from './size.js';
import { orderKeys } from './text.js';

/** A value in normal form, and how many canonical bytes it takes. */
export interface NormalValue {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * Copies a thing into normal form: the result is what `decode(encode(thing))` gives, and nothing else refers to it,
 * links apart, which are frozen. What is not an ordinary value takes the long way through its bytes, which normalizes
 * it or says why it cannot be encoded.
 *
 * @param thing anything; only canonical values are accepted
 * @param depthMax how deep lists and maps may nest
 * @throws RepriseError `invalid_value`, as `encode` does
 */
export function normalValue(thing: unknown, depthMax: number = VALUE_DEPTH_MAX): NormalValue {
  const copier = new Copier(depthMax);
  const value = copier.copy(thing, 0);
  if (value !== undefined) return { value, bytes: copier.bytes };
  const bytes = encode(thing, depthMax);
  return { value: decode(bytes), bytes: bytes.length };
}

/** A value in normal form, beside the one that stood there before. */
interface NextValue {
  /** Shares with the value before what is equal; the value before itself when all is. */
  readonly value: Value;
  /** The canonical bytes of what is not shared: with those of the value before, an upper bound of those of the whole. */
  readonly added: number;
  /** Whether bytes are among what is not shared. */
  readonly hasBytes: boolean;
}

/**
 * Copies a thing into normal form, as {@link normalValue} does, but shares what is equal with the value that stood there
 * before: what is the same object as before needs no second look, whatever is checked of it.
 *
 * @param before a value in normal form, which nothing writes into
 * @param thing anything; nothing of it is shared
 * @param depth how many lists and maps are around it
 * @returns undefined for what is not an ordinary value: `normalValue` decides about it
 */
export function nextValue(before: Value, thing: unknown, depth: number): NextValue | undefined {
  const copier = new Copier(VALUE_DEPTH_MAX);
  const value = copier.copy(thing, depth, before);
  return value === undefined ? undefined : { value, added: copier.bytes, hasBytes: copier.hasBytes };
}

/** What names one list again and again is small in memory and endless in bytes: beyond this, `encode` decides. */
const COPIED_BYTES_MAX = 1024 * 1024;

/** Copies one thing into normal form, and counts its bytes. */
export class Copier {
  /** The bytes of what is not shared. */
  bytes = 0;
  hasBytes = false;

  constructor(private readonly depthMax: number) {}

  /** The copy; undefined when the thing must go through bytes. @param before what stood there, to be shared when equal */
  copy(thing: unknown, depth: number, before?: Value): Value | undefined {
    switch (typeof thing) {
      case 'string':
        return thing === before || this.#text(thing) ? thing : undefined;
      case 'number':
        return thing === before ? before : this.#number(thing);
      case 'boolean':
        this.bytes += 1;
        return thing;
      case 'object':
        return thing === null ? this.#null() : this.#object(thing, depth, before);
      default:
        return undefined;
    }
  }

  #null(): null {
    this.bytes += 1;
    return null;
  }

  #text(text: string): boolean {
    const length = utf8Length(text);
    if (length < 0) return false;
    this.bytes += (length < 24 ? 1 : headBytes(length)) + length;
    return true;
  }

  #number(n: number): number | undefined {
    if (Number.isSafeInteger(n)) this.bytes += headBytes(n < 0 ? -1 - n : n);
    else if (Number.isFinite(n)) this.bytes += 9;
    else return undefined;
    return n + 0; // −0 is written as 0
  }

  #object(thing: object, depth: number, before: Value | undefined): Value | undefined {
    const prototype: unknown = Object.getPrototypeOf(thing);
    if (prototype === Object.prototype) return depth < this.depthMax ? this.#map(thing, depth, before) : undefined;
    if (prototype === Array.prototype) return depth < this.depthMax ? this.#list(thing, depth, before) : undefined;
    if (prototype === Ref.prototype && Ref.isChecked(thing)) {
      this.bytes += LINK_BYTES;
      return before instanceof Ref && before.hex === thing.hex && before.kind === thing.kind ? before : thing;
    }
    if (prototype !== Uint8Array.prototype || !(thing instanceof Uint8Array)) return undefined;
    this.bytes += headBytes(thing.length) + thing.length;
    this.hasBytes = true;
    return new Uint8Array(thing);
  }

  #list(thing: object, depth: number, before: Value | undefined): Value | undefined {
    if (!Array.isArray(thing)) return undefined;
    const items = thing as readonly unknown[];
    const was = Array.isArray(before) ? (before as readonly Value[]) : NOTHING;
    const copy: Value[] = [];
    let isSame = was === before && was.length === items.length;
    this.bytes += headBytes(items.length);
    for (let i = 0; i < items.length; i++) {
      const item = this.copy(itemAt(items, i), depth + 1, was[i]);
      if (item === undefined || this.bytes > COPIED_BYTES_MAX) return undefined;
      isSame &&= item === was[i];
      copy.push(item);
    }
    return isSame ? before : copy;
  }

  #map(thing: object, depth: number, before: Value | undefined): Value | undefined {
    if (Object.getOwnPropertySymbols(thing).length > 0) return undefined;
    const keys = Object.keys(thing);
    const was = isMap(before) ? before : undefined;
    if (was !== undefined && areKeysOf(was, keys)) return this.#sameKeys(thing, keys, depth, was);
    const copy: Record<string, Value> = {};
    let present = 0;
    const order = orderKeys(keys);
    if (order.bytes < 0) return undefined;
    this.bytes += order.bytes;
    for (const key of order.sorted) {
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property === undefined || property.get !== undefined || property.set !== undefined) return undefined;
      if (property.value === undefined) {
        this.bytes -= byteLength(key); // a key without a value is no part of a map
        continue;
      }
      if (key === '__proto__') return undefined;
      const item = this.copy(
        property.value,
        depth + 1,
        was !== undefined && Object.hasOwn(was, key) ? was[key] : undefined,
      );
      if (item === undefined || this.bytes > COPIED_BYTES_MAX) return undefined;
      copy[key] = item;
      present++;
    }
    this.bytes += headBytes(present);
    return copy;
  }

  /** A map with the keys that it had before, in their order. */
  #sameKeys(thing: object, keys: readonly string[], depth: number, was: Fields): Value | undefined {
    let copy: Record<string, Value> | undefined;
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property === undefined || property.get !== undefined || property.set !== undefined) return undefined;
      const item = this.copy(property.value, depth + 1, was[key]);
      if (item === undefined || this.bytes > COPIED_BYTES_MAX) return undefined;
      if (item === was[key]) continue;
      copy ??= { ...was };
      copy[key] = item;
    }
    return copy ?? was;
  }
}

type Fields = Readonly<Record<string, Value>>;

const NOTHING: readonly Value[] = [];

function isMap(value: Value | undefined): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function areKeysOf(map: Fields, keys: readonly string[]): boolean {
  const known = Object.keys(map);
  if (known.length !== keys.length) return false;
  for (let i = 0; i < keys.length; i++) if (known[i] !== keys[i]) return false;
  return true;
}
