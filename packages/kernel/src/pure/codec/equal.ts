import type { Value } from '@reprise/contracts';
import { isRef } from '@reprise/contracts';
import { equalBytes } from './bytes.js';
import { isOwnMap } from './kinds.js';

/** Whether two canonical values have the same bytes. The order of keys does not matter; absent and undefined are one. */
export function equalValues(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isOwnMap(a) && isOwnMap(b)) return equalMaps(a as Fields, b as Fields);
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  if (isRef(a)) return isRef(b) && a.hex === b.hex && a.kind === b.kind;
  return !Array.isArray(b) && !(b instanceof Uint8Array) && !isRef(b) && equalMaps(a as Fields, b as Fields);
}

type Fields = Readonly<Record<string, Value | undefined>>;

function equalLists(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equalValues(a[i], b[i])) return false;
  return true;
}

function equalMaps(a: Fields, b: Fields): boolean {
  let present = 0;
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue;
    present++;
    if (!Object.hasOwn(b, key) || !equalValues(a[key], b[key])) return false;
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) present--;
  return present === 0;
}
