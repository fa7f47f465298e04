/**
 * Forged worlds in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/hostile.ts [--runs 4000] [--seed N]
 *
 * In a sound world one frame or blob is changed at random and all digests that depend on it are made anew. Each such
 * world is verified, opened, written to and read in its past, in processes of 192 MiB of heap and with a wall clock.
 */
import { parseArgs } from 'node:util';
import { readHostileWorlds } from '../../packages/kernel/test/state/run-worlds.js';

/** Worlds of one process. */
const BATCH = 500;

/** The time for a batch: a thousand times that of one of its worlds. */
const BATCH_MS = 900_000;

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '4000' }, seed: { type: 'string', default: String(Date.now() % 1e9) } },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const counts = new Map<string, number>();
let [forged, slowestMs, largestRss] = [0, 0, 0];
for (let done = 0; done < runs; done += BATCH) {
  const batch = await readHostileWorlds(seed + done, Math.min(BATCH, runs - done), BATCH_MS);
  if (batch.broke.length > 0) throw new Error(`not an error of the closed list:\n${batch.broke.join('\n')}`);
  forged += batch.forged;
  slowestMs = Math.max(slowestMs, batch.slowestMs);
  largestRss = Math.max(largestRss, batch.largestRss);
  for (const [verdict, times] of batch.counts) counts.set(verdict, (counts.get(verdict) ?? 0) + times);
  console.log(`${done + batch.forged} of ${runs}`);
}
for (const [verdict, times] of [...counts].sort()) console.log(`  ${verdict}: ${times}`);
const mib = Math.round(largestRss / 1_048_576);
console.log(`hostile worlds: ok; ${forged} forged, slowest ${slowestMs} ms, at most ${mib} MiB resident; seed ${seed}`);
