/** The sizes of values, computed without encoding them. */
import { isRef, type Value } from '@reprise/contracts';

/** The most bytes of a head, a number or a link. */
const HEAD_BYTES = 9;
const LINK_BYTES = 48;

/** The bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair counts two: both together are four bytes.
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** An upper bound of the canonical bytes of a value. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return HEAD_BYTES + utf8Bytes(value);
  if (typeof value !== 'object' || value === null) return HEAD_BYTES;
  if (isRef(value)) return LINK_BYTES;
  if (value instanceof Uint8Array) return HEAD_BYTES + value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Value) => sum + sizeOf(item), HEAD_BYTES);
  let bytes = HEAD_BYTES;
  for (const [key, item] of Object.entries(value)) bytes += HEAD_BYTES + utf8Bytes(key) + sizeOf(item);
  return bytes;
}
