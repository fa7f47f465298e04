import { describe, expect, it } from 'vitest';
import { killOwners } from '../../../../conformance/tree/kill.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);

/** The long form: `conformance/tree-long.ts --kill 200`. */
describe(`owners of trees that are killed at random moments (seed ${SEED})`, () => {
  it('a tree ends with every node launched once, and every frame verifies [TREE-2] [TREE-24]', async () => {
    const { ended, twice, lost, unverified } = await killOwners({ kills: 8, trees: 2, seed: SEED });
    expect({ ended, twice, lost, unverified }).toEqual({ ended: 2, twice: 0, lost: 0, unverified: 0 });
  });

  it('kills show an owner that knows of launches only what is in its memory, and without a kill it ends its tree', async () => {
    const calm = await killOwners({ kills: 0, trees: 1, seed: SEED, forgets: true });
    expect({ ended: calm.ended, lost: calm.lost }).toEqual({ ended: 1, lost: 0 });
    const { twice, lost } = await killOwners({ kills: 6, trees: 1, seed: SEED, forgets: true });
    expect(twice + lost).toBeGreaterThan(0);
  });
});
