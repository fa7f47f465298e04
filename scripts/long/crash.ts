/**
 * `kill -9` against the sample world, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/crash.ts [--moments 200] [--seed N] [--from N]
 *
 * Each moment is a world of its own: a survey that is killed one to three times, at a step before or after its
 * operation or by the clock, then run to its end and checked (crash/harness/C1 to crash/harness/C6). Where the blows fall is
 * a function of the seed and the moment's number; `--from N --moments 1` runs one again.
 */
import { parseArgs } from 'node:util';
import { makeBench } from '../../packages/store-sqlite/test/crash/harness.js';
import { runTrial, survey } from '../../packages/store-sqlite/test/crash/trials.js';

const { values: options } = parseArgs({
  options: {
    moments: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    from: { type: 'string', default: '0' },
  },
});
const [moments, seed, from] = [options.moments, options.seed, options.from].map(Number) as [number, number, number];
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;

console.log(`crash, long form: ${moments} moments, seed ${seed}`);
const bench = await makeBench();
const clean = await survey(bench);
console.log(`an undisturbed survey: ${clean.names.length} steps, ${clean.ms.toFixed(0)} ms`);

const total = { kills: 0, byClock: 0, unknown: 0, repeated: 0 };
for (let n = from; n < from + moments; n++) {
  const result = await runTrial(bench, clean, seed, n).catch((error: unknown) => {
    console.error(
      `rerun: npx tsx --conditions=@reprise/source scripts/long/crash.ts --seed ${seed} --from ${n} --moments 1`,
    );
    console.error(`what is left of it: ${bench.root}`);
    throw error;
  });
  for (const key of ['kills', 'byClock', 'unknown', 'repeated'] as const) total[key] += result[key];
  if ((n - from) % 20 === 19) console.log(`${n - from + 1} of ${moments}, ${total.kills} kills, ${seconds()}`);
}
bench.dispose();
console.log(
  `crash, long form: ok; ${moments} worlds, ${total.kills} kills (${total.byClock} by the clock); every rerun completed ` +
    `and verified; no at_most_once effect ran twice; ${total.unknown} calls outcome_unknown, the model told of each; ` +
    `${total.repeated} idempotent calls ran again; seed ${seed}, ${seconds()}`,
);
