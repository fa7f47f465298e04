/**
 * Runs swarms of growing sizes in all strategies, in moderate culture, and prints what each agent takes: frames, records and
 * CPU. Fails when one of them grows faster, from 16 agents on, than the logarithm of the size: all agents together then take
 * more than n log n.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-swarms.ts [--sizes 3,16,64]
 */
import { parseArgs } from 'node:util';
import { growsTooFast, type Measured, measureSwarm, STRATEGIES } from './society/swarms.js';

/** Smaller swarms write mostly what each world writes. */
const FROM = 16;

const { values: options } = parseArgs({ options: { sizes: { type: 'string', default: '3,16,64' } } });
const sizes = options.sizes.split(',').map(Number);
for (const strategy of STRATEGIES) {
  let base: Measured | undefined;
  for (const size of sizes) {
    const measured = await measureSwarm(strategy, size);
    const { status, framesEach, recordsEach, cpuMsEach } = measured;
    const fast = base === undefined ? [] : growsTooFast(base, measured);
    const problems = [...(status === 'archived' ? [] : ['not ended']), ...fast.map((what) => `${what} grow too fast`)];
    if (problems.length > 0) process.exitCode = 1;
    console.log(
      `${strategy}, ${size} agents: ${status}; by agent ${framesEach.toFixed(1)} frames, ` +
        `${recordsEach.toFixed(1)} records, ${cpuMsEach.toFixed(1)} ms CPU${problems.map((one) => `: ${one}`).join('')}`,
    );
    if (size >= FROM) base ??= measured;
  }
}
