import type { Value } from '@reprise/contracts';
import { isRef, utf8Length } from '@reprise/contracts';
import { isOwnMap } from './kinds.js';

/** The head of a link, and its digest. */
export const LINK_BYTES = 41;

/** The bytes of a head with this argument (RFC 8949 §4.2.1). */
export function headBytes(n: number): number {
  if (n < 24) return 1;
  if (n < 0x100) return 2;
  if (n < 0x1_0000) return 3;
  return n < 0x1_0000_0000 ? 5 : 9;
}

/** The canonical bytes of a canonical value, counted without writing them. */
export function byteLength(value: Value | undefined): number {
  if (typeof value === 'string') {
    const length = utf8Length(value);
    return (length < 24 ? 1 : headBytes(length)) + length;
  }
  if (typeof value === 'number') return Number.isSafeInteger(value) ? headBytes(value < 0 ? -1 - value : value) : 9;
  if (typeof value !== 'object' || value === null) return 1;
  if (isOwnMap(value)) return mapLength(value as Readonly<Record<string, Value | undefined>>);
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + byteLength(item), headBytes(value.length));
  if (isRef(value)) return LINK_BYTES;
  if (value instanceof Uint8Array) return headBytes(value.length) + value.length;
  return mapLength(value as Readonly<Record<string, Value | undefined>>);
}

function mapLength(map: Readonly<Record<string, Value | undefined>>): number {
  let entries = 0;
  let bytes = 0;
  for (const key of Object.keys(map)) {
    const item = map[key];
    if (item === undefined) continue; // a key without a value is no part of a map
    entries++;
    bytes += byteLength(key) + byteLength(item);
  }
  return headBytes(entries) + bytes;
}

/**
 * Whether the canonical bytes of a canonical value are at most so many. Of a longer one it looks at no more than shows so.
 *
 * @param bytesMax how many they may be
 */
export function isWithinBytes(value: Value, bytesMax: number): boolean {
  return roomAfter(value, bytesMax) >= 0;
}

/** What is left of so many bytes behind a value; less than nothing when it takes more. */
function roomAfter(value: Value, room: number): number {
  if (typeof value === 'string' && value.length >= room) return -1; // a unit takes a byte at least, and the head another
  if (typeof value !== 'object' || value === null) return room - byteLength(value);
  if (isOwnMap(value) || !(Array.isArray(value) || value instanceof Uint8Array || isRef(value)))
    return roomAfterMap(value as Readonly<Record<string, Value | undefined>>, room);
  if (!Array.isArray(value)) return room - byteLength(value);
  let left = room - headBytes(value.length);
  for (let i = 0; i < value.length && left >= 0; i++) left = roomAfter(value[i] as Value, left);
  return left;
}

function roomAfterMap(map: Readonly<Record<string, Value | undefined>>, room: number): number {
  let entries = 0;
  let left = room;
  for (const key of Object.keys(map)) {
    const item = map[key];
    if (item === undefined) continue;
    entries++;
    left = roomAfter(key, left);
    if (left >= 0) left = roomAfter(item, left);
    if (left < 0) return left;
  }
  return left - headBytes(entries);
}
