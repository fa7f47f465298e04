import type * as zod from 'zod';
import { type Marker, marker } from '../schema/markers.js';
import { string } from '../schema/scalars.js';
import { CELL_KEY_BYTES_MAX } from '../schema/text-length.js';
import { DIGEST_HEX } from '../text/hex.js';
import { isRef, type Ref, type Value } from './value.js';

/**
 * A schema for a link to content. Journaled schemas name content by a link, never by text.
 *
 * @example
 * const UserInput = z.strictObject({ input_ref: ref() })
 */
export function ref(): zod.ZodType<Ref> {
  return asZod(marker<Ref>(isRef));
}

/**
 * A schema for any canonical value, stored unchanged. Use it for data whose shape another schema decides (a receipt's
 * payload, a plan's input inside a record), not to avoid writing a schema.
 */
export function value(): zod.ZodType<Value> {
  return asZod(marker<Value>(isAnyValue));
}

/** A schema for bytes. Refused in reducer state: large data belongs in the content store. */
export function bytes(): zod.ZodType<Uint8Array> {
  return asZod(marker<Uint8Array>(isBytes));
}

/** A schema for a digest in text: 64 lower-case hex digits. */
export function digestHex() {
  return string().regex(DIGEST_HEX);
}

/**
 * A schema for a text that is a key, of a cell or of an entry of a table: well-formed text of 1 to 256 bytes in UTF-8.
 * Every text that comes from outside and becomes a key, an address or the bound of a range has this schema where it
 * enters, so that the sender is refused and not the cell failed.
 *
 * @param bytesMax the most bytes; less than 256 where the key is composed of this text and others
 * @example
 * const events = { 'shop/Ordered@1': z.strictObject({ order_id: keyText() }) }
 */
export function keyText(bytesMax: number = CELL_KEY_BYTES_MAX): zod.ZodType<string> {
  return string().key(bytesMax) as unknown as zod.ZodType<string>;
}

/** Apps put markers into zod's schemas, and wrap them as such. What changes a value has no place in a journal. */
function asZod<T>(made: Marker<T>): zod.ZodType<T> {
  return made as unknown as zod.ZodType<T>;
}

/** Finds the marker behind a custom schema's predicate, so that the kernel's compiler recognizes it. */
export function markerOf(predicate: unknown): 'ref' | 'value' | 'bytes' | undefined {
  if (predicate === isRef) return 'ref';
  if (predicate === isAnyValue) return 'value';
  if (predicate === isBytes) return 'bytes';
  return undefined;
}

function isAnyValue(thing: unknown): boolean {
  return thing !== undefined;
}

function isBytes(thing: unknown): boolean {
  return thing instanceof Uint8Array;
}
