/** Keys of the tables: numbers as texts that sort as the numbers do. */

const DIGITS = 7;
const PRIORITY_DIGITS = 4;
const PRIORITY_MAX = 1_000;

/** The key of a node. */
export function key(n: number): string {
  return String(n).padStart(DIGITS, '0');
}

/** The key of a pair of nodes. */
export function pair(a: number, b: number): string {
  return `${key(a)}.${key(b)}`;
}

/** The first node of a pair. */
export function firstOf(text: string): number {
  return Number(text.slice(0, DIGITS));
}

/** The second node of a pair. */
export function secondOf(text: string): number {
  return Number(text.slice(DIGITS + 1));
}

/** The range of all pairs with this first node. */
export function pairsOf(n: number): { readonly from: string; readonly before: string } {
  return { from: `${key(n)}.`, before: `${key(n)}/` };
}

/** The place of a node among those that may begin: higher priorities first, then lower numbers. */
export function placeInLine(priority: number, n: number): string {
  return `${String(PRIORITY_MAX - priority).padStart(PRIORITY_DIGITS, '0')}.${key(n)}`;
}

/** The place of a run that continues with its answers: before all nodes that would begin. What it needs is set aside. */
export function placeToGoOn(priority: number, n: number): string {
  return `-${placeInLine(priority, n)}`;
}
