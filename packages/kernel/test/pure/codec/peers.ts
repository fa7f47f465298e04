/**
 * Two CBOR libraries written by others, set up to write our profile. Neither knows it by name; what each is told
 * is noted here, so that agreement means something.
 */
import type { Value } from '@reprise/contracts';
import { isRef, Ref } from '@reprise/contracts';
import { encode as cbor2Encode, Tag } from 'cbor2';
import { sortLengthFirstDeterministic } from 'cbor2/sorts';
import * as cborg from 'cborg';
import { toHex } from '../../../src/pure/codec/index.js';

/** The body of a link's tag: what stands in its byte string of 37. */
function linkBody(ref: Ref): Uint8Array {
  const body = new Uint8Array(37);
  body.set(ref.kind === 'value' ? [0, 1, 0x71, 0x12, 0x20] : [0, 1, 0x55, 0x12, 0x20]);
  for (let i = 0; i < 32; i++) body[5 + i] = Number.parseInt(ref.hex.slice(2 * i, 2 * i + 2), 16);
  return body;
}

function cborgLink(thing: unknown): cborg.Token[] | null {
  if (!isRef(thing)) return null; // null: encode it as the plain object it is
  return [new cborg.Token(cborg.Type.tag, 42), new cborg.Token(cborg.Type.bytes, linkBody(thing))];
}

/**
 * Writes a value with cborg. It sorts keys by length, then byte, and writes −0 as 0 by itself; it is told to
 * write every float with 64 bits, to leave out `undefined` values, and what a link is.
 */
export function cborgBytes(value: Value): Uint8Array {
  return cborg.encode(value, { float64: true, ignoreUndefinedProperties: true, typeEncoders: { Object: cborgLink } });
}

/** Reads a link as cborg hands it to the decoder of tag 42; anything else than ours is refused. */
function cborgRef(decodeBody: () => unknown): Ref {
  const body = decodeBody();
  if (!(body instanceof Uint8Array) || body.length !== 37) throw new Error('not a link');
  const ref = Ref.fromHex(toHex(body.subarray(5)), body[2] === 0x71 ? 'value' : 'raw');
  if (toHex(linkBody(ref)) !== toHex(body)) throw new Error('not a link');
  return ref;
}

const STRICT = {
  strict: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowInfinity: false,
  allowNaN: false,
  allowBigInt: false,
  rejectDuplicateMapKeys: true,
  tags: { 42: cborgRef },
} as const;

/**
 * Tells whether bytes are canonical, without a line of our decoder: cborg reads them as strictly as it can, and
 * what it still lets through (unsorted keys, short floats, damaged UTF-8, floats that hold integers) shows when
 * it writes the value again.
 */
export function cborgAccepts(bytes: Uint8Array): boolean {
  try {
    const value: Value = cborg.decode(bytes, STRICT);
    return toHex(cborgBytes(value)) === toHex(bytes);
  } catch {
    return false;
  }
}

/**
 * Writes a value with cbor2. It writes shortest integers by itself; it is told to write floats with 64 bits and
 * −0 as 0, and how to sort. It keeps `undefined` values and knows no links, so the value is prepared for it.
 */
export function cbor2Bytes(value: Value): Uint8Array {
  return cbor2Encode(prepared(value), {
    float64: true,
    simplifyNegativeZero: true,
    sortKeys: sortLengthFirstDeterministic,
    rejectUndefined: true,
    rejectDuplicateKeys: true,
  });
}

/** The same value in cbor2's words: links as its tags, maps as `Map`s (it calls `toJSON` on objects that have one). */
function prepared(value: Value): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (isRef(value)) return new Tag(42, linkBody(value));
  if (Array.isArray(value)) return value.map(prepared);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return new Map(entries.map(([key, item]) => [key, prepared(item)]));
}
