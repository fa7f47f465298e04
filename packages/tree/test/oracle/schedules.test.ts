import { describe, expect, it } from 'vitest';
import { everyNth } from '../../../../conformance/part.js';
import { holdSchedules } from '../../../../conformance/tree/hold.js';
import { treeReducer } from '../../src/pure/reducer/tree-reducer.js';
import { ACTOR_MUTANTS, BUDGET_MUTANTS, broken, MUTANTS } from './mutants.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const COMMAND = `REPRISE_SEED=${SEED} npx vitest run packages/tree/test/oracle/schedules.test.ts`;

/** The long form: `conformance/tree-long.ts --schedules 100000`. */
describe(`random schedules of trees (seed ${SEED})`, () => {
  it('a tree does in each step what the oracle says, and ends [TREE-3] [TREE-4] [TREE-5] [TREE-6] [TREE-7] [TREE-8] [TREE-10] [TREE-11] [TREE-12] [TREE-13] [TREE-17] [TREE-23] [TREE-24] [TREE-25] [TREE-27] [TREE-28] [TREE-32] [TREE-35] [TREE-36]', () => {
    const { nodes, syntheses } = holdSchedules(treeReducer, { runs: 300, seed: SEED, command: COMMAND });
    expect(nodes).toBeGreaterThan(900);
    expect(syntheses).toBeGreaterThan(150);
  });

  it.each(
    [...everyNth(3, [...MUTANTS, ...BUDGET_MUTANTS]), ...ACTOR_MUTANTS].map((mutant) => [mutant.name, mutant] as const),
  )('schedules find a broken tree: %s', async (_, mutant) => {
    const { find } = await broken(mutant);
    expect(find(2_000, SEED)).toBeTypeOf('string');
  });
});
