/**
 * Random worlds of cells with rights, accounts, approvals, people and crashes, audited, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/gate.ts [--runs 5000] [--seed N]
 *
 * A run is one world and its forks: up to 40 things happen to it (effects, cells that end and are made anew, cells that
 * settle, changed rights and limits, answers that come early, late or never, decisions and settlements by any principal,
 * cancels, time, crashes, dry and live forks at any frame, in which the history goes on or which are fed and left), and
 * after each the auditor, which shares no code with the kernel, reads the durable frames. At its end a principal who
 * may not see one of the cells reads its frames. A failure shows the smallest schedule that was found and the command
 * for its batch alone.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { anyHappenings, runAndAudit } from '../../packages/kernel/test/pure/engine/gate/gate-world.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

/** Small enough to say where a run stands every few seconds, and to run one again. */
const BATCH = 500;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/gate.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const began = performance.now();
const sum = {
  worlds: 0,
  frames: 0,
  effects: 0,
  refused: 0,
  started: 0,
  late: 0,
  revoked: 0,
  judged: 0,
  orphaned: 0,
  cut: 0,
  given: 0,
  held: 0,
  failed: 0,
};
console.log(`gate, long form: ${runs} worlds, seed ${seed}`);

const worlds = fc.asyncProperty(anyHappenings, async (happenings) => {
  const { findings: found } = await runAndAudit(happenings);
  for (const [what, times] of Object.entries(found)) sum[what as keyof typeof found] += times;
  sum.worlds++;
});

for (let batch = 0; sum.worlds < runs; batch++) {
  const numRuns = Math.min(BATCH, runs - sum.worlds);
  const batchSeed = (seed + batch) | 0;
  await hold(worlds, { numRuns, seed: batchSeed, command: `${COMMAND} --runs ${numRuns} --seed ${batchSeed}` });
  console.log(`${sum.worlds} of ${runs}, ${seconds()} s`);
}

const { worlds: audited, frames, effects, refused, started, late, revoked, judged, orphaned, cut, given } = sum;
console.log(
  `gate, long form: ok; ${audited} worlds, ${frames} frames; ${effects} effects allowed, ${refused} refused, ` +
    `${started} attempts, ${revoked} ended by a lost right, ${late} late answers, ${judged} settled by a cell, ` +
    `${orphaned} ended after their cell was made anew; ${cut} settled where a fork began, ${given} answered from an ` +
    `original; seed ${seed}, ${seconds()} s`,
);

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
