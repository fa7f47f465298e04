/**
 * Queues, topics and promises at their full size, in worlds that die at random commits:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/flow.ts [--size 10000] [--seed N] [--kill-every 400]
 *
 * Each is held to what a plain program comes to (`packages/org/test/flow/support/trials.ts`): nothing is lost, nothing
 * happens twice, and the journal replays.
 */
import { parseArgs } from 'node:util';
import {
  type Came,
  promiseTrial,
  queueTrial,
  type Trial,
  topicTrial,
} from '../../packages/org/test/flow/support/trials.js';

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    'kill-every': { type: 'string', default: '400' },
  },
});
const [size, seed, killEvery] = [options.size, options.seed, options['kill-every']].map(Number) as [
  number,
  number,
  number,
];

const trials: readonly (readonly [string, (trial: Trial) => Promise<Came>, number])[] = [
  ['items before five slots', queueTrial, size],
  ['subscribers of a topic', topicTrial, size],
  ['cells that await six promises', promiseTrial, Math.ceil(size / 5)],
];

console.log(`flow, long form: seed ${seed}`);
for (const [what, trial, many] of trials) {
  const started = performance.now();
  const { deaths, frames } = await trial({ seed, size: many, killEvery });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${many} ${what}: ok; ${deaths} deaths, ${frames} frames replayed, ${seconds} s`);
}
console.log(`flow, long form: ok; nothing lost, nothing twice; seed ${seed}`);
