/**
 * The law of mutated streams, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/answers.ts [--runs 200000] [--seed N] [--format NAME] [--minutes 60]
 *
 * A run is one answer of a wire format whose events were cut, dropped, doubled, reordered, changed or mixed with others,
 * sent under any content type. A failure shows its seed, which `--seed N --runs 1` runs again. `--minutes` ends each
 * format early.
 */
import { parseArgs } from 'node:util';
import { holdMutations, MUTATED_FORMATS, readerOf, type Tally } from '../../packages/providers/test/mutated-streams.js';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() & 0x3fffffff) },
    format: { type: 'string' },
    minutes: { type: 'string', default: '60' },
  },
});
const [runs, seed, minutes] = [Number(options.runs), Number(options.seed), Number(options.minutes)];

/** Small enough to look at the clock every few seconds. */
const BATCH = 2_000;

for (const format of MUTATED_FORMATS.filter((name) => options.format === undefined || name === options.format)) {
  const started = performance.now();
  const sum: Tally = { answers: 0, failures: {}, calls: 0 };
  let done = 0;
  while (done < runs && performance.now() - started < minutes * 60_000) {
    const batch = Math.min(BATCH, runs - done);
    const { answers, calls, failures } = await holdMutations(readerOf(), format, { runs: batch, seed: seed + done });
    sum.answers += answers;
    sum.calls += calls;
    for (const [code, count] of Object.entries(failures)) sum.failures[code] = (sum.failures[code] ?? 0) + count;
    done += batch;
  }
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(`${format}: ${done} mutations from seed ${seed} in ${seconds} s: ${JSON.stringify(sum)}`);
}
