/** Keys of tables: numbers as texts that sort as the numbers do. */

/** The digits of a number in a key: no counter of a cell comes near to it. */
export const KEY_DIGITS = 12;

/** The digits of a time in a key: those of the largest safe integer. */
const TIME_DIGITS = 16;

/** The highest priority that {@link placeInLine} places. */
const PRIORITY_MAX = 1_000_000;

/** The key of a number: of a node, a task, a job, a plan, an entry. @param n a whole number from 0 */
export function key(n: number): string {
  return String(n).padStart(KEY_DIGITS, '0');
}

/** The key of a time, in milliseconds from 0. */
export function timeKey(ms: number): string {
  return String(ms).padStart(TIME_DIGITS, '0');
}

/** The time with which a key begins. */
export function timeOf(text: string): number {
  return Number(text.slice(0, TIME_DIGITS));
}

/** The key of a pair of numbers: pairs sort by the first, then by the second. */
export function pair(a: number, b: number): string {
  return `${key(a)}.${key(b)}`;
}

/** The first number of a pair. */
export function firstOf(text: string): number {
  return Number(text.slice(0, KEY_DIGITS));
}

/** The second number of a pair. */
export function secondOf(text: string): number {
  return Number(text.slice(KEY_DIGITS + 1));
}

/**
 * The range of the pairs with this first number.
 *
 * @param after only the pairs whose second number is larger than this one
 */
export function pairsOf(n: number, after?: number | null): { readonly from: string; readonly before: string } {
  return { from: after === undefined || after === null ? `${key(n)}.` : pair(n, after + 1), before: `${key(n)}/` };
}

/**
 * The place in a line: higher priorities first, then in the order of the numbers.
 *
 * @param priority a whole number of at most a million to both sides of 0
 */
export function placeInLine(priority: number, order: number): string {
  return pair(PRIORITY_MAX - priority, order);
}
