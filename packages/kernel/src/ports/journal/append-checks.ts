/** The argument checks of every store, so that all of them refuse with the same texts. */
import {
  type ArgumentCheck,
  checkOf,
  fieldsOf,
  isDigest,
  isWhole,
  RepriseError,
  requireArgument,
} from '@reprise/contracts';
import type { Head, StoredFrame } from './port.js';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid argument of the journal');

/**
 * Refuses invalid frames or heads before a store's database sees them.
 *
 * @throws invalid_argument
 */
export function assertAppend(frames: readonly StoredFrame[], expected: Head): void {
  require(isHead(expected), 'expected', 'a head: {seq, digest}', expected);
  require(Array.isArray(frames), 'frames', 'a list of frames', frames);
  for (let i = 0; i < frames.length; i++) {
    require(isFrame(frames[i]), `frames[${i}]`, 'a frame: {seq, at, kind, head, bytes}', frames[i]);
  }
}

/** Refuses an invalid frame number. */
export function assertPlace(thing: unknown, what: string): void {
  const whole = typeof thing === 'number' && (Number.isSafeInteger(thing) || thing === Number.POSITIVE_INFINITY);
  require(whole, what, 'a whole number', thing);
}

export function assertText(thing: unknown, what: string): void {
  require(typeof thing === 'string', what, 'text', thing);
}

function isHead(thing: unknown): boolean {
  const { seq, digest } = fieldsOf(thing);
  return isWhole(seq, -1) && isDigest(digest);
}

function isFrame(thing: unknown): boolean {
  const { seq, at, kind, head, bytes } = fieldsOf(thing);
  const columns = isWhole(seq) && isWhole(at) && typeof kind === 'string' && kind !== '' && isDigest(head);
  return columns && bytes instanceof Uint8Array;
}

/**
 * Refuses frames that do not follow each other from `expected` on.
 *
 * @throws invalid_argument: a gap in the journal could never be read back
 */
export function assertConsecutive(frames: readonly StoredFrame[], expected: Head): void {
  requireArgument(Array.isArray(frames), 'assertConsecutive(frames)', 'a list of frames', frames);
  requireHead(expected, 'assertConsecutive(expected)');
  frames.forEach((frame, i) => {
    if (frame.seq === expected.seq + 1 + i) return;
    throw new RepriseError('invalid_argument', 'the frames to append are not consecutive', {
      where: `frames[${i}]`,
      expected: expected.seq + 1 + i,
      actual: frame.seq,
    });
  });
}

/**
 * Refuses an append that was computed on another head than the durable one.
 *
 * @throws stale_head
 */
export function assertHead(durable: Head, expected: Head): void {
  requireHead(durable, 'assertHead(durable)');
  requireHead(expected, 'assertHead(expected)');
  if (durable.seq === expected.seq && durable.digest === expected.digest) return;
  throw new RepriseError('stale_head', 'the journal has moved on since this append was computed', {
    expected,
    actual: durable,
    hint: 'Read head() again: another writer appended, or an append that seemed to fail became durable.',
  });
}

function requireHead(thing: unknown, at: string): void {
  const { seq, digest } = fieldsOf(thing);
  requireArgument(
    typeof seq === 'number' && typeof digest === 'string',
    at,
    'the head of a journal, { seq, digest }',
    thing,
  );
}
