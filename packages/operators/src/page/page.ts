/** Pages of long answers: a cursor names the last entry of a page, so that a page is the same after new frames. */
import { RepriseError } from '@reprise/contracts';

/** Which part of a list is wanted. */
export interface PageOptions {
  /** The most entries; 1,000 when absent. */
  readonly limit?: number;
  /** The cursor of the page before: `next` of its answer. */
  readonly after?: string;
}

/** A part of a list. */
interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; null when this is the last one. */
  readonly next: string | null;
}

/** The entries of a page when none is stated. */
export const LIMIT_DEFAULT = 1_000;

/**
 * The page behind a cursor.
 *
 * @param cursorOf the cursor of an entry, another one for each
 * @throws RepriseError `invalid_argument` when no entry has the cursor
 */
export function pageOf<T>(
  all: readonly T[],
  { limit = LIMIT_DEFAULT, after }: PageOptions,
  cursorOf: (item: T) => string,
): Page<T> {
  const from = after === undefined ? 0 : all.findIndex((item) => cursorOf(item) === after) + 1;
  if (after !== undefined && from === 0) throw noSuchCursor(after);
  const items = all.slice(from, from + limit);
  const last = items.at(-1);
  return { items, next: from + items.length < all.length && last !== undefined ? cursorOf(last) : null };
}

/** The refusal of a cursor that no entry has. */
export function noSuchCursor(actual: string): RepriseError {
  return new RepriseError('invalid_argument', 'no entry has this cursor', {
    where: 'after',
    expected: 'the `next` of the page before, with the other options unchanged',
    actual,
    hint: 'Begin again without a cursor: what it named may be over.',
  });
}
