/** How much of a state things take: a session breaks on no answer, however large, so what is too large is refused as data. */
import { isRef } from '@reprise/contracts';

/** The calls of one step together, in bytes: what more than these take is not begun. */
export const CALLS_BYTES_MAX = 22 * 1024;

/** All steers that wait, in bytes. */
export const STEERS_BYTES_MAX = 8 * 1024;

/** A configuration, in bytes: a session holds it twice, for the run at hand and for the next. */
export const CONFIG_BYTES_MAX = 6 * 1024;

/** The labels of a session, in bytes: they stand in its state and in each of its effects, and its children have them. */
export const LABELS_BYTES_MAX = 2 * 1024;

/** The files of one result, in bytes, as the transcript has them: 64 results of one step are one delivery. */
export const RESULT_FILES_BYTES_MAX = 12 * 1024;

/** Late answers that wait for the end of one batch, in bytes. */
export const LATE_BYTES_MAX = 4 * 1024;

/** What a field takes beside its value. */
const AROUND = 2;

/** About as many bytes as a value takes in canonical form, never fewer than two thirds of them. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return AROUND + utf8Length(value);
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item), AROUND);
  if (typeof value === 'number') return NUMBER;
  if (typeof value !== 'object' || value === null) return AROUND;
  if (isRef(value)) return LINK;
  return Object.entries(value).reduce((sum, [name, field]) => sum + sizeOf(name) + sizeOf(field), AROUND);
}

/** What a number takes at most. */
const NUMBER = 9;

/** What a link takes. */
const LINK = 42;

function utf8Length(text: string): number {
  let length = 0;
  for (const sign of text) {
    const point = sign.codePointAt(0) ?? 0;
    length += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return length;
}
