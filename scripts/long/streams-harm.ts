/**
 * The limits of the readers of answers, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/streams-harm.ts [--inputs 20000] [--seed N]
 *
 * Malicious servers (lines and events without an end, JSON that is small and unpacks to much, calls and blocks by the
 * hundred thousand, headers, errors, slow bytes), each read in a process of its own with little heap; then random
 * answers of random bytes. Prints the largest memory and the slowest reading; a reader that dies or hangs fails the
 * run.
 */
import { parseArgs } from 'node:util';
import { HARMS, HEAP_MIB, inChild, MEMORY_MIB_MAX, meet } from '../../packages/providers/test/hostile.js';
import type { Fuzzed } from '../../packages/providers/test/hostile-fuzz.js';

/** Inputs of one process. */
const BATCH = 2_000;

const { values: options } = parseArgs({
  options: {
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [wanted, seed] = [Number(options.inputs), Number(options.seed)];
const began = performance.now();
const most = { mib: 0, ms: 0 };
console.log(
  `harm to streams, long form: ${HARMS.length} harms, ${wanted} random answers, seed ${seed}, heap ${HEAP_MIB} MiB`,
);

for (const harm of HARMS) {
  const { code, mib, ms } = await meet(harm);
  if (!harm.code.test(code)) throw new Error(`${harm.name}: ${code} in place of ${harm.code}`);
  note(harm.name, mib, ms);
}

let [inputs, ok] = [0, 0];
for (let batch = 0; inputs < wanted; batch++) {
  const given = [String(Math.min(BATCH, wanted - inputs)), String((seed + batch) | 0)];
  const fuzzed = await inChild<Fuzzed>('hostile-fuzz.ts', given, 600_000);
  inputs += fuzzed.inputs;
  ok += fuzzed.ok;
  note(`${inputs} random answers`, fuzzed.mib, fuzzed.slowestCpuMs);
}
console.log(
  `harm to streams, long form: ok; ${HARMS.length} harms, ${inputs} random answers (${ok} were answers), at most ` +
    `${most.mib} MiB and ${most.ms} ms, none hung; seed ${seed}, ${Math.round((performance.now() - began) / 1000)} s`,
);

function note(what: string, mib: number, ms: number): void {
  console.log(`  ${what}: ${mib} MiB, ${ms} ms`);
  if (mib > MEMORY_MIB_MAX) throw new Error(`${what}: ${mib} MiB, at most ${MEMORY_MIB_MAX} expected`);
  most.mib = Math.max(most.mib, mib);
  most.ms = Math.max(most.ms, ms);
}
