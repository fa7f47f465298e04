/**
 * What takes minutes when it is done in full, and is done in part for each change, the same part each time. `TESTS=all` does
 * all of it, as `npm run test:long -- --only whole` does.
 */

import { runsInShare, shareIn } from './shares.mjs';

const IS_WHOLE = process.env.TESTS === 'all';

/** From one to the next that is tried: `n` for a part, 1 for the whole. */
export const stepOf = (n: number): number => (IS_WHOLE ? 1 : n);

/** The first of a list and every nth after it; all of the whole. */
export const everyNth = <T>(n: number, list: readonly T[]): readonly T[] =>
  list.filter((_, place) => place % stepOf(n) === 0);

/** The first of a list, every nth after it, and the last; all of the whole. */
export const spread = <T>(n: number, list: readonly T[]): readonly T[] =>
  list.filter((_, place) => place % stepOf(n) === 0 || place === list.length - 1);

/** Runs a function for the whole alone: it defines tests that repeat, at another depth, what other tests of a file show. */
export const inFull = (define: () => void): void => {
  if (IS_WHOLE) define();
};

/**
 * Deep tests of a file that has others too: they run when their share runs, and always outside of `npm run test:rest`.
 * A clause that one of them tests is tested by another test as well, which runs for each change.
 *
 * @param name decides about the share, so each call of a file has its own
 */
export const deep = (name: string, define: () => void): void => {
  if (IS_WHOLE || runsInShare(name, shareIn(process.env))) define();
};

/** Of a list of deep tests, those whose share runs, by their names: pages that are run, programs that are started. */
export const deepOnes = <T>(list: readonly T[], nameOf: (one: T) => string): readonly T[] =>
  list.filter((one) => IS_WHOLE || runsInShare(nameOf(one), shareIn(process.env)));
