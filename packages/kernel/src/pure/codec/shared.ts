import type { Value } from '@reprise/contracts';
import { isRef } from '@reprise/contracts';
import { isOwnMap } from './kinds.js';
import { sortKeys } from './text.js';

/**
 * A canonical value as decoding its bytes would give it, the order of its keys included. What is so already, as nearly all
 * is that the kernel keeps, is the very same object, bytes too; only the rest is copied.
 *
 * @param value a value that `encode` accepts; keys whose value is `undefined` are left out, as in bytes
 */
export function sharedValue(value: Value): Value {
  if (typeof value === 'number') return value + 0; // −0 is written as 0
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return sharedList(value);
  if (!isOwnMap(value) && (value instanceof Uint8Array || isRef(value))) return value;
  return sharedMap(value as Fields);
}

type Fields = Readonly<Record<string, Value | undefined>>;

function sharedList(list: readonly Value[]): Value {
  let copy: Value[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as Value;
    const part = sharedValue(item);
    if (Object.is(part, item)) continue;
    copy ??= [...list];
    copy[i] = part;
  }
  return copy ?? list;
}

function sharedMap(map: Fields): Value {
  const given = Object.keys(map);
  const keys = sortKeys(given);
  let copy: Record<string, Value> | undefined = keys === given ? undefined : {};
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const item = map[key];
    const part = item === undefined ? undefined : sharedValue(item);
    if (copy === undefined && (part === undefined || !Object.is(part, item))) copy = firstOf(map, keys, i);
    if (copy !== undefined && part !== undefined) copy[key] = part;
  }
  return copy ?? (map as Readonly<Record<string, Value>>);
}

/** A copy of the entries before one that differs. */
function firstOf(map: Fields, keys: readonly string[], end: number): Record<string, Value> {
  const copy: Record<string, Value> = {};
  for (const key of keys.slice(0, end)) copy[key] = map[key] as Value;
  return copy;
}
