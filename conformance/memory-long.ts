/**
 * Stores of memories against their reference, in the long form:
 *
 *   npx tsx --conditions=@reprise/source conformance/memory-long.ts [--operations 100000] [--seed 1] [--rank 10000]
 *
 * `--operations N`: an organization states where its work comes from and does N random operations on two stores. A plain
 * program says what each must come to; in the end all items, searches and explanations are looked at, and the world is
 * verified.
 *
 * `--rank N`: a store of N memories. Prints the ten results of each search, their digest, and the time of a search. The
 * digest is the same on every engine: run it with each.
 */
import { parseArgs } from 'node:util';
import { holdOperations } from './memory/hold.js';
import { rankMany } from './memory/rank.js';

const { values: options } = parseArgs({
  options: {
    operations: { type: 'string', default: '0' },
    rank: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = Number(options.seed);

if (Number(options.operations) > 0) await operate(Number(options.operations));
if (Number(options.rank) > 0) await rank(Number(options.rank));

/** In worlds of 10,000 operations: what is looked at in the end grows with a world. */
async function operate(total: number): Promise<void> {
  const sum = { items: 0, refused: 0, existed: 0, dangling: 0 };
  for (let [done, batch] = [0, seed]; done < total; batch++) {
    const held = await holdOperations(Math.min(10_000, total - done), batch);
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += held[key];
    done += held.operations;
  }
  const { items, refused, existed, dangling } = sum;
  console.log(`${total} operations as the reference says: ${items} items, ${refused} refused, ${existed} stored again`);
  console.log(`dangling ${dangling}`);
  if (dangling > 0) process.exitCode = 1;
}

async function rank(memories: number): Promise<void> {
  const { searches, digest, medianMs } = await rankMany(memories);
  for (const { query, ids } of searches) console.log(`${query}: ${ids.join(' ')}`);
  console.log(
    `${memories} memories, node ${process.versions.node}: order ${digest}, a search ${medianMs.toFixed(1)} ms CPU`,
  );
}
