/**
 * Random histories of agent sessions, audited, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/sessions.ts [--runs 2000] [--seed N] [--verify 10]
 *
 * A history is one session and its children: some 60 things happen to it (inputs and commands right and wrong, answers of
 * models and tools early, late and of every kind, decisions, time, crashes), and after each an auditor, who shares no code
 * with the reducer, compares what is with what has to be. Each history's journal is replayed, or every n-th with
 * `--verify n`. A failure shows the smallest history that was found and the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { anyHistory } from '../../packages/agent/test/histories/happenings.js';
import { playHistory } from '../../packages/agent/test/histories/play-history.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

/** Small enough to say where a run stands every few seconds, and to run one again. */
const BATCH = 500;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/sessions.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    verify: { type: 'string', default: '1' },
  },
});
const [runs, seed, every] = [Number(options.runs), Number(options.seed), Number(options.verify)];
const began = performance.now();
const sum = { histories: 0, frames: 0, runs: 0, children: 0, crashes: 0, verified: 0 };
const met = new Map<string, number>();
console.log(`sessions, long form: ${runs} histories, seed ${seed}, every ${every}. replayed`);

const kept = fc.asyncProperty(anyHistory, async (history) => {
  const verify = sum.histories++ % every === 0;
  const played = await playHistory(history, verify);
  if (verify) sum.verified++;
  for (const figure of ['frames', 'runs', 'children', 'crashes'] as const) sum[figure] += played[figure];
  for (const [what, times] of played.met) met.set(what, (met.get(what) ?? 0) + times);
});

for (let batch = 0; sum.histories < runs; batch++) {
  const numRuns = Math.min(BATCH, runs - sum.histories);
  const batchSeed = (seed + batch) | 0;
  await hold(kept, { numRuns, seed: batchSeed, command: `${COMMAND} --runs ${numRuns} --seed ${batchSeed}` });
  console.log(`${sum.histories} of ${runs}, ${seconds()} s`);
}

for (const [what, times] of [...met].sort()) console.log(`  ${what}: ${times}`);
const { histories, frames, children, crashes, verified } = sum;
console.log(
  `sessions, long form: ok; ${histories} histories, ${frames} frames, ${sum.runs} runs, ${children} children, ` +
    `${crashes} crashes; ${verified} journals replayed; seed ${seed}, ${seconds()} s`,
);

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
