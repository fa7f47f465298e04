/**
 * The law of forks over random worlds, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/forks.ts [--runs 1000] [--seed N]
 *
 * Each run is one random world of several requests, with plans, effects, receipts, deadlines and timers. It is forked
 * at every frame at which a world may be forked; each fork is opened, fed what was asked of the original, verified and
 * held to it: nothing outside was asked, what was open is settled, and where neither time nor the order of several
 * outcomes at the cut comes between, every effect got the receipt that the original got and every cell is in the same
 * state, in bytes. Worlds come in batches, each with a seed of its own; a failure shows the smallest world that was
 * found and the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { anyForkedWorld, type HeldForks, holdForks } from '../../packages/kernel/test/replay/fork/fork-law.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

/** Small enough to say where a run stands every half a minute, and to run one again. */
const BATCH = 50;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/forks.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const started = performance.now();
const held: HeldForks = { forks: 0, compared: 0, matched: 0, settled: 0 };
console.log(`forks, long form: ${runs} worlds, seed ${seed}`);

for (let done = 0; done < runs; done += BATCH) {
  const numRuns = Math.min(BATCH, runs - done);
  const batchSeed = (seed + done / BATCH) | 0;
  const law = fc.asyncProperty(anyForkedWorld(12), (requests) => holdForks(requests, held));
  await hold(law, { numRuns, seed: batchSeed, command: `${COMMAND} --runs ${numRuns} --seed ${batchSeed}` });
  console.log(`${done + numRuns} of ${runs} worlds, ${seconds()} s`);
}

console.log(
  `forks, long form: ok; ${runs} worlds forked ${held.forks} times, ${held.compared} of them compared state by state; ` +
    `${held.matched} effects answered from the original, ${held.settled} settled at the cut; seed ${seed}, ${seconds()} s`,
);

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
