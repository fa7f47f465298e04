/**
 * The encoding of the values of tables. A value in a table is only ever replaced, never written into, so each is encoded
 * once: a write to one entry does not pay for the other entries of its node.
 */
import type { Value } from '@reprise/contracts';
import { encodeKernel } from '../../codec/index.js';

const known = new WeakMap<object, Uint8Array>();

/** The encoding of a value of a table. */
export function encodedValue(value: Value): Uint8Array {
  if (typeof value !== 'object' || value === null) return encodeKernel(value);
  const before = known.get(value);
  if (before !== undefined) return before;
  const bytes = encodeKernel(value);
  known.set(value, bytes);
  return bytes;
}
