/* The deep files, of which a run of the rest takes one share: `conformance/shares.mjs` says why. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SHARES } from '../../conformance/shares.mjs';
import { ROOT } from './root.mjs';

/** What `scripts/slow-tests.ts` has measured: the seconds of each deep file. */
export const DEEP_LIST = path.join(ROOT, 'scripts/lib/deep-tests.json');

/** Never deep: what compares pages and lists with the code has to say at once that a change left one behind. */
export const OF_EACH_CHANGE = [
  'scripts/test/api.test.ts',
  'scripts/test/divergence-page.test.ts',
  'scripts/test/first-mistakes.test.ts',
  'scripts/test/mistakes.test.ts',
  'scripts/test/passes.test.ts',
  'scripts/test/readme.test.ts',
  'scripts/test/suites.test.ts',
];

/** @type {Readonly<Record<string, number>>} */
export const DEEP = JSON.parse(readFileSync(DEEP_LIST, 'utf8')).files;

/**
 * The deep files of each share: the longest first, each to the share that has least until then.
 *
 * @returns {readonly (readonly string[])[]}
 */
export function sharesOf(seconds = DEEP) {
  const shares = Array.from({ length: SHARES }, () => ({ files: [], seconds: 0 }));
  const longestFirst = Object.entries(seconds).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  for (const [file, cost] of longestFirst) {
    const least = shares.reduce((one, other) => (other.seconds < one.seconds ? other : one));
    least.files.push(file);
    least.seconds += cost;
  }
  return shares.map(({ files }) => files);
}

/** The deep files that a share leaves out. */
export const deepFilesBeside = (share) =>
  share === undefined ? [] : sharesOf().flatMap((files, place) => (place === share ? [] : files));
