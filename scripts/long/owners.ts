/**
 * Two real processes that want one world in a real PostgreSQL, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/owners.ts [--trials 100] [--seed N] [--from N]
 *
 * In each trial one trouble befalls the owner or its way to the database, at a random moment; the other process takes the
 * world over. Nothing that was acknowledged may be lost, and nothing may be paid twice. The trouble and its moment are a
 * function of the seed and the number of the trial; `--from N --trials 1` runs one again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../../conformance/bundle.js';
import { randomFrom } from '../../conformance/random.js';
import { runTrial, TROUBLES, type Trouble } from '../../packages/store-postgres/test/processes/trials.js';
import { postgresBin, startServer } from '../../packages/store-postgres/test/server.js';

const { values: options } = parseArgs({
  options: {
    trials: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() & 0x7fffffff) },
    from: { type: 'string', default: '0' },
  },
});
const [trials, seed, from] = [options.trials, options.seed, options.from].map(Number) as [number, number, number];
if (postgresBin() === undefined) {
  console.log('owners, long form: left out, no PostgreSQL is installed (apt-get install postgresql)');
  process.exit(0);
}
const started = performance.now();
const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;
console.log(`owners, long form: ${trials} trials, seed ${seed}`);
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-owners-'));
const program = path.join(folder, 'owner-child.mjs');
await bundle(
  fileURLToPath(new URL('../../packages/store-postgres/test/processes/owner-child.ts', import.meta.url)),
  program,
);
const server = await startServer();
const total = { acknowledged: 0, frames: 0, openings: 0 };
for (let n = from; n < from + trials; n++) {
  const random = randomFrom(seed + n);
  const trouble = TROUBLES[Math.floor(random() * TROUBLES.length)] as Trouble;
  const afterMs = Math.floor(random() * 1_500);
  const found = await runTrial(server, program, `trial ${n}`, { trouble, afterMs });
  const broken = [...found.lost, ...found.twice, ...found.repeated];
  if (broken.length > 0) {
    console.error(
      `trial ${n}: ${trouble}, after ${afterMs} ms: lost ${found.lost.join(', ')}; twice ${found.twice.join(', ')}; repeated ${found.repeated.join(', ')}`,
    );
    console.error(
      `rerun: npx tsx --conditions=@reprise/source scripts/long/owners.ts --seed ${seed} --from ${n} --trials 1`,
    );
    await server.stop();
    process.exit(1);
  }
  total.acknowledged += found.acknowledged;
  total.frames += found.frames;
  total.openings += found.owners.length;
  if ((n - from) % 10 === 9) console.log(`${n - from + 1} of ${trials}, ${total.openings} openings, ${seconds()}`);
}
await server.stop();
rmSync(folder, { recursive: true, force: true });
console.log(
  `owners, long form: ok; ${trials} trials, ${total.openings} openings, ${total.frames} frames, ${total.acknowledged} answers; ` +
    `lost 0, paid twice 0; seed ${seed}, ${seconds()}`,
);
