/**
 * Canonical bytes as a reader has them that knows nothing of Reprise: the library cbor-x, of which nothing is asked
 * but two options. What it gives in other words than our codec (links, large integers) is translated here, in the
 * open, so that "the same value" means something.
 */
import { Ref, type Value } from '@reprise/contracts';
import { encode, FRAME_DEPTH_MAX, linksOf, toHex } from '@reprise/kernel';
import { Decoder, Tag } from 'cbor-x';

/** Maps become plain objects, and 64-bit integers numbers; without the second they are `bigint`. */
export const OPTIONS = { useRecords: false, int64AsNumber: true } as const;

/** The tag of a link. */
const LINK = 42;

/** The bytes before the digest in a link: version 1, raw bytes or a canonical value, sha2-256, 32 bytes. */
const KINDS = { '0001551220': 'raw', '0001711220': 'value' } as const;

/** Decodes with cbor-x alone: links are its `Tag`, byte strings `Uint8Array`. */
export function readPlainly(bytes: Uint8Array, options: object = OPTIONS): unknown {
  return new Decoder(options).decode(bytes);
}

/** The result of cbor-x in the form of our codec. */
export function translated(thing: unknown): Value {
  if (typeof thing === 'bigint') return Number(thing);
  if (typeof thing !== 'object' || thing === null) return thing as Value;
  if (thing instanceof Uint8Array) return new Uint8Array(thing);
  if (thing instanceof Tag) return linkOf(thing);
  if (Array.isArray(thing)) return thing.map(translated);
  if (Object.getPrototypeOf(thing) !== Object.prototype) throw new Error(`cbor-x gave a ${thing.constructor.name}`);
  return Object.fromEntries(Object.entries(thing).map(([key, item]) => [key, translated(item)]));
}

function linkOf({ tag, value }: Tag): Ref {
  if (tag !== LINK || !(value instanceof Uint8Array)) throw new Error(`tag ${tag} is not a link`);
  const kind = KINDS[toHex(value.subarray(0, 5)) as keyof typeof KINDS];
  return Ref.fromHex(toHex(value.subarray(5)), kind);
}

/** The bytes that our codec writes of what cbor-x read. */
export function writtenAgain(bytes: Uint8Array, options?: object): Uint8Array {
  return encode(translated(readPlainly(bytes, options)), FRAME_DEPTH_MAX);
}

/** A saved world as cbor-x reads it. */
export interface PlainWorld {
  readonly frames: readonly { readonly kind: string; readonly head: string; readonly bytes: Uint8Array }[];
  readonly blobs: readonly Uint8Array[];
}

/** The digests of all blobs that frames link as canonical values, by way of each other as well. */
export function linkedValues(world: PlainWorld, digestOf: (bytes: Uint8Array) => string): Map<string, Uint8Array> {
  const blobs = new Map(world.blobs.map((blob) => [digestOf(blob), blob]));
  const found = new Map<string, Uint8Array>();
  const open = world.frames.map(({ bytes }) => bytes);
  for (let bytes = open.pop(); bytes !== undefined; bytes = open.pop()) {
    for (const { hex, kind } of linksOf(translated(readPlainly(bytes)))) {
      const blob = blobs.get(hex);
      if (kind !== 'value' || blob === undefined || found.has(hex)) continue;
      found.set(hex, blob);
      open.push(blob);
    }
  }
  return found;
}
