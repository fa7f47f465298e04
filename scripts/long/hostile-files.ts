/**
 * Files of a world that an attacker changed, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/hostile-files.ts [--inputs 4000] [--seed N] [--from N]
 *
 * Bytes, pages, circles of pages, lengths, schemas, rows, notes and logs of a small world are changed; each file is read,
 * verified, opened and written by a process with little memory, and must come to a verdict of the closed list, or be the
 * world that it was (`hostile-files/fuzz.ts`). What is done is a function of the seed and the number of the input.
 */
import { parseArgs } from 'node:util';
import { fuzz, MEMORY_MIB_MAX } from '../../packages/store-sqlite/test/hostile-files/fuzz.js';

const { values: options } = parseArgs({
  options: {
    inputs: { type: 'string', default: '4000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    from: { type: 'string', default: '0' },
  },
});
const [inputs, seed, from] = [options.inputs, options.seed, options.from].map(Number) as [number, number, number];
const started = performance.now();
const { findings, hangs, memoryMiB, verdicts } = await fuzz(seed, from, inputs);
for (const finding of findings) console.error(finding);
const counts = [...verdicts].sort(([, a], [, b]) => b - a).map(([verdict, count]) => `${verdict} ${count}`);
const seconds = ((performance.now() - started) / 1000).toFixed(0);
const state = findings.length === 0 && memoryMiB < MEMORY_MIB_MAX ? 'ok' : 'RED';
console.log(
  `hostile files, long form: ${state}; ${inputs} inputs, ${hangs} hangs, ${findings.length} findings, at most ${memoryMiB} MiB resident ` +
    `(bound ${MEMORY_MIB_MAX}); verdicts: ${counts.join(', ')}; seed ${seed}, ${seconds} s`,
);
if (state === 'RED') process.exitCode = 1;
