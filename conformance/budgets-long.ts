/**
 * Budgets over random trees of sessions, in the long form:
 *
 *   npx tsx --conditions=@reprise/source conformance/budgets-long.ts [--runs 20000] [--seed N] [--verify 100]
 *
 * A tree is one session and what it spawns, up to four deep: inputs, children with budgets and without, inputs to children,
 * answers that use up to what was reserved, failures, retries, summaries, cancels, closes, time, crashes. At each model call
 * a ledger, which shares no code with the reducer, holds what was used and reserved below each run against what the run was
 * given, in tokens and in money. A failure shows the smallest tree that was found and the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { hold } from '../packages/kernel/test/laws/hold.js';
import { anyTree, playTree } from './sessions/budgets/play-tree.js';

const BATCH = 1_000;
const COMMAND = 'npx tsx --conditions=@reprise/source conformance/budgets-long.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    verify: { type: 'string', default: '100' },
  },
});
const [runs, seed, every] = [Number(options.runs), Number(options.seed), Number(options.verify)];
const began = performance.now();
const sum = { trees: 0, launches: 0, frames: 0, sessions: 0, deepest: 0, verified: 0 };
const met = new Map<string, number>();
console.log(`budgets, long form: ${runs} trees, seed ${seed}, every ${every}. replayed`);

const kept = fc.asyncProperty(anyTree, async (tree) => {
  const verify = sum.trees++ % every === 0;
  const { launches, frames, sessions, deepest, met: seen } = await playTree(tree, undefined, verify);
  if (verify) sum.verified++;
  sum.launches += launches;
  sum.frames += frames;
  sum.sessions += sessions;
  sum.deepest = Math.max(sum.deepest, deepest);
  for (const [what, times] of seen) met.set(what, (met.get(what) ?? 0) + times);
});

for (let batch = 0; sum.trees < runs; batch++) {
  const numRuns = Math.min(BATCH, runs - sum.trees);
  const batchSeed = (seed + batch) | 0;
  await hold(kept, { numRuns, seed: batchSeed, command: `${COMMAND} --runs ${numRuns} --seed ${batchSeed}` });
  console.log(`${sum.trees} of ${runs}, ${seconds()} s`);
}

for (const [what, times] of [...met].sort()) console.log(`  ${what}: ${times}`);
console.log(
  `budgets, long form: ok; ${sum.trees} trees, ${sum.sessions} sessions, up to ${sum.deepest} deep, ${sum.launches} model ` +
    `calls, ${sum.frames} frames; ${sum.verified} journals replayed; seed ${seed}, ${seconds()} s`,
);

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
