/**
 * Requests of random histories to strict servers of every format, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/requests.ts [--runs 10000] [--seed N]
 *
 * Each run draws a history with files, odd schemas and odd names of tools, calls without results and a window behind a
 * summary, has every client write its request, and has the server of the format judge it. No request may be refused.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { anyHistory, send } from '../../packages/providers/test/requests/histories.js';

const BATCH = 500;

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const started = performance.now();
const sum = { histories: 0, requests: 0 };
console.log(`requests, long form: ${runs} histories, seed ${seed}`);

const law = fc.asyncProperty(anyHistory, async (history) => {
  sum.histories++;
  for (const { way, refused } of await send(history)) {
    sum.requests++;
    if (refused.length > 0) throw new Error(`${way}: ${refused.join('; ')}`);
  }
});

for (let done = 0; done < runs; done += BATCH) {
  await fc.assert(law, { numRuns: Math.min(BATCH, runs - done), seed: (seed + done / BATCH) | 0 });
  console.log(`${sum.histories} of ${runs} histories, ${seconds()} s`);
}

console.log(
  `requests, long form: ok; ${sum.histories} histories, ${sum.requests} requests, 0 refused; seed ${seed}, ${seconds()} s`,
);

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
