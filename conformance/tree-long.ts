/**
 * Trees of agents against their oracle, in the long form:
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-long.ts [--schedules 100000] [--seed 1]
 *
 * `--schedules N`: random trees on the reducer alone. Nodes make children with needs, end well and badly, ask and answer;
 * people stop, pause, retry, add and answer. A plain program says of each step what must follow; in the end each tree must
 * end. A failure shows the smallest schedule that was found and the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import { holdSchedules } from './tree/hold.js';
import { treeReducer } from './tree/reducer.js';

const COMMAND = 'npx tsx --conditions=@reprise/source conformance/tree-long.ts';
const BATCH = 5_000;

const { values: options } = parseArgs({
  options: {
    schedules: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(options.seed);

if (Number(options.schedules) > 0) playSchedules(Number(options.schedules));

/** Plays schedules on the reducer alone. */
function playSchedules(total: number): void {
  const sum = { nodes: 0, syntheses: 0 };
  for (let done = 0, batch = seed; done < total; batch++) {
    const runs = Math.min(BATCH, total - done);
    const command = `${COMMAND} --schedules ${runs} --seed ${batch}`;
    const { nodes, syntheses } = holdSchedules(treeReducer, { runs, seed: batch, command });
    sum.nodes += nodes;
    sum.syntheses += syntheses;
    done += runs;
  }
  console.log(`${total} schedules, ${sum.nodes} nodes, ${sum.syntheses} syntheses: as the oracle says; stuck 0`);
}
