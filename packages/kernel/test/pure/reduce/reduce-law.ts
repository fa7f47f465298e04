/** Holds the engine to `reduce()` over random worlds: the testkit's spy compares at every delivery. */
import { PROGRAM_CELLS, programApp, type ScheduleStep } from '../../../../testkit/src/arbitraries/index.js';
import { ReduceMismatch, type SpiedApp, spyOnReducers } from '../../../../testkit/src/reducers/index.js';
import type { World } from '../../../src/index.js';
import { encode } from '../../../src/index.js';
import { toHex } from '../../../src/pure/codec/index.js';
import { reduce } from '../../../src/pure/reduce/index.js';
import { runSchedule } from '../../support/laws/run-schedule.js';

type Reduce = typeof reduce;

/**
 * Runs a schedule of the random worlds and holds every delivery in it to `reduce()`. No crash and no second fold may
 * be in it: the spy sees each delivery once.
 *
 * @param oracle `reduce`, or a mutant of it
 */
export async function holdReduce(schedule: readonly ScheduleStep[], oracle: Reduce = reduce): Promise<SpiedApp> {
  const spied = spyOnReducers(programApp, oracle);
  const lastly = async (world: World): Promise<void> => {
    for (const cell of PROGRAM_CELLS) {
      const [engine, oracled] = [await world.state(cell), spied.stateOf(cell)];
      if (oracled === undefined || engine === undefined) continue;
      if (toHex(encode(engine)) !== oracled) throw new ReduceMismatch(`${cell.join('/')} ends otherwise with reduce()`);
    }
  };
  await runSchedule(schedule, { app: spied.app, recheckEvery: 0, lastly });
  return spied;
}
