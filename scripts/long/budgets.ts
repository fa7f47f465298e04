/**
 * Budgets over random trees of sessions, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/budgets.ts [--runs 20000] [--worlds 500] [--seed N] [--verify 100]
 *
 * A tree is one session and its descendants, up to four deep: inputs, children with budgets and without, inputs to
 * children, answers that use up to their reserve, failures, retries, summaries, cancels, closes, time, crashes. At each
 * model call a ledger, which shares no code with the reducer, compares the used and reserved amounts below each run
 * with the budget of the run, in tokens and in money. Then `--worlds` trees are played through the public API, half of
 * them in SQLite files: processes die, worlds are forked while their sessions work, and both continue; the books of
 * each world are read from its frames before each launch and compared with the requests and answers of its model. A
 * failure shows the smallest tree that was found and the command for its batch alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sqlite } from '@reprise/store-sqlite';
import fc from 'fast-check';
import { quickMemory } from '../../conformance/quick-memory.js';
import { anyTree, playTree } from '../../packages/agent/test/budgets/play-tree.js';
import { playWorlds } from '../../packages/agent/test/budgets/play-worlds.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

const BATCH = 1_000;
const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/budgets.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    worlds: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    verify: { type: 'string', default: '100' },
  },
});
const [runs, worlds, seed] = [Number(options.runs), Number(options.worlds), Number(options.seed)];
const every = Number(options.verify);
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

const real = { trees: 0, worlds: 0, launches: 0, asks: 0, crashes: 0, sessions: 0, limited: 0 };
const held = fc.asyncProperty(anyTree, async (tree) => {
  const verify = real.trees % 10 === 0;
  const folder = real.trees++ % 2 === 1 ? mkdtempSync(path.join(tmpdir(), 'reprise-budgets-')) : undefined;
  let files = 0;
  const store = () => (folder === undefined ? quickMemory() : sqlite(path.join(folder, `${files++}.world`)));
  try {
    const played = await playWorlds(tree, { store, verify });
    for (const what of ['worlds', 'launches', 'asks', 'crashes', 'sessions', 'limited'] as const)
      real[what] += played[what];
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
});

for (let batch = 0; real.trees < worlds; batch++) {
  const numRuns = Math.min(50, worlds - real.trees);
  const batchSeed = (seed + batch) | 0;
  await hold(held, {
    numRuns,
    seed: batchSeed,
    command: `${COMMAND} --runs 0 --worlds ${numRuns} --seed ${batchSeed}`,
  });
  console.log(`${real.trees} worlds of ${worlds}, ${seconds()} s`);
}

for (const [what, times] of [...met].sort()) console.log(`  ${what}: ${times}`);
console.log(
  `budgets, long form: ok; ${sum.trees} trees, ${sum.sessions} sessions, up to ${sum.deepest} deep, ${sum.launches} model ` +
    `calls, ${sum.frames} frames; ${sum.verified} journals replayed; ${real.trees} worlds on real stores, ` +
    `${real.worlds - real.trees} forks, ${real.crashes} crashes, ${real.sessions} sessions, ${real.launches} model calls, asked ` +
    `${real.asks} times, ${real.limited} limits reached; seed ${seed}, ${seconds()} s`,
);

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
