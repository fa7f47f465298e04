import { Ref, type Value } from '@reprise/contracts';
import { VALUE_DEPTH_MAX } from './bounds.js';
import { decode } from './decode.js';
import { encode } from './encode.js';
import { headBytes, LINK_BYTES } from './size.js';
import { sortKeys, utf8Length } from './text.js';

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

/** What names one list again and again is small in memory and endless in bytes: beyond this, `encode` decides. */
const COPIED_BYTES_MAX = 1024 * 1024;

class Copier {
  bytes = 0;

  constructor(private readonly depthMax: number) {}

  /** The copy; undefined when the thing must go through bytes. */
  copy(thing: unknown, depth: number): Value | undefined {
    switch (typeof thing) {
      case 'string':
        return this.#text(thing) ? thing : undefined;
      case 'number':
        return this.#number(thing);
      case 'boolean':
        this.bytes += 1;
        return thing;
      case 'object':
        return thing === null ? this.#null() : this.#object(thing, depth);
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
    this.bytes += headBytes(length) + length;
    return true;
  }

  #number(n: number): number | undefined {
    if (Number.isSafeInteger(n)) this.bytes += headBytes(n < 0 ? -1 - n : n);
    else if (Number.isFinite(n)) this.bytes += 9;
    else return undefined;
    return n + 0; // −0 is written as 0
  }

  #object(thing: object, depth: number): Value | undefined {
    const prototype: unknown = Object.getPrototypeOf(thing);
    if (prototype === Object.prototype) return depth < this.depthMax ? this.#map(thing, depth) : undefined;
    if (prototype === Array.prototype) return depth < this.depthMax ? this.#list(thing, depth) : undefined;
    if (prototype === Ref.prototype && Ref.isChecked(thing)) {
      this.bytes += LINK_BYTES;
      return thing;
    }
    if (prototype !== Uint8Array.prototype || !(thing instanceof Uint8Array)) return undefined;
    this.bytes += headBytes(thing.length) + thing.length;
    return new Uint8Array(thing);
  }

  #list(thing: object, depth: number): Value | undefined {
    if (!Array.isArray(thing)) return undefined;
    const items = thing as readonly unknown[];
    const copy: Value[] = [];
    this.bytes += headBytes(items.length);
    for (let i = 0; i < items.length; i++) {
      const item = this.copy(items[i], depth + 1);
      if (item === undefined || this.bytes > COPIED_BYTES_MAX) return undefined;
      copy.push(item);
    }
    return copy;
  }

  #map(thing: object, depth: number): Value | undefined {
    if (Object.getOwnPropertySymbols(thing).length > 0) return undefined;
    const copy: Record<string, Value> = {};
    const keys = sortKeys(Object.keys(thing));
    let present = 0;
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property === undefined || property.get !== undefined || property.set !== undefined) return undefined;
      if (property.value === undefined) continue; // a key without a value is no part of a map
      if (key === '__proto__' || !this.#text(key)) return undefined;
      const item = this.copy(property.value, depth + 1);
      if (item === undefined || this.bytes > COPIED_BYTES_MAX) return undefined;
      copy[key] = item;
      present++;
    }
    this.bytes += headBytes(present);
    return copy;
  }
}
