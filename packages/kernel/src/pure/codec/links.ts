import type { Ref, Value } from '@reprise/contracts';
import { isRef, RepriseError } from '@reprise/contracts';
import { FRAME_DEPTH_MAX } from './bounds.js';
import { sortKeys } from './text.js';

/**
 * Lists the links of a value, each once, in the order in which its bytes contain them, so that a value just made
 * and the same value decoded give the same list. Text that looks like a hash is not a link.
 *
 * @param value a canonical value
 * @throws RepriseError `invalid_value` when it nests deeper than a frame may
 */
export function linksOf(value: Value): Ref[] {
  const found = new Map<string, Ref>();
  collect(value, found, 0);
  return [...found.values()];
}

function collect(value: Value, found: Map<string, Ref>, depth: number): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (isRef(value)) {
    const name = `${value.kind}:${value.hex}`;
    if (!found.has(name)) found.set(name, value);
    return;
  }
  if (depth >= FRAME_DEPTH_MAX) throw new RepriseError('invalid_value', `nests deeper than ${FRAME_DEPTH_MAX}`);
  if (isList(value)) {
    for (const item of value) collect(item, found, depth + 1);
    return;
  }
  for (const key of sortKeys(Object.keys(value))) collect(value[key] ?? null, found, depth + 1);
}

/** `Array.isArray`, which by itself does not narrow a readonly list. */
function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
