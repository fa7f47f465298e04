import type { Value } from '@reprise/contracts';
import { isRef } from '@reprise/contracts';
import { decode, encode, FRAME_DEPTH_MAX, toHex } from '../../../src/pure/codec/index.js';
import { cborgAccepts } from './peers.js';

/**
 * Judges one byte string: reads it, and when it is accepted writes it again. Throws when the reader breaks its
 * promise: bytes accepted that their value does not write, or another verdict than that of cborg.
 *
 * @returns the error it was refused with, or `undefined` when it was accepted
 */
export function judge(bytes: Uint8Array): unknown {
  let value: Value;
  try {
    value = decode(bytes);
  } catch (error) {
    if (cborgAccepts(bytes))
      throw new Error(`refused, but cborg finds it canonical: ${toHex(bytes)}`, { cause: error });
    return error;
  }
  const again = toHex(encode(value, FRAME_DEPTH_MAX));
  if (again !== toHex(bytes)) throw new Error(`accepted ${toHex(bytes)}, but its value writes ${again}`);
  if (!startsWithBom(value) && !cborgAccepts(bytes))
    throw new Error(`accepted, but cborg does not find it canonical: ${toHex(bytes)}`);
  return undefined;
}

/**
 * Tells whether some text in a value starts with U+FEFF. cborg reads text with a `TextDecoder`, which drops it as
 * a byte order mark, so there its verdict on canonical bytes is wrong. RFC 8949 knows no such mark: it is text.
 */
function startsWithBom(value: Value): boolean {
  if (typeof value === 'string') return value.startsWith('\ufeff');
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || isRef(value)) return false;
  return Object.entries(value).some(([key, item]) => startsWithBom(key) || startsWithBom(item as Value));
}
