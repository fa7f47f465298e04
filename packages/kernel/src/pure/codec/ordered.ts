/**
 * Keys as bytes whose order is the order of the keys: views are sorted by them, the same in memory, in SQLite and in
 * any store that compares bytes.
 *
 * A key is one part or a list of parts, a part text or a safe integer. Lists compare part by part, a shorter list
 * before a longer one that begins with it; integers come before text; text compares by code point, which is also the
 * order of its UTF-8 bytes and follows no locale.
 */
import { RepriseError, utf8Length } from '@reprise/contracts';
import { readUtf8, writeUtf8 } from './text.js';

/** A part of a key: text, or a safe integer. */
export type RowKeyPart = string | number;

/** The key of a row or of a place in an index: one part, or several that are compared in order. */
export type RowKey = RowKeyPart | readonly RowKeyPart[];

/** The longest key, in ordered bytes. */
const ROW_KEY_BYTES_MAX = 1024;

const NEGATIVE = 1;
const POSITIVE = 2;
const TEXT = 3;
const INTEGER_BYTES = 7;
/** 2^53: added to negative integers, so that their bytes count upwards. */
const OFFSET = 9_007_199_254_740_992;

/**
 * Writes a key.
 *
 * @throws RepriseError `invalid_value` for anything but a key, `bound_exceeded` when it is too long
 */
export function encodeKey(key: unknown): Uint8Array {
  const parts: readonly unknown[] = Array.isArray(key) ? key : [key];
  if (parts.length === 0) throw noKey(key);
  const bytes = new Uint8Array(parts.reduce<number>((sum, part) => sum + sizeOf(part, key), 0));
  if (bytes.length > ROW_KEY_BYTES_MAX) {
    const expected = `at most ${ROW_KEY_BYTES_MAX} bytes`;
    throw new RepriseError('bound_exceeded', 'a key is too long', { expected, actual: bytes.length });
  }
  let at = 0;
  for (const part of parts as RowKeyPart[])
    at = typeof part === 'string' ? writeText(part, bytes, at) : writeInteger(part, bytes, at);
  return bytes;
}

/** Reads a key that {@link encodeKey} wrote: a single part as itself, several as a list. */
export function decodeKey(bytes: Uint8Array): RowKey {
  const parts: RowKeyPart[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at + 1;
    if (bytes[at] === TEXT) {
      at = endOfText(bytes, start);
      parts.push(readText(bytes, start, at - 1));
    } else {
      at = start + INTEGER_BYTES;
      parts.push(readInteger(bytes, start) - (bytes[start - 1] === NEGATIVE ? OFFSET : 0));
    }
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : parts;
}

/** The common prefix of all keys whose next part is text with this prefix. */
export function textPrefix(text: string): Uint8Array {
  if (typeof text !== 'string') throw noKey(text);
  const whole = encodeKey(text);
  return whole.subarray(0, whole.length - 1);
}

/** The first bytes, in order, after everything that begins with `prefix`; undefined without any. */
export function afterPrefix(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 255) length--;
  if (length === 0) return undefined;
  const after = new Uint8Array(prefix.subarray(0, length));
  after[length - 1] = (after[length - 1] as number) + 1;
  return after;
}

function sizeOf(part: unknown, key: unknown): number {
  if (typeof part === 'number' && Number.isSafeInteger(part)) return 1 + INTEGER_BYTES;
  const size = typeof part === 'string' ? utf8Length(part) : -1;
  if (size < 0) throw noKey(key);
  let zeros = 0;
  for (let i = 0; i < size && i < (part as string).length; i++) if ((part as string).charCodeAt(i) === 0) zeros++;
  return size + zeros + 2;
}

/** A text ends with 0, and a 0 inside it is written `00 ff`: so a text sorts before every longer one. */
function writeText(part: string, into: Uint8Array, start: number): number {
  into[start] = TEXT;
  let at = start + 1;
  for (let i = 0; i < part.length; i++) {
    const unit = part.charCodeAt(i);
    if (unit >= 0x80) return writeWideText(part, into, start + 1);
    into[at++] = unit;
    if (unit === 0) into[at++] = 255;
  }
  into[at++] = 0;
  return at;
}

/** Text beyond ASCII: it starts over, since a unit is no byte. */
function writeWideText(part: string, into: Uint8Array, start: number): number {
  const bytes = new Uint8Array(utf8Length(part));
  writeUtf8(part, bytes, 0);
  let at = start;
  for (const byte of bytes) {
    into[at++] = byte;
    if (byte === 0) into[at++] = 255;
  }
  into[at++] = 0;
  return at;
}

function writeInteger(n: number, into: Uint8Array, start: number): number {
  into[start] = n < 0 ? NEGATIVE : POSITIVE;
  let rest = n < 0 ? n + OFFSET : n;
  for (let i = INTEGER_BYTES; i > 0; i--) {
    into[start + i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return start + 1 + INTEGER_BYTES;
}

function readInteger(bytes: Uint8Array, start: number): number {
  let n = 0;
  for (let i = 0; i < INTEGER_BYTES; i++) n = n * 256 + (bytes[start + i] ?? 0);
  return n;
}

/** The place after the 0 that ends a text. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] !== 0 || bytes[at + 1] === 255)) at += bytes[at] === 0 ? 2 : 1;
  return at + 1;
}

/** @param end the 0 that ends the text */
function readText(bytes: Uint8Array, start: number, end: number): string {
  const isPlain = bytes.indexOf(0, start) === end;
  const plain = isPlain ? bytes.subarray(start, end) : withoutMarks(bytes, start, end);
  const text = readUtf8(plain, 0, plain.length);
  return typeof text === 'string' ? text : '';
}

/** The bytes of a text that holds a 0: the 255 behind each of them is no part of it. */
function withoutMarks(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const plain: number[] = [];
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    plain.push(byte);
    if (byte === 0) at++;
  }
  return Uint8Array.from(plain);
}

function noKey(key: unknown): RepriseError {
  return new RepriseError('invalid_value', 'invalid row key', {
    expected: 'text or a safe integer, or a list of one or more of them',
    actual: key,
  });
}
