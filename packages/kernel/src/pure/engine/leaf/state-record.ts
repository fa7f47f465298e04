/** Writes the record that ends every frame: the touched leaves, their digests and their changed fields. */
import type { StateRecord, Value } from '@reprise/contracts';
import { compareBytes, decode, encode, equalBytes, type Hash } from '../../codec/index.js';
import { type FieldSlice, fieldsAt } from './fields.js';
import type { LeafChange } from './leaves.js';

/** A changed field is shown by value up to this many bytes, by digest beyond. */
const INLINE_BYTES_MAX = 48;

/** The state record of these changes; leaves that ended unchanged are left out. */
export function stateRecord(changes: readonly LeafChange[], hash: Hash): StateRecord {
  const touched = changes
    .filter(({ before, after }) => !same(before, after))
    .map((change) => ({ change, sort: encode(change.key.path) }));
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

/** A map somewhere in a leaf's bytes. */
interface MapAt {
  readonly bytes: Uint8Array;
  readonly at: number;
}

const EMPTY_MAP: MapAt = { bytes: Uint8Array.of(0xa0), at: 0 };

function changedFields({ before, after }: LeafChange, hash: Hash): Changed {
  if (after === undefined) return {};
  const changed = new ChangedFields(hash);
  changed.compare(before === undefined ? EMPTY_MAP : { bytes: before, at: 0 }, { bytes: after, at: 0 }, '');
  return changed.found;
}

class ChangedFields {
  readonly found: Changed = {};

  constructor(private readonly hash: Hash) {}

  /** A cell's `state` is one field of its leaf, and people want to see its fields, so it is opened. */
  compare(before: MapAt, after: MapAt, prefix: string): void {
    const old = new Map(fieldsAt(before.bytes, before.at).map((field) => [field.name, field]));
    for (const field of fieldsAt(after.bytes, after.at)) {
      const was = old.get(field.name);
      old.delete(field.name);
      if (was !== undefined && equalBytes(slice(before.bytes, was), slice(after.bytes, field))) continue;
      if (prefix === '' && field.name === 'state') {
        const state = was === undefined ? EMPTY_MAP : { bytes: before.bytes, at: was.start };
        this.compare(state, { bytes: after.bytes, at: field.start }, 'state.');
      } else {
        this.found[prefix + field.name] = this.#show(slice(after.bytes, field));
      }
    }
    for (const name of old.keys()) this.found[prefix + name] = [];
  }

  #show(bytes: Uint8Array): Uint8Array | Value[] {
    return bytes.length <= INLINE_BYTES_MAX ? [decode(bytes)] : this.hash(bytes);
  }
}

function slice(bytes: Uint8Array, field: FieldSlice): Uint8Array {
  return bytes.subarray(field.start, field.end);
}
