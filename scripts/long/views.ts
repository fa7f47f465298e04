/**
 * The law of views over random worlds, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/views.ts [--runs 500] [--seed N]
 *
 * Each run is one random world whose views are kept by processes that die at their commits, before or after them. The
 * final rows must equal those of one undisturbed process, in bytes, and so must a past. Worlds
 * come in batches, each with a seed of its own; a failure shows the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { holdViews } from '../../packages/kernel/test/serve/views/view-laws.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';
import { anySchedule } from '../../packages/testkit/src/arbitraries/index.js';

const BATCH = 100;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/views.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const started = performance.now();
const sum = { worlds: 0, frames: 0, entries: 0, crashes: 0 };
console.log(`views, long form: ${runs} worlds, seed ${seed}`);

for (let done = 0; done < runs; done += BATCH) {
  const numRuns = Math.min(BATCH, runs - done);
  const batchSeed = (seed + done / BATCH) | 0;
  const law = fc.asyncProperty(anySchedule({ stepsMax: 40, depth: 3 }), async (schedule) => {
    const { frames, entries, crashes } = await holdViews(schedule);
    sum.worlds++;
    sum.frames += frames;
    sum.entries += entries;
    sum.crashes += crashes;
  });
  await hold(law, { numRuns, seed: batchSeed, command: `${COMMAND} --runs ${numRuns} --seed ${batchSeed}` });
  console.log(`${done + numRuns} of ${runs} worlds, ${seconds()} s`);
}

console.log(
  `views, long form: ok; ${sum.worlds} worlds, ${sum.frames} frames, ${sum.crashes} processes that died at a commit, ` +
    `${sum.entries} entries compared in bytes; seed ${seed}, ${seconds()} s`,
);

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
