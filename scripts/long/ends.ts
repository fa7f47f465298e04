/**
 * Everything that a session accepts ends once, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/ends.ts [--runs 20000] [--worlds 500] [--seed N]
 *
 * A history is one session and its children: some 60 things happen to it (inputs and commands right and wrong, answers of
 * models and tools early, late and of every kind, questions, decisions, time, crashes), then it is closed and nothing is
 * answered any more. An oracle, which shares no code with the reducer, reads requests, events and transcripts and looks for
 * what has no end, or two. Then as many worlds as `--worlds` says are played through the public API, half of them in SQLite
 * files: every handle that is taken, also after a crash, has to settle, and to tell the same end. A failure shows the smallest history that was found and the command for its batch alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sqlite } from '@reprise/store-sqlite';
import fc from 'fast-check';
import { quickMemory } from '../../conformance/quick-memory.js';
import { anyEndedHistory, playToEnd } from '../../packages/agent/test/ends/play-ends.js';
import { anyHostHistory, playHost } from '../../packages/agent/test/ends/play-handles.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

const BATCH = 500;
const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/ends.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    worlds: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, worlds, seed] = [Number(options.runs), Number(options.worlds), Number(options.seed)];
const began = performance.now();
const sum = { histories: 0, frames: 0, crashes: 0 };
const counts = new Map<string, number>();
console.log(`ends, long form: ${runs} histories, seed ${seed}`);

const kept = fc.asyncProperty(anyEndedHistory, async (history) => {
  const played = await playToEnd(history);
  sum.histories++;
  sum.frames += played.frames;
  sum.crashes += played.crashes;
  for (const [what, times] of played.counts) counts.set(what, (counts.get(what) ?? 0) + times);
});

for (let batch = 0; sum.histories < runs; batch++) {
  const numRuns = Math.min(BATCH, runs - sum.histories);
  const batchSeed = (seed + batch) | 0;
  await hold(kept, { numRuns, seed: batchSeed, command: `${COMMAND} --runs ${numRuns} --seed ${batchSeed}` });
  console.log(`${sum.histories} of ${runs}, ${seconds()} s`);
}

const hosted = { worlds: 0, handles: 0, crashes: 0 };
const held = fc.asyncProperty(anyHostHistory, async (history) => {
  const folder = hosted.worlds++ % 2 === 1 ? mkdtempSync(path.join(tmpdir(), 'reprise-ends-')) : undefined;
  try {
    const store = folder === undefined ? quickMemory() : sqlite(path.join(folder, 'ends.world'));
    const played = await playHost(history, store);
    hosted.handles += played.handles;
    hosted.crashes += played.crashes;
    for (const [what, times] of played.counts) counts.set(what, (counts.get(what) ?? 0) + times);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
});
for (let batch = 0; hosted.worlds < worlds; batch++) {
  const numRuns = Math.min(50, worlds - hosted.worlds);
  const batchSeed = (seed + batch) | 0;
  await hold(held, {
    numRuns,
    seed: batchSeed,
    command: `${COMMAND} --runs 0 --worlds ${numRuns} --seed ${batchSeed}`,
  });
  console.log(`${hosted.worlds} worlds of ${worlds}, ${seconds()} s`);
}

for (const [what, times] of [...counts].sort()) console.log(`  ${what}: ${times}`);
console.log(
  `ends, long form: ok; ${sum.histories} histories, ${sum.frames} frames, ${sum.crashes} crashes, ` +
    `${hosted.worlds} worlds, ${hosted.handles} handles, ${hosted.crashes} crashes; ` +
    `nothing without an end and nothing with two; seed ${seed}, ${seconds()} s`,
);

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
