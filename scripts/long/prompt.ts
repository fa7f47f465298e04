/**
 * The laws of the projection over random transcripts, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/prompt.ts [--runs 20000] [--seed N]
 *
 * Each run draws a transcript of any items in any order, with content that is whole, erased, gone or not what its link
 * says, and a call of any options for a provider of any abilities. Its request in each wire format must break no rule
 * of the format, and must begin with the bytes of each request that was made before it. A conversation of several calls,
 * with erasures between them, must give the same requests with what earlier calls have read as without.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { anyOptions, anyProfile, holdPrefix, holdTotality } from '../../packages/providers/test/prompt-laws.js';
import { anyConversation, holdMemory } from '../../packages/providers/test/prompt-memory-laws.js';
import { anyTranscript } from '../../packages/providers/test/transcripts.js';

const BATCH = 1_000;

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
const started = performance.now();
const sum = { transcripts: 0, requests: 0, pairs: 0, remembered: 0 };
console.log(`projection, long form: ${runs} transcripts, seed ${seed}`);

const call = fc.record({ options: anyOptions, profile: anyProfile });
const law = fc.asyncProperty(anyTranscript, call, async (drawn, given) => {
  sum.requests += await holdTotality(drawn, given);
  sum.pairs += await holdPrefix(drawn, given);
  sum.transcripts++;
});
const memory = fc.asyncProperty(anyConversation, async (drawn) => {
  sum.remembered += await holdMemory(drawn);
});

for (let done = 0; done < runs; done += BATCH) {
  const numRuns = Math.min(BATCH, runs - done);
  await fc.assert(law, { numRuns, seed: (seed + done / BATCH) | 0 });
  await fc.assert(memory, { numRuns, seed: (seed + done / BATCH) | 0 });
  console.log(`${done + numRuns} of ${runs} transcripts, ${seconds()} s`);
}

console.log(
  `projection, long form: ok; ${sum.transcripts} transcripts, ${sum.requests} requests without an issue, ` +
    `${sum.pairs} pairs and ${sum.remembered} requests with memory compared in bytes; seed ${seed}, ${seconds()} s`,
);

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
