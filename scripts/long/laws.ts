/**
 * The laws of the kernel over random worlds, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/laws.ts [--runs 2000] [--seed N]
 *
 * Each run is one random world: programs that mutate their state in nasty ways, plans, receipts early and late,
 * timers, snapshots, closes and crashes. What is left of it must verify with its app and without, hold every
 * acknowledged head, and replay from genesis and from the state after every frame to the same heads and
 * roots; a second world must agree with `reduce()` on immer at every delivery. Worlds come in batches, each with a
 * seed of its own; a failure shows the smallest schedule that was found and the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { holdReduce } from '../../packages/kernel/test/pure/reduce/reduce-law.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';
import { type HeldWorld, holdWorld } from '../../packages/kernel/test/support/laws/world-laws.js';
import { anySchedule, programApp } from '../../packages/testkit/src/arbitraries/index.js';

/** Small enough to say where a run stands every half a minute, and to run one again. */
const BATCH = 250;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/laws.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const started = performance.now();
const sum = { worlds: 0, frames: 0, replayed: 0, records: 0, acks: 0, refused: 0, deliveries: 0, dropped: 0 };
console.log(`laws, long form: ${runs} worlds, seed ${seed}`);

for (let done = 0; done < runs; done += BATCH) {
  const numRuns = Math.min(BATCH, runs - done);
  const batchSeed = (seed + done / BATCH) | 0;
  const command = `${COMMAND} --runs ${numRuns} --seed ${batchSeed}`;
  const worlds = fc.asyncProperty(anySchedule({ stepsMax: 40, depth: 3 }), async (schedule) => {
    add(await holdWorld(schedule, programApp));
  });
  await hold(worlds, { numRuns, seed: batchSeed, command });
  const reduced = fc.asyncProperty(anySchedule({ stepsMax: 40, breaks: false }), async (schedule) => {
    const spied = await holdReduce(schedule);
    sum.deliveries += spied.deliveries();
    sum.dropped += spied.dropped();
  });
  await hold(reduced, { numRuns, seed: batchSeed, command });
  console.log(`${done + numRuns} of ${runs} worlds, ${seconds()} s`);
}

console.log(
  `laws, long form: ok; ${sum.worlds} worlds, ${sum.frames} frames, ${sum.records} records, ${sum.acks} acknowledged heads, ` +
    `${sum.refused} refusals; ${sum.replayed} frames replayed; ${sum.deliveries} deliveries equal in the engine ` +
    `and in reduce(), ${sum.dropped} of them dropped by both; seed ${seed}, ${seconds()} s`,
);

function add({ frames, replayed, records, acks, refused }: HeldWorld): void {
  sum.worlds++;
  sum.frames += frames;
  sum.replayed += replayed;
  sum.records += records;
  sum.acks += acks;
  sum.refused += refused;
}

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
