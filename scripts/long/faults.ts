/**
 * Real processes on the real store, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/faults.ts [--worlds 300] [--seed N] [--from N]
 *
 * One to four things befall each world: kills by the clock, right after an acknowledgement, after an append that nobody
 * was told of, and inside an effect; a log that is torn behind what was synced; a holder that is stopped and woken, or
 * killed as it lies; files that may not grow; a database that may not grow. Then it is left alone and checked
 * (faults/trial/F1 to faults/trial/F5). What befalls it is a function of the seed and its number; `--from N --worlds 1` runs
 * one again.
 */
import { parseArgs } from 'node:util';
import { makeBench } from '../../packages/store-sqlite/test/faults/bench.js';
import { runTrial } from '../../packages/store-sqlite/test/faults/trials.js';

const { values: options } = parseArgs({
  options: {
    worlds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    from: { type: 'string', default: '0' },
  },
});
const [worlds, seed, from] = [options.worlds, options.seed, options.from].map(Number) as [number, number, number];
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;

console.log(`faults, long form: ${worlds} worlds, seed ${seed}`);
const bench = await makeBench();
const total = { frames: 0, effects: 0, kills: 0, stops: 0, failed: 0, refused: 0, torn: 0, unknown: 0 };
for (let n = from; n < from + worlds; n++) {
  const result = await runTrial(bench, seed, n).catch((error: unknown) => {
    console.error(
      `rerun: npx tsx --conditions=@reprise/source scripts/long/faults.ts --seed ${seed} --from ${n} --worlds 1`,
    );
    console.error(`what is left of it: ${bench.root}`);
    throw error;
  });
  for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += result[key];
  if ((n - from) % 25 === 24) console.log(`${n - from + 1} of ${worlds}, ${total.kills} kills, ${seconds()}`);
}
bench.dispose();
console.log(
  `faults, long form: ok; ${worlds} worlds, ${total.frames} frames, ${total.effects} effects; ${total.kills} kills, ` +
    `${total.stops} stops, ${total.failed} processes out of room, ${total.refused} requests refused and asked again, ` +
    `${(total.torn / 1024).toFixed(0)} KiB of log torn; ${total.unknown} at_most_once effects outcome_unknown, none ` +
    `happened twice, nothing acknowledged lost; seed ${seed}, ${seconds()}`,
);
