/** Mistakes in what a society shows, each planted in a build of its own, which the law of `content.test.ts` finds. */
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../part.js';
import { foundIn, MUTANTS } from './mutants.js';

/** Each mistake costs a build of its own: one in so many is planted here, and all of them with `--mutants`, this variable or `TESTS=all`. */
const EVERY = process.env.REPRISE_ALL_MUTANTS === undefined ? stepOf(25) : 1;

const PLANTED = MUTANTS.filter((_, at) => at % EVERY === 0);

describe('mistakes in the content of random societies', () => {
  it.each(PLANTED)('A disagreement is found when $what', async (mutant) => {
    expect(await foundIn(mutant, 1, mutant.seed)).toMatch(/^seed \d+: .*expected/s);
  });
});
