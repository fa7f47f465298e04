/**
 * The laws of reading answers, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/streams.ts [--cuts 100000] [--orders 20000] [--seed N]
 *
 * For each wire format random answers (texts, thoughts, calls beside each other, counts, secrets that come back), as a
 * provider may write them and damaged on the way, streamed and whole, are cut at random places, inside characters and
 * line ends too: each reading must come to what the answer in one piece comes to. Undamaged answers in any order that a
 * provider may send must have the calls, texts and thoughts that they were written with.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { BYTE_FORMATS, type ByteFormat } from '../../packages/providers/test/pieces.js';
import { anyManner, anySaid } from '../../packages/providers/test/stream-answers.js';
import {
  anyBytes,
  anyCuts,
  FORMATS,
  hold,
  holdCuts,
  holdOrders,
  readerOf,
} from '../../packages/providers/test/stream-laws.js';

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/streams.ts';

/** Answers of one batch, and the cuts of each. */
const BATCH = 250;
const CUTS_EACH = 20;

const { values: options } = parseArgs({
  options: {
    cuts: { type: 'string', default: '100000' },
    orders: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const [cutsMin, ordersMin, seed] = [Number(options.cuts), Number(options.orders), Number(options.seed)];
const began = performance.now();
const read = readerOf(FORMATS);
console.log(`streams, long form: ${cutsMin} cuts and ${ordersMin} orders of each format, seed ${seed}`);

for (const format of BYTE_FORMATS) {
  const sum = await cutsOf(format);
  const orders = await ordersOf(format);
  console.log(`  ${format}: ${sum.answers} answers, ${sum.cuts} cuts, ${orders} orders, ${seconds()} s`);
}
console.log(`streams, long form: ok; seed ${seed}, ${seconds()} s`);

async function cutsOf(format: ByteFormat): Promise<{ readonly answers: number; readonly cuts: number }> {
  const sum = { answers: 0, cuts: 0 };
  const cuts = fc.array(anyCuts, { minLength: CUTS_EACH, maxLength: CUTS_EACH });
  const law = fc.asyncProperty(anyBytes, cuts, async (drawn, places) => {
    sum.cuts += await holdCuts(read, format, drawn, places);
    sum.answers++;
  });
  for (let batch = 0; sum.cuts < cutsMin; batch++) await holdBatch(law, BATCH, batch);
  return sum;
}

async function ordersOf(format: ByteFormat): Promise<number> {
  let orders = 0;
  const law = fc.asyncProperty(anySaid, anyManner, async (said, manner) => {
    await holdOrders(read, format, said, manner);
    orders++;
  });
  for (let batch = 0; orders < ordersMin; batch++) await holdBatch(law, Math.min(1_000, ordersMin - orders), batch);
  return orders;
}

async function holdBatch<T>(law: fc.IRawProperty<T>, numRuns: number, batch: number): Promise<void> {
  const batchSeed = (seed + batch) | 0;
  await hold(law, { numRuns, seed: batchSeed, command: `${COMMAND} --seed ${batchSeed}` });
}

function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}
