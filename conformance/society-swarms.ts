/**
 * Runs swarms of growing sizes in all strategies, in moderate culture, and prints what each agent takes: frames, records and
 * CPU. Fails when one of them grows faster, from 16 agents on, than the logarithm of the size: all agents together then take
 * more than n log n.
 *
 * With `--kill N` it runs swarms on SQLite files instead, in processes that are killed so often in all, at random moments:
 * each must have one result and one item of each agent, one end, and be verified.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-swarms.ts [--sizes 3,16,64]
 *   npx tsx --conditions=@reprise/source conformance/society-swarms.ts --kill 100 [--sizes 3,64] [--seed N]
 */
import { parseArgs } from 'node:util';
import { killSwarms } from './society/kill.js';
import { growsTooFast, type Measured, measureSwarm, STRATEGIES } from './society/swarms.js';

/** Smaller swarms write mostly what each world writes. */
const FROM = 16;

const { values: options } = parseArgs({
  options: { sizes: { type: 'string' }, kill: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const sizesOf = (preset: string) => (options.sizes ?? preset).split(',').map(Number);
if (options.kill === undefined) await measure(sizesOf('3,16,64'));
else await kill(Number(options.kill), sizesOf('3,64'), Number(options.seed));

async function kill(kills: number, sizes: readonly number[], seed: number): Promise<void> {
  const found = await killSwarms({ kills, sizes, seed, told: (line) => console.log(line) });
  const whole = found.swarms - found.failures.length;
  console.log(`${found.kills} kills, seed ${seed}: ${whole} of ${found.swarms} swarms came to their one end`);
  if (found.failures.length > 0 || found.kills < kills) process.exitCode = 1;
}

async function measure(sizes: readonly number[]): Promise<void> {
  for (const strategy of STRATEGIES) {
    let base: Measured | undefined;
    for (const size of sizes) {
      const measured = await measureSwarm(strategy, size);
      const { status, framesEach, recordsEach, cpuMsEach } = measured;
      const fast = base === undefined ? [] : growsTooFast(base, measured);
      const problems = [
        ...(status === 'archived' ? [] : ['not ended']),
        ...fast.map((what) => `${what} grow too fast`),
      ];
      if (problems.length > 0) process.exitCode = 1;
      console.log(
        `${strategy}, ${size} agents: ${status}; by agent ${framesEach.toFixed(1)} frames, ` +
          `${recordsEach.toFixed(1)} records, ${cpuMsEach.toFixed(1)} ms CPU${problems.map((one) => `: ${one}`).join('')}`,
      );
      if (size >= FROM) base ??= measured;
    }
  }
}
