/*
 * The deep tests: random lives, killed processes, whole matrices of broken builds, pages of a browser. Together they take
 * most of the time of `npm run test:rest`, and each clause that they test is tested by another test as well, which runs
 * for each change (`scripts/spec/report.ts` checks that). So a run of the rest takes one share of them, by its commit:
 * the same commit runs the same tests, and some commits later all have run. `npm run test:nightly` runs all of them.
 *
 * `DEEP_SHARE=3` chooses the share (0 to 11), `DEEP_SHARE=all` all of them.
 */
import { createHash } from 'node:crypto';

/** So many shares have the deep tests. */
export const SHARES = 12;

/** A share for a text, the same each time. */
const shareOf = (text) => createHash('sha256').update(text).digest().readUInt32BE() % SHARES;

/** The share that a run takes for a commit, by its hash. */
export const shareOfCommit = (commit) => shareOf(commit);

/**
 * The share that an environment asks for; undefined for all of them.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {number | undefined}
 * @throws Error when `DEEP_SHARE` is neither a share nor `all`
 */
export function shareIn({ DEEP_SHARE: text }) {
  if (text === undefined || text === 'all') return undefined;
  if (/^\d+$/.test(text) && Number(text) < SHARES) return Number(text);
  throw new Error(`DEEP_SHARE: expected 0 to ${SHARES - 1} or all, not ${JSON.stringify(text)}`);
}

/** Whether deep tests of this name run in a share; each name has one share. */
export const runsInShare = (name, share) => share === undefined || shareOf(name) === share;
