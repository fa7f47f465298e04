/**
 * The one parser of JSON: every text from outside, and every text of our own, is read here.
 *
 * A JSON number may have any number of digits, and JavaScript has doubles: `JSON.parse` turns 2512292042121000001 into
 * 2512292042121000000 and 1e999 into Infinity, without a word. Here such a number stays the text of its digits, and
 * the caller can learn where one stood.
 *
 * Invariants
 * J1  A token beyond ±(2^53−1), where doubles no longer hold each integer, never becomes a number. A fraction within
 *     becomes the nearest double (RFC 8259, section 6).
 * J2  Everything else is as `JSON.parse` reads it: the same data, the same refusals.
 */
import { parse, stringify } from 'lossless-json';

/** How many large numbers are listed with their places; further ones are counted. */
const LARGE_NUMBERS_LISTED_MAX = 64;

/** A number that JavaScript's numbers cannot hold, in data of {@link parseExactJson}. */
export class LargeNumber {
  /** @param digits the token as it was written */
  constructor(readonly digits: string) {}

  /** Writes the number as a text, where JSON is written that knows no large numbers. */
  toJSON(): string {
    return this.digits;
  }

  toString(): string {
    return this.digits;
  }
}

/** A large number, and the keys and indexes that lead to it. */
export interface LargeNumberAt {
  readonly path: readonly (string | number)[];
  readonly digits: string;
}

/** Large numbers that stand in data as texts. */
export interface LargeNumbers {
  /** How many numbers are kept as texts. */
  readonly count: number;
  /** The first 64 of them. */
  readonly large: readonly LargeNumberAt[];
}

/** What is counted in data without large numbers. */
export const NO_LARGE_NUMBERS: LargeNumbers = Object.freeze({ count: 0, large: [] });

/** JSON data, and the large numbers that stand in it as texts. */
export interface ParsedJson extends LargeNumbers {
  readonly data: unknown;
}

/**
 * Parses JSON text; a number beyond ±(2^53−1) becomes the text of its digits.
 *
 * @throws SyntaxError when the text is not JSON, or holds such a number and nests too deep for this parser
 */
export function parseJson(text: string): unknown {
  return parseJsonNoting(text).data;
}

/**
 * Parses JSON text like {@link parseJson}, and lists the numbers that became texts.
 *
 * @throws SyntaxError as `parseJson`
 */
export function parseJsonNoting(text: string): ParsedJson {
  const data: unknown = JSON.parse(text);
  return MAY_BE_LARGE.test(text) ? shallowly(() => plainJson(exact(text))) : { data, ...NO_LARGE_NUMBERS };
}

/**
 * Parses JSON text; each large number is a {@link LargeNumber}.
 *
 * @throws SyntaxError as `parseJson`
 */
export function parseExactJson(text: string): unknown {
  const data: unknown = JSON.parse(text);
  return MAY_BE_LARGE.test(text) ? shallowly(() => exact(text)) : data;
}

/** A large number has 16 digits in a row, or an exponent. Texts may match too, and cost only time. */
const MAY_BE_LARGE = /\d{16}|\d[eE][+-]?\d/;

function exact(text: string): unknown {
  return parse(text, undefined, { parseNumber: numberOf, onDuplicateKey: ({ newValue }) => newValue });
}

/** Reads what `JSON.parse` has accepted: only its depth can be too much for a recursive reader. */
function shallowly<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SyntaxError('the JSON nests too deep for a text with large numbers', { cause });
  }
}

// J1
function numberOf(token: string): number | LargeNumber {
  return isLarge(token) ? new LargeNumber(token) : Number(token);
}

const TOKEN = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether a number token denotes a number beyond ±(2^53−1). */
function isLarge(token: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = TOKEN.exec(token) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = withoutZerosAtEnd(digits);
  if (significant === '') return false;
  const zeros = Number(exponent) - fraction.length + (digits.length - significant.length);
  if (zeros < 0) return !(Math.abs(Number(token)) <= Number.MAX_SAFE_INTEGER);
  const length = significant.length + zeros;
  return length > 16 || (length === 16 && Number(significant.padEnd(16, '0')) > Number.MAX_SAFE_INTEGER);
}

/** A loop: a regular expression for zeros at the end takes quadratic time. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** Data of {@link parseExactJson} with texts in the place of large numbers, and a list of them. */
export function plainJson(data: unknown): ParsedJson {
  const large: LargeNumberAt[] = [];
  const path: (string | number)[] = [];
  let count = 0;
  const at = (key: string | number, part: unknown): unknown => {
    path.push(key);
    const plain = visit(part);
    path.pop();
    return plain;
  };
  const visit = (given: unknown): unknown => {
    if (given instanceof LargeNumber) {
      count++;
      if (large.length < LARGE_NUMBERS_LISTED_MAX) large.push({ path: [...path], digits: given.digits });
      return given.digits;
    }
    if (typeof given !== 'object' || given === null) return given;
    const before = count;
    const plain = Array.isArray(given)
      ? given.map((item, i) => at(i, item))
      : Object.fromEntries(Object.entries(given).map(([key, part]) => [key, at(key, part)]));
    return count === before ? given : plain;
  };
  return { data: visit(data), count, large };
}

/** Data of {@link parseExactJson} as JSON text, each large number with the digits that it was read with. */
export function exactJsonText(data: unknown): string {
  const digits = { test: (given: unknown) => given instanceof LargeNumber, stringify: String };
  return stringify(data, undefined, undefined, [digits]) ?? '';
}
