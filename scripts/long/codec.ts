/**
 * The codec against other people's encoders and against damaged bytes, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/codec.ts [--values 100000] [--bytes 1000000] [--seed N]
 *
 * Each value must have the same bytes from us, cborg and cbor2, and be read back to them. Each byte string must be
 * refused as `invalid_bytes` or be exactly what its value writes, and cborg must judge the same. Cases come in
 * batches, each with a seed of its own; a failure names the seed and the command for its batch alone.
 */
import { parseArgs } from 'node:util';
import { isRepriseError, type Value } from '@reprise/contracts';
import fc from 'fast-check';
import { decode, encode, toHex } from '../../packages/kernel/src/pure/codec/index.js';
import { byteInputs, values } from '../../packages/kernel/test/pure/codec/arbitraries.js';
import { judge } from '../../packages/kernel/test/pure/codec/judge.js';
import { cbor2Bytes, cborgBytes } from '../../packages/kernel/test/pure/codec/peers.js';

/** Small enough to say where a run stands every few seconds, and to run one again. */
const BATCH = 5_000;

const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/codec.ts';

/** Runs a property in batches and says how far it is. */
function run<T>(what: 'values' | 'bytes', total: number, seed: number, property: fc.IProperty<T>): void {
  const started = performance.now();
  for (let done = 0; done < total; done += BATCH) {
    const size = Math.min(BATCH, total - done);
    const batchSeed = (seed + done / BATCH) | 0;
    const found = fc.check(property, { seed: batchSeed, numRuns: size });
    if (found.failed) {
      const other = what === 'values' ? 'bytes' : 'values';
      console.error(`${what}: failed\nrerun: ${COMMAND} --${what} ${size} --${other} 0 --seed ${batchSeed}`);
      console.error(fc.stringify(found.counterexample).slice(0, 2_000));
      throw found.errorInstance;
    }
    const seconds = (performance.now() - started) / 1000;
    if (((done / BATCH) & 7) === 7) console.log(`${what}: ${done + size} of ${total}, ${seconds.toFixed(0)} s`);
  }
}

function same(other: string, theirs: Uint8Array, ours: string): void {
  const hex = toHex(theirs);
  if (hex !== ours) throw new Error(`${other} writes ${hex}, we write ${ours}`);
}

const { values: options } = parseArgs({
  options: {
    values: { type: 'string', default: '100000' },
    bytes: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
  },
});
const seed = Number(options.seed);
const started = performance.now();
console.log(`codec, long form: seed ${seed}`);

let written = 0;
const agree = fc.property(values, (value: Value) => {
  const bytes = encode(value);
  const ours = toHex(bytes);
  written += bytes.length;
  same('cborg', cborgBytes(value), ours);
  same('cbor2', cbor2Bytes(value), ours);
  same('what we read back', encode(decode(bytes)), ours);
});
run('values', Number(options.values), seed, agree);

const seen = { accepted: 0, refused: new Map<string, number>() };
const judged = fc.property(byteInputs(encode), (bytes) => {
  const error = judge(bytes);
  if (error === undefined) seen.accepted++;
  else if (!isRepriseError(error, 'invalid_bytes')) throw error;
  else {
    const reason = error.message.slice('invalid_bytes: '.length).split(';')[0] ?? '';
    seen.refused.set(reason, (seen.refused.get(reason) ?? 0) + 1);
  }
});
run('bytes', Number(options.bytes), seed, judged);

for (const [reason, count] of [...seen.refused].sort((a, b) => b[1] - a[1]))
  console.log(`  refused ${count}: ${reason}`);
const refused = [...seen.refused.values()].reduce((sum, count) => sum + count, 0);
console.log(
  `codec, long form: ok; ${options.values} values (${written} bytes) equal in ours, cborg and cbor2; ` +
    `${options.bytes} byte strings: ${seen.accepted} accepted, ${refused} refused, 0 wrong; ` +
    `seed ${seed}, ${((performance.now() - started) / 1000).toFixed(0)} s`,
);
