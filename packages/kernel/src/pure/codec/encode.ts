/**
 * Writes values as canonical bytes: one value, one byte string.
 *
 * Invariants
 * E1  What is written depends on the value alone: not on the order in which its keys were set, on the locale, or on an
 *     earlier call. Digests, heads and ids of effects are made of these bytes.
 * E2  No accessor of a value is run: it is refused, since it could answer differently the second time (CODEC-12). Values
 *     that the kernel itself has built hold none, and are not searched.
 * E3  The bound on bytes is held while they are written: a value that names one list a thousand times is small in memory
 *     and would be endless here (CODEC-11).
 * E4  Calls share one buffer, and what they return is a copy. A call inside another one, which a proxy can cause, gets a
 *     buffer of its own.
 */
import type { Ref } from '@reprise/contracts';
import { isRef, RepriseError, startOfText, utf8Length } from '@reprise/contracts';
import { ENCODED_BYTES_MAX, FRAME_DEPTH_MAX, SHARED_ENTRIES_MIN, VALUE_DEPTH_MAX } from './bounds.js';
import { bytesIn, isOwnMap, itemAt, LINK_CODEC_AT, LINK_CODEC_VALUE, LINK_HEAD, LINK_TAG, plainness } from './kinds.js';
import { DIGEST_TAG, DIGEST_UNITS, SCOPE_TAG, SHARED_TAG, STRING_TAG, VALUE_TAG, WrittenScope } from './scope.js';
import { sortKeys, writeUtf8 } from './text.js';

/** The initial size of the pooled writer: enough for nearly every event, so that few calls ever grow it. */
const POOL_BYTES = 16 * 1024;

/** A writer that grew beyond this is dropped, so that one huge value does not pin its buffer for ever. */
const POOL_BYTES_MAX = 1024 * 1024;

const TWO_32 = 0x1_0000_0000;

let pooled: Writer | undefined;

/**
 * Writes a value as its one canonical byte string: strict DAG-CBOR (RFC 8949 §4.2.3 with definite lengths,
 * shortest integers, keys by length then byte; every other number as a 64-bit float; tag 42 the only tag).
 *
 * Two things are normalised and nothing else: −0 is written as 0, and a key whose value is `undefined` is left
 * out. Properties that are not enumerable, and named properties of a list, are no part of a value.
 *
 * @param thing anything; only canonical values are accepted
 * @param depthMax how deep lists and maps may nest
 * @returns bytes of their own, which nothing else refers to
 * @throws RepriseError `invalid_value`, its `where` a path such as `$.a.b[3]`, for everything else: NaN,
 *   infinities, holes, `undefined` where no key can be left out, class instances, functions, symbols, accessors,
 *   lone surrogates, bigint, the key `__proto__`, cycles and whatever else nests too deep
 * @example encode({ b: 1, a: -0 }) // a2 61 61 00 61 62 01
 */
export function encode(thing: unknown, depthMax: number = VALUE_DEPTH_MAX): Uint8Array {
  return withWriter((writer) => {
    writer.start(depthMax);
    writer.write(thing, 0);
    return writer.finish();
  });
}

/**
 * Writes a value that the kernel itself has built, as {@link encode} does, but does not search it for accessors and
 * symbols. It may nest as deep as a frame.
 */
export function encodeKernel(thing: unknown): Uint8Array {
  return withWriter((writer) => {
    writer.start(FRAME_DEPTH_MAX, TRUSTED);
    writer.write(thing, 0);
    return writer.finish();
  });
}

const TRUSTED = { trusted: true } as const;

/** Writes several values that the kernel itself has built with one writer: each as {@link encodeKernel} does. */
export function encodeEach(things: readonly unknown[]): Uint8Array[] {
  return withWriter((writer) =>
    things.map((thing) => {
      writer.start(FRAME_DEPTH_MAX, TRUSTED);
      writer.write(thing, 0);
      return writer.finish();
    }),
  );
}

/** Writes a list whose items are encoded already: the same bytes as those of the list itself. */
export function encodeItems(items: readonly Uint8Array[]): Uint8Array {
  return withWriter((writer) => {
    writer.start(FRAME_DEPTH_MAX, TRUSTED);
    writer.items(items);
    return writer.finish();
  });
}

/**
 * Writes a value as {@link encode} does, in a scope: what stood before in the same value is a reference
 * (`scope.ts`). The inverse is `decodeScope`.
 *
 * @param thing a value that only trusted code has built: it is not searched for accessors and symbols
 * @throws RepriseError `invalid_value`, as `encode` does
 */
export function encodeScope(thing: unknown, depthMax: number = VALUE_DEPTH_MAX): Uint8Array {
  return encodeScopeLinks(thing, depthMax).bytes;
}

/** Bytes in a scope, and the links in them, each once, in the order in which they stand there. */
export interface LinkedBytes {
  readonly bytes: Uint8Array;
  readonly links: readonly Ref[];
}

/** Writes a value as {@link encodeScope} does, and lists its links: the list that `linksOf` gives of it. */
export function encodeScopeLinks(thing: unknown, depthMax: number): LinkedBytes {
  const within = new WrittenScope();
  const bytes = withWriter((writer) => {
    writer.start(depthMax, { trusted: true, within });
    writer.openScope();
    writer.write(thing, 0);
    return writer.finish();
  });
  return { bytes, links: within.links };
}

function withWriter<T>(write: (writer: Writer) => T): T {
  // A proxy may call back into `encode`: a running call has taken the writer out of the pool.
  const writer = pooled ?? new Writer();
  pooled = undefined;
  try {
    return write(writer);
  } finally {
    if (writer.reusable()) pooled = writer;
  }
}

class Writer {
  private bytes = new Uint8Array(POOL_BYTES);
  private view = new DataView(this.bytes.buffer);
  private pos = 0;
  private depthMax = VALUE_DEPTH_MAX;
  /** The key or index being written at each depth: read only to name the place of a refused value. */
  private readonly path: (string | number)[] = [];
  /** Only the kernel's own code has built what is written. */
  private trusted = false;
  /** What can be referred to; undefined outside of a scope. */
  private within: WrittenScope | undefined;

  start(depthMax: number, options: { readonly trusted?: boolean; readonly within?: WrittenScope } = {}): void {
    this.pos = 0;
    this.depthMax = depthMax;
    this.trusted = options.trusted === true;
    this.within = options.within;
  }

  openScope(): void {
    this.head(0xc0, SCOPE_TAG, 0);
  }

  finish(): Uint8Array {
    return this.bytes.slice(0, this.pos);
  }

  reusable(): boolean {
    return this.bytes.length <= POOL_BYTES_MAX;
  }

  write(thing: unknown, depth: number): void {
    if (typeof thing === 'string') this.text(thing, depth);
    else if (typeof thing === 'number') this.number(thing, depth);
    else if (typeof thing === 'boolean') this.byte(thing ? 0xf5 : 0xf4);
    else if (thing === null) this.byte(0xf6);
    else if (typeof thing === 'object') this.object(thing, depth);
    else if (thing === undefined) this.refuse(depth, 'undefined stands where no key can be left out', 'undefined');
    else this.refuse(depth, `a ${typeof thing} is not a value`, typeof thing);
  }

  private object(thing: object, depth: number): void {
    if (this.trusted) {
      if (isOwnMap(thing)) return this.map(thing, depth);
      if (Array.isArray(thing)) return this.list(thing, depth);
    }
    const kind = plainness(thing);
    if (isRef(thing)) this.link(thing, depth);
    else if (kind === 'map') this.map(thing, depth);
    else if (kind === 'list') this.list(thing as readonly unknown[], depth);
    else this.instance(thing, depth);
  }

  private instance(thing: object, depth: number): void {
    const bytes = bytesIn(thing);
    if (bytes !== undefined) this.blob(bytes, depth);
    else this.refuse(depth, 'an instance of a class is not a value', 'instance', 'Give a plain object instead.');
  }

  items(items: readonly Uint8Array[]): void {
    this.head(0x80, items.length, 0);
    for (const item of items) {
      this.reserve(item.length, 0);
      this.bytes.set(item, this.pos);
      this.pos += item.length;
    }
  }

  private list(items: readonly unknown[], depth: number): void {
    const length = items.length;
    if (depth >= this.depthMax) this.refuseDepth(depth);
    this.head(0x80, length, depth);
    for (let i = 0; i < length; i++) {
      this.path[depth] = i;
      const item = this.trusted ? items[i] : itemAt(items, i);
      if (item === undefined) this.refuseItem(items, i, depth);
      this.write(item, depth + 1);
    }
  }

  /** An item that is undefined is refused as such by its writer. */
  private refuseItem(items: readonly unknown[], i: number, depth: number): void {
    const property = Object.getOwnPropertyDescriptor(items, i);
    if (property === undefined) this.refuse(depth + 1, 'a list with a hole is not a value', 'hole');
    if (property.get !== undefined || property.set !== undefined) this.refuseAccessor(depth);
  }

  private refuseAccessor(depth: number): never {
    this.refuse(depth + 1, 'an accessor is not a value', 'accessor', 'Read it and give the value.');
  }

  private map(thing: object, depth: number): void {
    if (depth >= this.depthMax) this.refuseDepth(depth);
    const scope = this.within;
    const keys = sortKeys(this.trusted ? definedKeys(thing) : this.presentKeys(thing, depth));
    if (scope === undefined || keys.length < SHARED_ENTRIES_MIN) return this.entries(thing, keys, depth);
    const known = scope.maps.find(thing, keys);
    if (known !== undefined) return this.reference(VALUE_TAG, known, depth);
    const number = scope.maps.begin();
    this.head(0xc0, SHARED_TAG, depth);
    this.entries(thing, keys, depth);
    scope.maps.end(number, thing, keys, 0);
  }

  private entries(thing: object, keys: readonly string[], depth: number): void {
    this.head(0xa0, keys.length, depth);
    for (const key of keys) {
      this.path[depth] = key;
      const length = this.wholeText(key, depth + 1);
      this.within?.wroteOther(length);
      this.write((thing as Record<string, unknown>)[key], depth + 1);
    }
  }

  /** The keys of a map that have a value, in the order they are found. */
  private presentKeys(thing: object, depth: number): string[] {
    if (Object.getOwnPropertySymbols(thing).length > 0) this.refuse(depth, 'a symbol is not a key', 'symbol key');
    const keys = Object.keys(thing);
    let kept = 0;
    for (const key of keys) {
      // The descriptor, not the value: asking for the value would run a getter, and code is not data.
      const property = Object.getOwnPropertyDescriptor(thing, key);
      if (property?.get !== undefined || property?.set !== undefined) {
        this.path[depth] = key;
        this.refuseAccessor(depth);
      }
      if (key === '__proto__') {
        this.path[depth] = key;
        this.refuse(depth + 1, 'a map has no key __proto__', '__proto__');
      }
      if (property?.value !== undefined) keys[kept++] = key;
    }
    if (kept < keys.length) keys.length = kept;
    return keys;
  }

  private refuseDepth(depth: number): never {
    this.refuse(depth, `nests deeper than ${this.depthMax}`, 'depth', 'A cycle also ends here.');
  }

  private number(n: number, depth: number): void {
    if (Number.isSafeInteger(n)) {
      this.head(n < 0 ? 0x20 : 0, n < 0 ? -1 - n : n, depth); // −0 is not below 0, and its bits say 0
      return;
    }
    if (!Number.isFinite(n)) this.refuse(depth, `${n} is not a value`, String(n));
    this.reserve(9, depth);
    this.bytes[this.pos] = 0xfb;
    this.view.setFloat64(this.pos + 1, n);
    this.pos += 9;
  }

  private text(text: string, depth: number): void {
    const scope = this.within;
    if (scope === undefined) {
      this.wholeText(text, depth);
      return;
    }
    if (text.length === DIGEST_UNITS && this.digest(text, scope, depth)) return;
    const known = scope.text(text);
    if (known !== undefined) this.reference(STRING_TAG, known, depth);
    else scope.wroteText(text, this.wholeText(text, depth));
  }

  /** Writes the digits of a digest as its bytes. @returns false when the text is no digest */
  private digest(text: string, scope: WrittenScope, depth: number): boolean {
    const start = this.pos;
    this.head(0xc0, DIGEST_TAG, depth);
    const known = scope.digest(text);
    if (known !== undefined) {
      this.reference(STRING_TAG, known, depth);
      return true;
    }
    this.head(0x40, DIGEST_UNITS / 2, depth);
    const isDigest = this.hexDigits(text, depth);
    if (isDigest) scope.wroteDigest(text);
    else this.pos = start;
    return isDigest;
  }

  /** Writes 64 lower-case hex digits as 32 bytes. @returns false when another unit is among them */
  private hexDigits(hex: string, depth: number): boolean {
    if (this.pos + DIGEST_UNITS / 2 > this.bytes.length) this.reserve(DIGEST_UNITS / 2, depth);
    const { bytes } = this;
    let pos = this.pos;
    let all = 0;
    for (let i = 0; i < DIGEST_UNITS; i += 2) {
      const byte = ((DIGITS[hex.charCodeAt(i)] ?? NO_DIGIT) << 4) | (DIGITS[hex.charCodeAt(i + 1)] ?? NO_DIGIT);
      all |= byte;
      bytes[pos++] = byte;
    }
    this.pos = pos;
    return all <= 0xff;
  }

  private reference(tag: number, number: number, depth: number): void {
    this.head(0xc0, tag, depth);
    this.head(0, number, depth);
  }

  /** @returns its length in bytes */
  private wholeText(text: string, depth: number): number {
    const units = text.length;
    if (this.pos + 9 + units > this.bytes.length) this.reserve(9 + units, depth);
    const start = this.pos;
    if (units < 24) this.bytes[this.pos++] = 0x60 | units;
    else this.head(0x60, units, depth);
    const { bytes } = this;
    let pos = this.pos;
    for (let i = 0; i < units; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return this.wideText(text, start, depth);
      bytes[pos++] = unit;
    }
    this.pos = pos;
    return units;
  }

  /** Text beyond ASCII: its length in bytes is not known before it is counted, so it starts over. */
  private wideText(text: string, start: number, depth: number): number {
    const length = utf8Length(text);
    if (length < 0) this.refuse(depth, 'text with a lone surrogate is not a value', 'lone surrogate');
    this.pos = start;
    this.reserve(9 + length, depth);
    this.head(0x60, length, depth);
    this.pos = writeUtf8(text, this.bytes, this.pos);
    return length;
  }

  private blob(bytes: Uint8Array, depth: number): void {
    const { length } = bytes;
    this.reserve(9 + length, depth);
    this.head(0x40, length, depth);
    this.bytes.set(bytes, this.pos);
    this.pos += length;
    this.within?.wroteOther(length);
  }

  private link(ref: Ref, depth: number): void {
    const known = this.within?.link(ref);
    if (known === undefined) {
      this.wholeLink(ref, depth);
      this.within?.wroteLink(ref);
    } else {
      this.head(0xc0, LINK_TAG, depth);
      this.reference(STRING_TAG, known, depth);
    }
  }

  private wholeLink(ref: Ref, depth: number): void {
    const { hex } = ref;
    // The brand is a registered symbol, so anyone can forge it; the digest is what gets written.
    if (typeof hex !== 'string' || hex.length !== 64) this.refuseLink(depth);
    this.reserve(LINK_HEAD.length + 32, depth);
    this.bytes.set(LINK_HEAD, this.pos);
    if (ref.kind === 'value') this.bytes[this.pos + LINK_CODEC_AT] = LINK_CODEC_VALUE;
    this.pos += LINK_HEAD.length;
    if (!this.hexDigits(hex, depth)) this.refuseLink(depth);
  }

  private refuseLink(depth: number): never {
    this.refuse(depth, 'a link without a digest is not a value', 'link');
  }

  private byte(byte: number): void {
    if (this.pos === this.bytes.length) this.reserve(1, 0);
    this.bytes[this.pos++] = byte;
  }

  /** Writes a major type with its argument in the fewest bytes (RFC 8949 §4.2.1). */
  private head(major: number, n: number, depth: number): void {
    if (this.pos + 9 > this.bytes.length) this.reserve(9, depth); // asked here: most heads need no call
    const { bytes, view, pos } = this;
    if (n < 24) {
      bytes[pos] = major | n;
      this.pos = pos + 1;
    } else if (n < 0x100) {
      bytes[pos] = major | 24;
      bytes[pos + 1] = n;
      this.pos = pos + 2;
    } else if (n < 0x1_0000) {
      bytes[pos] = major | 25;
      view.setUint16(pos + 1, n);
      this.pos = pos + 3;
    } else if (n < TWO_32) {
      bytes[pos] = major | 26;
      view.setUint32(pos + 1, n);
      this.pos = pos + 5;
    } else {
      bytes[pos] = major | 27;
      view.setUint32(pos + 1, Math.floor(n / TWO_32));
      view.setUint32(pos + 5, n % TWO_32);
      this.pos = pos + 9;
    }
  }

  private reserve(more: number, depth: number): void {
    const needed = this.pos + more;
    if (needed <= this.bytes.length) return;
    if (needed > ENCODED_BYTES_MAX) this.refuse(depth, `takes more than ${ENCODED_BYTES_MAX} bytes`, 'size');
    const grown = new Uint8Array(Math.min(Math.max(needed, this.bytes.length * 2), ENCODED_BYTES_MAX));
    grown.set(this.bytes.subarray(0, this.pos));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  private refuse(depth: number, what: string, actual: string, hint?: string): never {
    const where = pathText(this.path.slice(0, depth));
    throw new RepriseError('invalid_value', what, { where, actual, ...(hint === undefined ? {} : { hint }) });
  }
}

/** The keys of a map that have a value. */
function definedKeys(thing: object): string[] {
  const keys = Object.keys(thing);
  let kept = 0;
  for (const key of keys) if ((thing as Record<string, unknown>)[key] !== undefined) keys[kept++] = key;
  if (kept < keys.length) keys.length = kept;
  return keys;
}

/** What stands for a unit that is no lower-case hex digit: more than a byte. */
const NO_DIGIT = 0x100;

/** The values of lower-case hex digits by their units. A table: a call for each digit was a tenth of all calls of a drive. */
const DIGITS: readonly number[] = Array.from({ length: 0x67 }, (_, unit) => {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  return unit >= 0x61 ? unit - 0x57 : NO_DIGIT;
});

/** Longest key shown in a path; `where` is for people, and keys may be as long as any text. */
const KEY_UNITS_SHOWN = 64;

/**
 * Writes a path in readable form: `$.a.b[3]`, with keys that are not names in quotes: `$["a b"]`.
 *
 * @param path keys and indexes from the root
 */
export function pathText(path: readonly (string | number)[]): string {
  let text = '$';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/.test(step)) text += `.${step}`;
    else text += `[${JSON.stringify(startOfText(step, KEY_UNITS_SHOWN))}]`;
  }
  return text;
}
