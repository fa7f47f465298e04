/**
 * Actors who decide about one item at once, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/decisions.ts [--schedules 10000] [--seed N]
 *
 * In each schedule two, three or five actors (people, a rule, a program, a node, the operator) decide about an approval or
 * answer a question, in random order and at random distances; in half of the schedules the process dies at an append, and
 * those who got no answer ask again in the next process. Exactly one decision is applied, each other actor is told who won,
 * the act and every word that the model reads are the winner's, and the journal replays. A failure shows the smallest
 * schedule that was found.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { anyRace, playRace } from '../../packages/agent/test/decisions/race.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

const BATCH = 500;
const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/decisions.ts';

const { values: options } = parseArgs({
  options: {
    schedules: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [schedules, seed] = [Number(options.schedules), Number(options.seed)];
const began = performance.now();
const sum = { schedules: 0, deaths: 0, applied: 0, already_settled: 0, stale: 0, changed: 0 };
console.log(`decisions, long form: ${schedules} schedules, seed ${seed}`);

const kept = fc.asyncProperty(anyRace, async (race) => {
  const { told, died } = await playRace(race);
  sum.schedules++;
  if (died) sum.deaths++;
  for (const status of told) sum[status]++;
});

for (let batch = 0; sum.schedules < schedules; batch++) {
  const numRuns = Math.min(BATCH, schedules - sum.schedules);
  const batchSeed = (seed + batch) | 0;
  await hold(kept, { numRuns, seed: batchSeed, command: `${COMMAND} --schedules ${numRuns} --seed ${batchSeed}` });
  console.log(`${sum.schedules} of ${schedules}, ${seconds()} s`);
}
console.log(
  `decisions, long form: ok; ${sum.schedules} schedules, ${sum.deaths} processes died, ${sum.applied} decisions applied, ` +
    `${sum.already_settled} actors told who won; seed ${seed}, ${seconds()} s`,
);

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
