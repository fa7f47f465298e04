/**
 * Worlds whose app changes while they live, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/eras.ts [--runs 500] [--seed N]
 *
 * Each run is two random worlds. One lives through two or three versions of its app, closed or crashed in between:
 * every era must replay with its own definitions, be unverified without them, and every cell must have gone through each
 * migration once and in order. In the other the upgrade is interrupted at a random append: until the new era has
 * begun the old app must open it, the new app must open it always, and then every frame must replay.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import {
  type HeldEras,
  holdEras,
  holdInterrupted,
  type Interruption,
} from '../../packages/kernel/test/replay/verify/random-eras.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';
import { anySchedule } from '../../packages/testkit/src/arbitraries/index.js';

/** Small enough to say where a run stands every half a minute, and to run one again. */
const BATCH = 100;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/eras.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const started = performance.now();
const sum = { worlds: 0, frames: 0, eras: 0, cells: 0, migrations: 0 };
const interrupted = new Map<string, number>();
console.log(`eras, long form: ${runs} worlds of each kind, seed ${seed}`);

const parts = fc.array(anySchedule({ stepsMax: 20, depth: 3 }), { minLength: 2, maxLength: 3 });
const interruptions: fc.Arbitrary<Interruption> = fc.record({
  fault: fc.constantFrom('full', 'broken', 'reply lost'),
  after: fc.nat(5),
});

for (let done = 0; done < runs; done += BATCH) {
  const numRuns = Math.min(BATCH, runs - done);
  const batchSeed = (seed + done / BATCH) | 0;
  const command = `${COMMAND} --runs ${numRuns} --seed ${batchSeed}`;
  const worlds = fc.asyncProperty(parts, fc.boolean(), async (schedules, crash) => {
    add(await holdEras(schedules, crash));
  });
  await hold(worlds, { numRuns, seed: batchSeed, command });
  const upgrades = fc.asyncProperty(anySchedule({ stepsMax: 20 }), interruptions, async (schedule, at) => {
    const { refused, begun } = await holdInterrupted(schedule, at);
    const outcome = `${refused ? 'refused' : 'opened'}, ${begun ? 'begun' : 'not begun'}`;
    interrupted.set(outcome, (interrupted.get(outcome) ?? 0) + 1);
  });
  await hold(upgrades, { numRuns, seed: batchSeed, command });
  console.log(`${done + numRuns} of ${runs} worlds, ${seconds()} s`);
}

const outcomes = [...interrupted].sort().map(([outcome, count]) => `${outcome}: ${count}`);
console.log(
  `eras, long form: ok; ${sum.worlds} worlds, ${sum.frames} frames in ${sum.eras} eras, ${sum.cells} cells alive at ` +
    `the end after ${sum.migrations} migrations; interrupted upgrades ${outcomes.join('; ')}; seed ${seed}, ${seconds()} s`,
);

function add({ frames, eras, migrations }: HeldEras): void {
  sum.worlds++;
  sum.frames += frames;
  sum.eras += eras;
  sum.cells += migrations.length;
  sum.migrations += migrations.reduce((total, one) => total + one, 0);
}

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
