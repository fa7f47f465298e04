/** Writes the record that ends every frame: the touched leaves, their digests and their changed fields. */
import type { StateRecord, Value } from '@reprise/contracts';
import { compareBytes, decode, encode, equalBytes, type Hash } from '../codec/index.js';
import { type FieldSlice, fieldsAt } from './fields.js';
import type { LeafChange } from './leaves.js';

/** A changed field is shown by value up to this many bytes, by digest beyond. */
const INLINE_BYTES_MAX = 48;

/** The state record of these changes; leaves that ended as they began are left out. */
export function stateRecord(changes: readonly LeafChange[], hash: Hash): StateRecord {
  const touched = changes.filter(({ before, after }) => !same(before, after)).map((change) => ({ change, sort: encode(change.key.path) }));
  touched.sort((a, b) => compareBytes(a.sort, b.sort));
  return {
    kind: 'state',
    leaves: touched.map(({ change }) => [
      [...change.key.path],
      change.after === undefined ? null : hash(change.after),
      changedFields(change, hash),
    ]),
  };
}

function same(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equalBytes(a, b);
}

type Changed = Record<string, Uint8Array | Value[]>;

function changedFields({ before, after }: LeafChange, hash: Hash): Changed {
  const changed: Changed = {};
  if (after === undefined) return changed;
  const old = before ?? new Uint8Array([0xa0]);
  compareFields(old, 0, after, 0, '', changed, hash);
  return changed;
}

/** A cell's `state` is one field of its leaf; its own fields are what people want to see, so it is opened. */
function compareFields(
  before: Uint8Array,
  beforeAt: number,
  after: Uint8Array,
  afterAt: number,
  prefix: string,
  changed: Changed,
  hash: Hash,
): void {
  const old = new Map(fieldsAt(before, beforeAt).map((field) => [field.name, field]));
  for (const field of fieldsAt(after, afterAt)) {
    const was = old.get(field.name);
    old.delete(field.name);
    if (was !== undefined && equalBytes(slice(before, was), slice(after, field))) continue;
    if (prefix === '' && field.name === 'state') {
      compareFields(was === undefined ? new Uint8Array([0xa0]) : before, was?.start ?? 0, after, field.start, 'state.', changed, hash);
    } else {
      changed[prefix + field.name] = show(slice(after, field), hash);
    }
  }
  for (const name of old.keys()) changed[prefix + name] = [];
}

function slice(bytes: Uint8Array, field: FieldSlice): Uint8Array {
  return bytes.subarray(field.start, field.end);
}

function show(bytes: Uint8Array, hash: Hash): Uint8Array | Value[] {
  return bytes.length <= INLINE_BYTES_MAX ? [decode(bytes)] : hash(bytes);
}
