/**
 * UTF-8 by hand. The pure wing compiles without the types of any host, so `TextEncoder` and `Buffer` are out;
 * and neither refuses a lone surrogate, which `TextEncoder` silently turns into U+FFFD.
 */
import { utf8Length } from '@reprise/contracts';
import { headBytes } from './size.js';

/** Tells whether a code unit is the first half of a surrogate pair. */
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/**
 * Writes well-formed text as UTF-8.
 *
 * @param text text for which `utf8Length` is not −1
 * @param into a buffer with room
 * @param at where to start
 * @returns where the text ends
 */
export function writeUtf8(text: string, into: Uint8Array, at: number): number {
  let pos = at;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) {
      into[pos++] = unit;
    } else if (unit < 0x800) {
      into[pos++] = 0xc0 | (unit >> 6);
      into[pos++] = 0x80 | (unit & 0x3f);
    } else if (!isHigh(unit)) {
      into[pos++] = 0xe0 | (unit >> 12);
      into[pos++] = 0x80 | ((unit >> 6) & 0x3f);
      into[pos++] = 0x80 | (unit & 0x3f);
    } else {
      const point = 0x10000 + ((unit - 0xd800) << 10) + (text.charCodeAt(++i) - 0xdc00);
      into[pos++] = 0xf0 | (point >> 18);
      into[pos++] = 0x80 | ((point >> 12) & 0x3f);
      into[pos++] = 0x80 | ((point >> 6) & 0x3f);
      into[pos++] = 0x80 | (point & 0x3f);
    }
  }
  return pos;
}

/** Code units given to one `String.fromCharCode` call: engines bound the number of arguments. */
const CHUNK_UNITS = 4096;

/** Up to here, joining characters one by one beats a call with many arguments. */
const JOINED_UNITS = 12;

/**
 * Reads strict UTF-8: no overlong form, no surrogate, nothing above U+10FFFF, nothing cut short.
 *
 * @returns the text, or the index of the first byte that is wrong
 */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string | number {
  let ascii = start;
  while (ascii < end && (bytes[ascii] as number) < 0x80) ascii++;
  return ascii === end ? readAscii(bytes, start, end) : readWide(bytes, start, end);
}

function readAscii(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  if (end - start <= JOINED_UNITS) {
    for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] as number);
    return text;
  }
  for (let i = start; i < end; i += CHUNK_UNITS) {
    text += fromUnits(bytes.subarray(i, Math.min(i + CHUNK_UNITS, end)));
  }
  return text;
}

/** `apply` takes what is like an array; its type asks for a list, which would cost a copy. */
function fromUnits(units: ArrayLike<number>): string {
  return String.fromCharCode.apply(null, units as number[]);
}

function readWide(bytes: Uint8Array, start: number, end: number): string | number {
  let text = '';
  let units: number[] = [];
  for (let pos = start; pos < end; ) {
    const first = bytes[pos] as number;
    const size = sequenceSize(first);
    if (size === 0 || pos + size > end) return pos;
    const point = size === 1 ? first : readSequence(bytes, pos, size);
    if (point < 0) return pos;
    if (point < 0x10000) units.push(point);
    else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    if (units.length >= CHUNK_UNITS) {
      text += fromUnits(units);
      units = [];
    }
    pos += size;
  }
  return text + fromUnits(units);
}

/** How many keys are remembered, and how long they may be. */
const KEY_SLOTS = 1024;
const KEY_BYTES_MAX = 32;

/**
 * Recently read keys, each in the slot of its bytes' hash. The same few keys come back in every event, and a string that
 * is already in memory need not be made again.
 */
const recentKeys: (string | undefined)[] = new Array(KEY_SLOTS);

/** Reads a key; like {@link readUtf8}, but gives the same string for the same short ASCII bytes where it can. */
export function readKey(bytes: Uint8Array, start: number, end: number): string | number {
  const length = end - start;
  if (length > KEY_BYTES_MAX) return readUtf8(bytes, start, end);
  let hash = length;
  for (let i = start; i < end; i++) hash = Math.imul(hash, 31) + (bytes[i] as number);
  const slot = hash & (KEY_SLOTS - 1);
  const recent = recentKeys[slot];
  if (recent !== undefined && recent.length === length) {
    let same = 0;
    while (same < length && recent.charCodeAt(same) === bytes[start + same]) same++;
    if (same === length) return recent;
  }
  const key = readUtf8(bytes, start, end);
  if (typeof key === 'string' && key.length === length) recentKeys[slot] = key;
  return key;
}

/** How many bytes a sequence has by its first byte; 0 for bytes that start none (c0 and c1 could only be overlong). */
function sequenceSize(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

/** Reads one sequence of 2 to 4 bytes; −1 when it is not well formed. */
function readSequence(bytes: Uint8Array, pos: number, size: number): number {
  let point = (bytes[pos] as number) & (0x7f >> size);
  for (let i = 1; i < size; i++) {
    const next = bytes[pos + i] as number;
    if ((next & 0xc0) !== 0x80) return -1;
    point = (point << 6) | (next & 0x3f);
  }
  if (size === 3 && (point < 0x800 || (point >= 0xd800 && point <= 0xdfff))) return -1;
  if (size === 4 && (point < 0x10000 || point > 0x10ffff)) return -1;
  return point;
}

/**
 * Compares map keys as their bytes compare: by UTF-8 length, then byte by byte (RFC 8949 §4.2.3, DAG-CBOR).
 * Comparing the strings would be wrong twice: `é` is longer than its one unit says, and `<` puts a pair of
 * surrogates before U+FFFD although its bytes come after.
 *
 * @returns negative, 0 or positive, as `Array.sort` wants it; texts without UTF-8 come first
 */
function compareKeys(a: string, b: string): number {
  const lengthA = utf8Length(a);
  const lengthB = utf8Length(b);
  return lengthA !== lengthB ? lengthA - lengthB : compareText(a, b);
}

/**
 * Compares two texts by code point, which is also the order of their UTF-8 bytes. `<` compares units, and puts pairs of
 * surrogates before U+E000.
 *
 * @returns negative, 0 or positive, as `Array.sort` wants it
 */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA === unitB) continue;
    return unitA < 0xd800 && unitB < 0xd800 ? unitA - unitB : rank(unitA) - rank(unitB);
  }
  return a.length - b.length;
}

/** Moves surrogates, which stand for U+10000 and above, behind the units U+E000–U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/** Tells whether keys are already in canonical order, so that sorted keys are not sorted again. */
function inOrder(keys: readonly string[]): boolean {
  let previous = '';
  let previousLength = -1;
  for (const key of keys) {
    const length = utf8Length(key);
    if (length < previousLength) return false;
    if (length === previousLength && compareText(previous, key) >= 0) return false;
    previous = key;
    previousLength = length;
  }
  return true;
}

/** The keys of a map in canonical order. */
interface KeyOrder {
  /** Never written into; the given list itself when it was in order. */
  readonly sorted: readonly string[];
  /** The canonical bytes of all keys; −1 when one has no UTF-8. */
  readonly bytes: number;
}

/** A list of keys that was put in order before. */
interface Ordered extends KeyOrder {
  readonly given: readonly string[];
}

/**
 * Lists of keys that were put in order, by their first key and their length: the same few lists come back in every
 * frame, since objects of one shape list their keys alike. To sort nine keys takes 15 times as long as to find that they
 * were sorted before.
 */
const ordered = new Map<string, (Ordered[] | undefined)[]>();

/** How many first keys are remembered, how many lists of each length with it, and how large lists and keys may be. */
const FIRST_KEYS_MAX = 512;
const LISTS_MAX = 8;
const LIST_KEYS_MAX = 64;
const LIST_KEY_UNITS_MAX = 64;

/** Gives keys in canonical order; the same list when they are in order already. What it gives is never written into. */
export function sortKeys(keys: readonly string[]): readonly string[] {
  return keys.length < 2 ? keys : orderOf(keys).sorted;
}

/** The same fields with their keys in canonical order. */
export function inKeyOrder<T>(map: Record<string, T>): Record<string, T> {
  return Object.fromEntries(sortKeys(Object.keys(map)).map((key) => [key, map[key] as T]));
}

/** Puts keys in canonical order, as {@link sortKeys} does, and measures them: lists that come back are measured once. */
export function orderKeys(keys: readonly string[]): KeyOrder {
  return keys.length < 2 ? { sorted: keys, bytes: bytesOf(keys) } : orderOf(keys);
}

/** @param keys two at least */
function orderOf(keys: readonly string[]): KeyOrder {
  const first = keys[0] as string;
  const known = ordered.get(first)?.[keys.length];
  if (known !== undefined) {
    for (let i = 0; i < known.length; i++) {
      const one = known[i] as Ordered;
      if (areSame(one.given, keys)) return one;
    }
  }
  const order = { sorted: inOrder(keys) ? keys : [...keys].sort(compareKeys), bytes: bytesOf(keys) };
  if (known === undefined || known.length < LISTS_MAX) remember(first, keys, order);
  return order;
}

function bytesOf(keys: readonly string[]): number {
  let bytes = 0;
  for (const key of keys) {
    const length = utf8Length(key);
    if (length < 0) return -1;
    bytes += headBytes(length) + length;
  }
  return bytes;
}

/** Whether lists of one length that begin with the same key are the same. */
function areSame(some: readonly string[], others: readonly string[]): boolean {
  for (let i = 1; i < some.length; i++) if (some[i] !== others[i]) return false;
  return true;
}

function remember(first: string, given: readonly string[], { sorted, bytes }: KeyOrder): void {
  if (given.length > LIST_KEYS_MAX || given.some((key) => key.length > LIST_KEY_UNITS_MAX)) return;
  if (ordered.size >= FIRST_KEYS_MAX) ordered.clear(); // keys that are data: those of our own records come back
  const byLength = ordered.get(first) ?? [];
  ordered.set(first, byLength);
  byLength[given.length] ??= [];
  const kept = [...given];
  byLength[given.length]?.push({ given: kept, sorted: sorted === given ? kept : sorted, bytes });
}
