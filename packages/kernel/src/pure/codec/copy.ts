import type { Value } from '@reprise/contracts';
import { isRef } from '@reprise/contracts';
import { isOwnMap } from './kinds.js';
import { sortKeys } from './text.js';

/** Copies a value in normal form: one that the codec has read or normalized, whose keys are in order already. */
export function copyNormal(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return copyNormalList(value);
  if (isOwnMap(value)) return copyMap(value as Readonly<Record<string, Value>>);
  if (isRef(value)) return value;
  if (value instanceof Uint8Array) return new Uint8Array(value);
  return copyMap(value as Readonly<Record<string, Value>>);
}

// Items that are no objects, which most are, are copied without a call.
function copyNormalList(value: readonly Value[]): Value {
  const copy = [...value];
  for (let i = 0; i < copy.length; i++) {
    const item = copy[i] as Value;
    if (typeof item === 'object' && item !== null) copy[i] = copyNormal(item);
  }
  return copy;
}

function copyMap(value: Readonly<Record<string, Value>>): Value {
  // Spread at once: an object that gets many keys one by one becomes a hash table, which is slow from then on.
  const copy: Record<string, Value> = { ...value };
  for (const key of Object.keys(copy)) {
    const item = copy[key] as Value;
    if (typeof item === 'object' && item !== null) copy[key] = copyNormal(item);
  }
  return copy;
}

/**
 * Copies a canonical value: the result is what decoding its bytes would give, the order of its keys included, without
 * making the bytes. Links are frozen, so they are shared.
 *
 * @param value a value that `encode` accepts; keys whose value is `undefined` are left out, as in bytes
 */
export function copyValue(value: Value): Value {
  if (typeof value !== 'object' || value === null) return copiedItem(value);
  if (Array.isArray(value)) return copyList(value);
  if (!isOwnMap(value)) {
    if (value instanceof Uint8Array) return new Uint8Array(value);
    if (isRef(value)) return value;
  }
  const map = value as Readonly<Record<string, Value | undefined>>;
  const copy: Record<string, Value> = {};
  for (const key of sortKeys(Object.keys(map))) {
    const item = map[key];
    if (item === undefined) continue;
    copy[key] = copiedItem(item);
  }
  return copy;
}

function copyList(value: readonly Value[]): Value {
  const copy = [...value];
  for (let i = 0; i < copy.length; i++) copy[i] = copiedItem(copy[i] as Value);
  return copy;
}

function copiedItem(item: Value): Value {
  if (typeof item === 'number') return item + 0; // −0 is written as 0
  return typeof item === 'object' && item !== null ? copyValue(item) : item;
}
