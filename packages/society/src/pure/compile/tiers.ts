/** Trust as a posterior, in integers: the prior is 13 right of 20, and the last verdicts are counted into it. */
import type { Tier } from '../contracts/cell/names.js';

/** The verdicts of one observer that count: the last ones. */
export const TRUST_WINDOW = 256;

/** The prior: 0.65, in the tier medium. */
export const PRIOR = { right: 13, all: 20 } as const;

/** The verdicts of one observer on one agent: how many of the last ones, and how many of them were right. */
export interface Verdicts {
  readonly right: number;
  readonly all: number;
}

/** The posterior as a fraction: `right` of `all`. */
export function posterior({ right, all }: Verdicts): Verdicts {
  return { right: PRIOR.right + right, all: PRIOR.all + all };
}

/** The posterior in millionths, rounded to the nearest; a half is rounded up. */
export function posteriorPpm(verdicts: Verdicts): number {
  const { right, all } = posterior(verdicts);
  return Math.floor((2_000_000 * right + all) / (2 * all));
}

/** The tier of a posterior: untrusted below 3/10, low below 6/10, medium up to 85/100, high above. */
export function tierOf(verdicts: Verdicts): Tier {
  const { right, all } = posterior(verdicts);
  if (10 * right < 3 * all) return 'untrusted';
  if (10 * right < 6 * all) return 'low';
  return 100 * right <= 85 * all ? 'medium' : 'high';
}
