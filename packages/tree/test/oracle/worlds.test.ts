import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth } from '../../../../conformance/part.js';
import { holdWorlds } from '../../../../conformance/tree/worlds/hold.js';
import { playWorld } from '../../../../conformance/tree/worlds/play.js';
import { worldSchedules } from '../../../../conformance/tree/worlds/schedule.js';
import { brokenWorlds, MUTANTS } from './mutants.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const COMMAND = `REPRISE_SEED=${SEED} npx vitest run packages/tree/test/oracle/worlds.test.ts`;

/** The long form: `conformance/tree-long.ts --worlds 1000`. */
describe(`random schedules of trees in real worlds (seed ${SEED})`, () => {
  it('a tree does what the oracle says, whatever models say, people command and processes die, and every frame is verified [TREE-1] [TREE-2] [TREE-3] [TREE-7] [TREE-8] [TREE-11] [TREE-32]', async () => {
    const { nodes, syntheses, crashes, verified } = await holdWorlds({ runs: 24, seed: SEED, command: COMMAND });
    expect(nodes).toBeGreaterThan(70);
    expect(syntheses).toBeGreaterThan(15);
    expect(crashes).toBeGreaterThan(8);
    expect(verified).toBeGreaterThan(300);
  });

  it('a run whose answer is on its way when a pause ends keeps its slot: in it no other node begins [TREE-3] [TREE-27]', async () => {
    // A tree of two parallel runs: one waits for an answer that times out in the pause, and a third node is ready.
    const [schedule] = fc.sample(worldSchedules, { seed: 138, numRuns: 1 });
    if (schedule === undefined) throw new Error('a sample has a schedule');
    await playWorld(schedule);
  });

  it.each(everyNth(8, MUTANTS).map((mutant) => [mutant.name, mutant] as const))(
    'real worlds show a broken tree: %s',
    async (_, mutant) => {
      const { findWorld } = await brokenWorlds(mutant);
      expect(await findWorld(150, SEED)).toBeTypeOf('string');
    },
  );
});
