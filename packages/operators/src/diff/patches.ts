/** The differences of two values, as patches that make the second one from the first. */
import type { Value } from '@reprise/contracts';
import { isRef } from '@reprise/contracts';
import { encode, equalBytes } from '@reprise/kernel/codec';
import type { Patch } from './report.js';

/** The patches from one value to another, in the order in which they apply. */
export function patchesBetween(before: Value | undefined, after: Value | undefined): readonly Patch[] {
  const patches: Patch[] = [];
  compare(before, after, [], patches);
  return patches;
}

type Fields = Readonly<Record<string, Value>>;

function compare(before: Value | undefined, after: Value | undefined, path: Patch['path'], into: Patch[]): void {
  if (before === undefined && after === undefined) return;
  if (before === undefined) into.push({ op: 'add', path, value: after as Value });
  else if (after === undefined) into.push({ op: 'remove', path, before });
  else if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, into);
  else if (isFields(before) && isFields(after)) compareFields(before, after, path, into);
  else if (!isEqual(before, after)) into.push({ op: 'replace', path, before, value: after });
}

function compareFields(before: Fields, after: Fields, path: Patch['path'], into: Patch[]): void {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  for (const name of names) compare(fieldIn(before, name), fieldIn(after, name), [...path, name], into);
}

/** Items are compared by their places; what is too many is removed from the end. */
function compareLists(before: readonly Value[], after: readonly Value[], path: Patch['path'], into: Patch[]): void {
  for (const [i, item] of after.entries()) compare(before[i], item, [...path, i], into);
  for (let i = before.length - 1; i >= after.length; i--)
    into.push({ op: 'remove', path: [...path, i], before: before[i] as Value });
}

function fieldIn(fields: Fields, name: string): Value | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function isFields(value: Value): value is Fields & Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRef(value) && !isBytes(value);
}

function isBytes(value: Value): boolean {
  return value instanceof Uint8Array;
}

/** Whether two values are the same: whether they have the same bytes. */
export function isEqual(a: Value, b: Value): boolean {
  return equalBytes(encode(a), encode(b));
}
