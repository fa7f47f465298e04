/** The sizes of values, computed without encoding them. */
import { isRef, utf8Length, type Value } from '@reprise/contracts';

/** The most bytes of a head, a number or a link. */
const HEAD_BYTES = 9;
const LINK_BYTES = 48;

/** An upper bound of the canonical bytes of a value. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return HEAD_BYTES + utf8Length(value);
  if (typeof value !== 'object' || value === null) return HEAD_BYTES;
  if (isRef(value)) return LINK_BYTES;
  if (value instanceof Uint8Array) return HEAD_BYTES + value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Value) => sum + sizeOf(item), HEAD_BYTES);
  let bytes = HEAD_BYTES;
  for (const [key, item] of Object.entries(value)) bytes += HEAD_BYTES + utf8Length(key) + sizeOf(item);
  return bytes;
}
