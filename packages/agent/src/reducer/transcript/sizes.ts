/**
 * The bounds on the parts of a session's state. No input can exceed the kernel's bound on a state: what is too large is
 * refused as data.
 */
import { isRef } from '@reprise/contracts';

/** All calls of one step, in bytes: a batch above this bound is refused. */
export const CALLS_BYTES_MAX = 22 * 1024;

/** All waiting steers, in bytes. */
export const STEERS_BYTES_MAX = 8 * 1024;

/** A configuration, in bytes: a session stores it twice, for the current run and for the next. */
export const CONFIG_BYTES_MAX = 6 * 1024;

/**
 * The labels of a session, in bytes: they are stored in its state and in each of its effects, and its children inherit
 * them.
 */
export const LABELS_BYTES_MAX = 2 * 1024;

/** The files of one result, in bytes, as the transcript stores them: the 64 results of one step are one delivery. */
export const RESULT_FILES_BYTES_MAX = 12 * 1024;

/** The late answers that wait for the end of one batch, in bytes. */
export const LATE_BYTES_MAX = 4 * 1024;

/** The bytes of a field besides its value. */
const AROUND = 2;

/** An estimate of a value's canonical size in bytes, never less than two thirds of it. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return AROUND + utf8Length(value);
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item), AROUND);
  if (typeof value === 'number') return NUMBER;
  if (typeof value !== 'object' || value === null) return AROUND;
  if (isRef(value)) return LINK;
  return Object.entries(value).reduce((sum, [name, field]) => sum + sizeOf(name) + sizeOf(field), AROUND);
}

/** The largest size of a number. */
const NUMBER = 9;

/** The size of a link. */
const LINK = 42;

function utf8Length(text: string): number {
  let length = 0;
  for (const sign of text) {
    const point = sign.codePointAt(0) ?? 0;
    length += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return length;
}
