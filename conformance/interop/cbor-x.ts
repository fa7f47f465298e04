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

/** The tag of bytes that stand for their hex digits: in a frame, a digest. */
const DIGEST = 23;

/** The bytes before the digest in a link: version 1, raw bytes or a canonical value, sha2-256, 32 bytes. */
const KINDS = { '0001551220': 'raw', '0001711220': 'value' } as const;

/** Decodes with cbor-x alone: links are its `Tag`, byte strings `Uint8Array`. */
export function readPlainly(bytes: Uint8Array, options: object = OPTIONS): unknown {
  return new Decoder(options).decode(bytes);
}

/** The tags of a scope of strings and of a reference into it; what tags 28 and 29 say cbor-x resolves by itself. */
const SCOPE = 256;
const STRING = 25;

/**
 * Decodes a frame with cbor-x, and puts each string where a tag refers to it: every text, key and byte string of the
 * frame has a number, when it is long enough.
 */
export function readFramePlainly(bytes: Uint8Array, options?: object): unknown {
  const scope = readPlainly(bytes, options);
  if (!(scope instanceof Tag) || scope.tag !== SCOPE) throw new Error('not a frame');
  const strings: unknown[] = [];
  const resolved = new Map<object, unknown>();
  const note = <T extends string | Uint8Array>(string: T): T => {
    const next = strings.length;
    const least = next < 24 ? 3 : next < 0x100 ? 4 : next < 0x1_0000 ? 5 : 7;
    if (Buffer.byteLength(string) >= least) strings.push(string);
    return string;
  };
  const resolve = (thing: unknown): unknown => {
    if (typeof thing === 'string' || thing instanceof Uint8Array) return note(thing);
    if (typeof thing !== 'object' || thing === null) return thing;
    if (thing instanceof Tag)
      return thing.tag === STRING ? strings[thing.value] : new Tag(resolve(thing.value), thing.tag);
    if (resolved.has(thing)) return resolved.get(thing); // tag 29: it was read before
    const entries = Object.entries(thing).map(([key, item]) => [Array.isArray(thing) ? key : note(key), resolve(item)]);
    const copy = Array.isArray(thing) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
    resolved.set(thing, copy);
    return copy;
  };
  return resolve(scope.value);
}

/** The result of cbor-x in the form of our codec. */
export function translated(thing: unknown): Value {
  if (typeof thing === 'bigint') return Number(thing);
  if (typeof thing !== 'object' || thing === null) return thing as Value;
  if (thing instanceof Uint8Array) return new Uint8Array(thing);
  if (thing instanceof Tag) return thing.tag === DIGEST ? toHex(thing.value) : linkOf(thing);
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
  const open = world.frames.map(({ bytes }) => translated(readFramePlainly(bytes)));
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const { hex, kind } of linksOf(value)) {
      const blob = blobs.get(hex);
      if (kind !== 'value' || blob === undefined || found.has(hex)) continue;
      found.set(hex, blob);
      open.push(translated(readPlainly(blob)));
    }
  }
  return found;
}
