/** Keys of the tables: numbers as texts that sort as the numbers do. */

export const DIGITS = 7;
const PRIORITY_DIGITS = 4;
const PRIORITY_MAX = 1_000;

/** The key of a task, a result, a job or an entry. */
export function key(n: number): string {
  return String(n).padStart(DIGITS, '0');
}

/** The key of a pair of tasks. */
export function pair(a: number, b: number): string {
  return `${key(a)}.${key(b)}`;
}

/** The second task of a pair. */
export function secondOf(text: string): number {
  return Number(text.slice(DIGITS + 1));
}

/** The range of the pairs with this first task, behind one of them. */
export function pairsOf(n: number, after: number | null): { readonly from: string; readonly before: string } {
  return { from: after === null ? `${key(n)}.` : pair(n, after + 1), before: `${key(n)}/` };
}

/** The place of a task among those that are ready: higher priorities first, then the order in which they became so. */
export function placeInLine(priority: number, order: number): string {
  return `${String(PRIORITY_MAX - priority).padStart(PRIORITY_DIGITS, '0')}.${String(order).padStart(DIGITS, '0')}`;
}
