/** Sets of code points, as the classes of a pattern name them. */

/** A code point by a property, such as `\p{L}`. */
export type PropertyTest = (codePoint: number) => boolean;

/** A set: pairs of first and last code point in ascending order, and properties; all of it turned round when negated. */
export interface CodeSet {
  readonly ranges: readonly number[];
  readonly properties: readonly PropertyTest[];
  readonly negated: boolean;
}

const LAST = 0x10ffff;

/** A set of code points from pairs in any order. */
export function codeSet(pairs: readonly number[], properties: readonly PropertyTest[] = [], negated = false): CodeSet {
  return { ranges: merged(pairs), properties, negated };
}

/** Whether a set holds a code point. */
export function holds({ ranges, properties, negated }: CodeSet, codePoint: number): boolean {
  return (within(ranges, codePoint) || properties.some((has) => has(codePoint))) !== negated;
}

/** The pairs of everything that some pairs leave out. */
export function outside(pairs: readonly number[]): readonly number[] {
  const ranges = merged(pairs);
  const out: number[] = [];
  let next = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const first = ranges[at] ?? 0;
    if (first > next) out.push(next, first - 1);
    next = (ranges[at + 1] ?? 0) + 1;
  }
  if (next <= LAST) out.push(next, LAST);
  return out;
}

/** The class `\d`, as pairs of first and last code point. */
export const DIGITS: readonly number[] = [0x30, 0x39];
/** The class `\w`, as pairs of first and last code point. */
export const WORD: readonly number[] = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** `\s`, as JavaScript has it. */
export const SPACE: readonly number[] = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f,
  0x3000, 0x3000, 0xfeff, 0xfeff,
];
/** What `.` does not match. */
export const LINE_ENDS: readonly number[] = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];

/** Whether a code point is one of `\w`. */
export function isWord(codePoint: number | undefined): boolean {
  return codePoint !== undefined && within(WORD, codePoint);
}

function within(ranges: readonly number[], codePoint: number): boolean {
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (codePoint < (ranges[middle * 2] ?? 0)) high = middle - 1;
    else if (codePoint > (ranges[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

function merged(pairs: readonly number[]): readonly number[] {
  const sorted: (readonly [number, number])[] = [];
  for (let at = 0; at < pairs.length; at += 2) sorted.push([pairs[at] ?? 0, pairs[at + 1] ?? 0]);
  sorted.sort(([a], [b]) => a - b);
  const out: number[] = [];
  for (const [first, last] of sorted) {
    const end = out.at(-1);
    if (end !== undefined && first <= end + 1) out[out.length - 1] = Math.max(end, last);
    else out.push(first, last);
  }
  return out;
}
