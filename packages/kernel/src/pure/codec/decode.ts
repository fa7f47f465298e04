/**
 * Reads canonical bytes, from any source.
 *
 * Invariants
 * R1  It accepts exactly what the encoder writes, and refuses every other spelling of the same value: a longer head, keys
 *     in another order, a float where an integer is due. So bytes can be compared and hashed in place of values, and one
 *     value has one digest (CODEC-3, CODEC-16).
 * R2  Work and memory are bounded by the bytes that are there, never by what they declare: a length beyond the rest is
 *     refused before anything is reserved (CODEC-14). Frames are read from files that anyone may have written.
 * R3  A map is built in the order of its bytes. Readers see its keys in one order, also when its author set them in another, and that
 *     order reaches states through reducers that iterate over a map.
 */
import type { Ref, Value } from '@reprise/contracts';
import { isRef, RepriseError, toHex } from '@reprise/contracts';
import { ENCODED_BYTES_MAX, FRAME_DEPTH_MAX, SHARED_ENTRIES_MIN } from './bounds.js';
import { bytesIn, LINK_CODEC_AT, LINK_CODEC_VALUE, LINK_HEAD, LINK_TAG } from './kinds.js';
import { recentLink } from './recent-links.js';
import {
  DIGEST_TAG,
  DIGEST_UNITS,
  ReadDigest,
  ReadScope,
  type Referred,
  SCOPE_TAG,
  SHARED_TAG,
  STRING_TAG,
  VALUE_TAG,
} from './scope.js';
import { readKey, readUtf8, sortKeys } from './text.js';

const TWO_32 = 0x1_0000_0000;

/**
 * Reads canonical bytes. It accepts exactly what `encode` writes: `encode(decode(b))` is `b`, so bytes
 * can be compared and hashed in place of values. Nothing is repaired.
 *
 * Maps become plain objects whose keys are inserted in canonical order (an engine still enumerates keys like
 * `"7"` first); bytes become a copy.
 *
 * @param bytes bytes from any source
 * @param depthMax how deep lists and maps may nest
 * @throws RepriseError `invalid_bytes`, its `where` the offset of the item that is wrong (`byte 17`): integers
 *   and lengths that are not in their shortest form, indefinite lengths, keys that are unsorted, repeated, not
 *   text or `__proto__`, floats other than 64-bit, NaN, infinities, floats that hold a safe integer, integers
 *   beyond ±(2^53−1), simple values but false, true and null, tags but 42, a tag 42 that is not our link, text
 *   that is not UTF-8, input that is cut short or goes on, nesting too deep (RFC 8949 §4.2, §5.4; DAG-CBOR)
 * @example decode(Uint8Array.of(0xa1, 0x61, 0x61, 0x01)) // { a: 1 }
 */
export function decode(bytes: Uint8Array, depthMax: number = FRAME_DEPTH_MAX): Value {
  const reader = new Reader(requireBytes(bytes), depthMax);
  const value = reader.read(0);
  reader.end();
  return value;
}

/**
 * Reads canonical bytes that `encodeScope` writes, and accepts nothing else.
 *
 * @throws RepriseError `invalid_bytes`, as `decode` does; also for references to nothing, and for what should
 *   have been a reference
 */
export function decodeScope(bytes: Uint8Array, depthMax: number = FRAME_DEPTH_MAX): Value {
  const reader = new Reader(requireBytes(bytes), depthMax, new ReadScope());
  reader.openScope();
  const value = reader.read(0);
  reader.end();
  return value;
}

/**
 * Reads the first items of a list in a scope, and nothing of what comes after them.
 *
 * @param items how many
 * @throws RepriseError `invalid_bytes`, as {@link decodeScope}, also for a list with fewer items
 */
export function decodeScopeStart(bytes: Uint8Array, items: number, depthMax: number = FRAME_DEPTH_MAX): Value[] {
  const reader = new Reader(requireBytes(bytes), depthMax, new ReadScope());
  reader.openScope();
  return reader.start(items);
}

function requireBytes(bytes: Uint8Array): Uint8Array {
  if (typeof bytes === 'object' && bytes !== null && bytesIn(bytes) !== undefined) return bytes;
  throw new RepriseError('invalid_bytes', 'only bytes can be decoded', { expected: 'a Uint8Array', actual: bytes });
}

class Reader {
  private pos = 0;
  private readonly bytes: Uint8Array;
  private readonly depthMax: number;
  private readonly view: DataView;
  /** What can be referred to; undefined outside of a scope. */
  private readonly within: ReadScope | undefined;
  /** Bytes of the maps that references stood for. */
  private referredBytes = 0;

  constructor(bytes: Uint8Array, depthMax: number, scope?: ReadScope) {
    this.bytes = bytes;
    this.depthMax = depthMax;
    this.within = scope;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  openScope(): void {
    const first = this.bytes[0];
    if (first === undefined || first >> 5 !== 6 || this.argument(first) !== SCOPE_TAG) {
      refuse(0, `the item has no tag ${SCOPE_TAG}`);
    }
  }

  start(items: number): Value[] {
    const start = this.pos;
    const first = this.bytes[start] ?? 0;
    if (first >> 5 !== 4 || this.length(first) < items) refuse(start, `a list has fewer than ${items} items`);
    return Array.from({ length: items }, () => this.read(1));
  }

  end(): void {
    if (this.pos !== this.bytes.length) refuse(this.pos, 'bytes go on after the value');
  }

  read(depth: number): Value {
    const start = this.pos;
    if (start >= this.bytes.length) refuse(start, 'bytes end before the value does');
    const first = this.bytes[start] as number;
    if (first < 24) {
      this.pos = start + 1; // a small number is its own head
      return first;
    }
    switch (first >> 5) {
      case 0:
        return this.integer(first);
      case 1:
        return this.negative(first);
      case 2:
        return this.blob(this.length(first));
      case 3:
        return this.text(this.length(first), start);
      case 4:
        return this.list(this.length(first), depth, start);
      case 5:
        return this.unsharedMap(this.length(first), depth, start);
      case 6:
        return this.tagged(first, depth, start);
      default:
        return this.simple(first, start);
    }
  }

  private integer(first: number): number {
    const start = this.pos;
    const n = this.argument(first);
    if (n > Number.MAX_SAFE_INTEGER) refuse(start, 'an integer lies beyond ±(2^53−1)');
    return n;
  }

  private negative(first: number): number {
    const start = this.pos;
    const n = this.argument(first);
    if (n >= Number.MAX_SAFE_INTEGER) refuse(start, 'an integer lies beyond ±(2^53−1)');
    return -1 - n;
  }

  /** The length of the next content. Every item takes a byte at least, so a larger length is invalid: nothing is allocated. */
  private length(first: number): number {
    const start = this.pos;
    const info = first & 0x1f;
    if (info < 24) this.pos = start + 1;
    const n = info < 24 ? info : this.argument(first);
    if (n > this.bytes.length - this.pos) refuse(start, 'a length goes beyond the bytes');
    return n;
  }

  /** The argument of a head, which must be in its shortest form. May exceed the safe integers; callers check. */
  private argument(first: number): number {
    const start = this.pos;
    const info = first & 0x1f;
    if (info < 24) {
      this.pos = start + 1;
      return info;
    }
    if (info > 27) refuse(start, info === 31 ? 'a length is indefinite' : 'a head is reserved');
    const size = 1 << (info - 24);
    if (start + size >= this.bytes.length) refuse(start, 'bytes end before the value does');
    this.pos = start + 1 + size;
    const n = this.unsigned(start + 1, size);
    if (n < leastOf(size)) refuse(start, 'an integer or length is not in its shortest form');
    return n;
  }

  private unsigned(at: number, size: number): number {
    if (size === 1) return this.bytes[at] as number;
    if (size === 2) return this.view.getUint16(at);
    if (size === 4) return this.view.getUint32(at);
    return this.view.getUint32(at) * TWO_32 + this.view.getUint32(at + 4);
  }

  private blob(length: number): Uint8Array {
    // Not `slice`: that of a `Buffer` shares memory with its parent.
    const copy = new Uint8Array(length);
    copy.set(this.bytes.subarray(this.pos, this.pos + length));
    this.pos += length;
    this.within?.readOther(length);
    return copy;
  }

  private text(length: number, start: number): string {
    const from = this.pos;
    this.pos = from + length;
    const text = readUtf8(this.bytes, from, this.pos);
    if (typeof text !== 'string') return refuse(start, 'text is not well-formed UTF-8', `byte ${text}`);
    this.note(text, length, start);
    return text;
  }

  private note(text: string, length: number, start: number): void {
    if (this.within === undefined) return;
    if (length === DIGEST_UNITS && DIGEST.test(text)) refuse(start, `a digest is not bytes with tag ${DIGEST_TAG}`);
    if (!this.within.readText(text, length)) refuse(start, 'a text that stood before is not a reference');
  }

  /** The string that a reference names: its tag was read. */
  private referred(start: number): Referred {
    const first = this.bytes[this.pos] ?? 0xff;
    if (first >> 5 !== 0) refuse(start, 'a reference is not a number');
    const string = this.within?.at(this.argument(first));
    return string === undefined ? refuse(start, 'a reference leads to no string') : string;
  }

  private list(length: number, depth: number, start: number): Value[] {
    this.enter(depth, start);
    const items: Value[] = [];
    for (let i = 0; i < length; i++) items.push(this.read(depth + 1));
    return items;
  }

  private unsharedMap(length: number, depth: number, start: number): Value {
    if (this.within !== undefined && length >= SHARED_ENTRIES_MIN) refuse(start, 'a map is not marked as shared');
    return this.map(length, depth, start);
  }

  private map(length: number, depth: number, start: number): Record<string, Value> {
    this.enter(depth, start);
    if (length * 2 > this.bytes.length - this.pos) refuse(start, 'a length goes beyond the bytes');
    const map: Record<string, Value> = {};
    let previous = -1;
    let previousEnd = -1;
    for (let i = 0; i < length; i++) {
      const at = this.pos;
      const key = this.key();
      if (i > 0) this.ordered(previous, previousEnd, at);
      previous = at;
      previousEnd = this.pos;
      map[key] = this.read(depth + 1);
    }
    return map;
  }

  private key(): string {
    const start = this.pos;
    if (start >= this.bytes.length) refuse(start, 'bytes end before the value does');
    const first = this.bytes[start] as number;
    if (first >> 5 !== 3) refuse(start, 'a key is not text');
    const length = this.length(first);
    const from = this.pos;
    this.pos = from + length;
    const key = readKey(this.bytes, from, this.pos);
    if (typeof key === 'number') refuse(start, 'text is not well-formed UTF-8', `byte ${key}`);
    if (key === '__proto__') refuse(start, 'a map has no key __proto__');
    this.within?.readOther(length);
    return key;
  }

  /**
   * Keys must ascend. They are compared with their heads: a shortest head grows with the length in it, so byte
   * order with heads is the order by length, then by byte.
   */
  private ordered(previous: number, previousEnd: number, at: number): void {
    const { bytes } = this;
    const end = this.pos;
    for (let a = previous, b = at; a < previousEnd && b < end; a++, b++) {
      const difference = (bytes[a] as number) - (bytes[b] as number);
      if (difference < 0) return;
      if (difference > 0) refuse(at, 'keys are not in canonical order');
    }
    refuse(at, 'a key is repeated');
  }

  private tagged(first: number, depth: number, start: number): Value {
    const tag = this.argument(first);
    const scope = this.within;
    if (tag === LINK_TAG) {
      const refers = scope !== undefined && (this.bytes[this.pos] ?? 0) >> 5 === 6;
      return refers ? this.referredLink(start) : this.link(start);
    }
    if (scope !== undefined && tag === STRING_TAG) {
      const text = this.referred(start);
      return typeof text === 'string' ? text : refuse(start, 'a reference to a link or digest without its tag');
    }
    if (scope !== undefined && tag === DIGEST_TAG) return this.digest(scope, start);
    if (scope !== undefined && tag === SHARED_TAG) return this.sharedMap(scope, depth, start);
    if (scope !== undefined && tag === VALUE_TAG) return this.referredMap(scope, depth, start);
    return refuse(start, `a tag is not ${LINK_TAG}`);
  }

  private sharedMap({ maps }: ReadScope, depth: number, start: number): Value {
    const first = this.bytes[this.pos] ?? 0;
    const length = first >> 5 === 5 ? this.length(first) : 0;
    if (length < SHARED_ENTRIES_MIN) refuse(start, 'a shared value is not a map of three or more entries');
    const number = maps.begin();
    const before = this.referredBytes;
    const map = this.map(length, depth, start);
    const keys = sortKeys(Object.keys(map));
    if (maps.find(map, keys) !== undefined) refuse(start, 'a map that stood before is not a reference');
    maps.end(number, map, keys, this.pos - start + this.referredBytes - before);
    return map;
  }

  /**
   * The map that a reference names, as a copy: nothing that was read is in two places. References to maps of references
   * could stand for more than any memory holds, so their sum is bounded as the bytes of a value are.
   */
  private referredMap({ maps }: ReadScope, depth: number, start: number): Value {
    const first = this.bytes[this.pos] ?? 0xff;
    const shared = first >> 5 === 0 ? maps.at(this.argument(first)) : undefined;
    if (shared === undefined) return refuse(start, 'a reference leads to no map');
    this.referredBytes += shared.bytes;
    if (this.referredBytes > ENCODED_BYTES_MAX)
      refuse(start, `references stand for more than ${ENCODED_BYTES_MAX} bytes`);
    return this.copied(shared.map as Value, depth, start);
  }

  private copied(value: Value, depth: number, start: number): Value {
    if (typeof value !== 'object' || value === null || isRef(value)) return value;
    if (value instanceof Uint8Array) return new Uint8Array(value);
    this.enter(depth, start);
    if (Array.isArray(value)) return value.map((item: Value) => this.copied(item, depth + 1, start));
    const copy: Record<string, Value> = {};
    for (const [key, item] of Object.entries(value)) copy[key] = this.copied(item as Value, depth + 1, start);
    return copy;
  }

  /** The digits that bytes stand for, or a reference to such bytes. */
  private digest(scope: ReadScope, start: number): string {
    const first = this.bytes[this.pos] ?? 0xff;
    if (first >> 5 === 6 && this.argument(first) === STRING_TAG) {
      const digest = this.referred(start);
      if (digest instanceof ReadDigest) return digest.hex;
    }
    if (first >> 5 !== 2 || this.length(first) !== DIGEST_UNITS / 2)
      refuse(start, 'a digest is neither 32 bytes nor a reference to a digest');
    const from = this.pos;
    this.pos = from + DIGEST_UNITS / 2;
    const hex = toHex(this.bytes.subarray(from, this.pos));
    if (!scope.readDigest(hex)) refuse(start, 'a digest that stood before is not a reference');
    return hex;
  }

  private referredLink(start: number): Ref {
    if (this.argument(this.bytes[this.pos] as number) !== STRING_TAG) refuse(start, `a tag is not ${LINK_TAG}`);
    const link = this.referred(start);
    return isRef(link) ? link : refuse(start, 'a link refers to a text or digest');
  }

  private link(start: number): Ref {
    const { bytes } = this;
    const from = start + LINK_HEAD.length;
    const end = from + 32;
    if (end > bytes.length) refuse(start, 'a link is not a CIDv1 of raw bytes or a value by sha2-256');
    for (let i = this.pos - start; i < LINK_HEAD.length; i++) {
      if (bytes[start + i] !== LINK_HEAD[i] && !(i === LINK_CODEC_AT && bytes[start + i] === LINK_CODEC_VALUE))
        refuse(start, 'a link is not a CIDv1 of raw bytes or a value by sha2-256');
    }
    this.pos = end;
    const kind = bytes[start + LINK_CODEC_AT] === LINK_CODEC_VALUE ? 'value' : 'raw';
    const link = recentLink(bytes, from, kind);
    if (this.within?.readLink(link) === false) refuse(start, 'a link that stood before is not a reference');
    return link;
  }

  private simple(first: number, start: number): Value {
    if (first === 0xfb) return this.float(start);
    this.pos = start + 1;
    if (first === 0xf4) return false;
    if (first === 0xf5) return true;
    if (first === 0xf6) return null;
    if (first === 0xf9 || first === 0xfa) refuse(start, 'a float is not of 64 bits');
    if (first === 0xff) refuse(start, 'a length is indefinite');
    return refuse(start, 'a simple value is not false, true or null');
  }

  private float(start: number): number {
    if (start + 9 > this.bytes.length) refuse(start, 'bytes end before the value does');
    const n = this.view.getFloat64(start + 1);
    if (!Number.isFinite(n)) refuse(start, 'a number is not finite');
    if (Number.isSafeInteger(n)) refuse(start, 'a float holds a safe integer');
    this.pos = start + 9;
    return n;
  }

  private enter(depth: number, start: number): void {
    if (depth >= this.depthMax) refuse(start, `nests deeper than ${this.depthMax}`);
  }
}

/** A text that is written as the bytes that it stands for. */
const DIGEST = /^[0-9a-f]{64}$/;

/** The least argument that needs so many bytes. */
function leastOf(size: number): number {
  if (size === 1) return 24;
  if (size === 2) return 0x100;
  return size === 4 ? 0x1_0000 : TWO_32;
}

function refuse(at: number, what: string, actual?: string): never {
  throw new RepriseError('invalid_bytes', what, { where: `byte ${at}`, ...(actual === undefined ? {} : { actual }) });
}
