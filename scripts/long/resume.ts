/**
 * Resuming streams of events, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/resume.ts [--runs 5000] [--all 200] [--seed N]
 *
 * Random histories of a session and its children (inputs, commands, answers, decisions, questions, a toolset that changes,
 * compaction, crashes) are played, and every stream that watchers can ask for is resumed behind sampled places of the
 * journal, and in `--all` further histories behind each of them: of the world, of each session and each run with and
 * without the sessions below, and the page of each run. What comes has to be the rest of the uninterrupted stream in bytes,
 * and each uninterrupted stream has to be its part of the events of the world. A failure shows the smallest history that was
 * found and the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import {
  anyWatchedHistory,
  journalOf,
  sampled,
  type WatchedHistory,
} from '../../packages/agent/test/resume/histories.js';
import { recordedWorld } from '../../packages/agent/test/resume/recorded-world.js';
import { holdResume, type Sample } from '../../packages/agent/test/resume/resume-law.js';
import { hold } from '../../packages/kernel/test/support/laws/hold.js';

/** Small enough to say where a run stands every few seconds, and to run one again. */
const BATCH = 250;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/resume.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5000' },
    all: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, everywhere, seed] = [Number(options.runs), Number(options.all), Number(options.seed)];
const began = performance.now();
const sum = { histories: 0, frames: 0, streams: 0, places: 0 };
console.log(`resume, long form: ${runs} histories at sampled places, ${everywhere} at all, seed ${seed}`);

await play('runs', runs, sampled);
await play('all', everywhere, () => (cursors) => cursors);

const { histories, frames, streams, places } = sum;
console.log(
  `resume, long form: ok; ${histories} histories, ${frames} frames, ${streams} streams, resumed behind ${places} places; ` +
    `seed ${seed}, ${seconds()} s`,
);

async function play(
  which: 'runs' | 'all',
  count: number,
  sampleOf: (watched: WatchedHistory) => Sample,
): Promise<void> {
  const kept = fc.asyncProperty(anyWatchedHistory, async (watched) => {
    const journal = await journalOf(watched);
    const compared = await holdResume(recordedWorld(journal), sampleOf(watched));
    sum.histories++;
    sum.frames += journal.frames.length;
    sum.streams += compared.streams;
    sum.places += compared.places;
  });
  for (let done = 0; done < count; done += BATCH) {
    const numRuns = Math.min(BATCH, count - done);
    const batchSeed = (seed + done / BATCH) | 0;
    const others = which === 'runs' ? '--all 0' : '--runs 0';
    await hold(kept, {
      numRuns,
      seed: batchSeed,
      command: `${COMMAND} --${which} ${numRuns} ${others} --seed ${batchSeed}`,
    });
    console.log(`${which} ${done + numRuns} of ${count}, ${seconds()} s`);
  }
}

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
