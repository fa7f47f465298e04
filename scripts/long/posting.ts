/**
 * Long form: random lives of three processes, with customers who post their calls and readers who follow their worlds. No posted
 * call is lost, executed twice or left without an answer, and no frame is lost or doubled. Needs PostgreSQL.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/posting.ts [--runs 20] [--from 1] [--moves 12] [--seconds 900]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../../conformance/bundle.js';
import { randomOf } from '../../packages/fleet/test/processes/lives.js';
import { POST_MOVES, postThrough } from '../../packages/fleet/test/processes/posting.js';
import { postgresBin, startServer } from '../../packages/store-postgres/test/server.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    from: { type: 'string', default: '1' },
    moves: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '900' },
  },
});
if (postgresBin() === undefined) {
  console.info('skipped: no PostgreSQL is installed');
  process.exit(0);
}

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-posting-'));
const program = path.join(folder, 'member.mjs');
await bundle(fileURLToPath(new URL('../../packages/fleet/test/processes/member.ts', import.meta.url)), program);
const server = await startServer();
const end = performance.now() + Number(values.seconds) * 1_000;
let [runs, posted, frames, failed] = [0, 0, 0, 0];
for (let seed = Number(values.from); runs < Number(values.runs) && performance.now() < end; seed++, runs++) {
  const random = randomOf(seed);
  const moves = Array.from(
    { length: Number(values.moves) },
    () => POST_MOVES[Math.floor(random() * POST_MOVES.length)] ?? 'killed',
  );
  const found = await postThrough({ server, program, name: `seed-${seed}`, random, moves });
  posted += found.posted;
  frames += found.frames;
  const { lost, twice, disordered, misread, wrong } = found;
  if (lost.length + twice.length + disordered.length + misread.length + wrong.length === 0) continue;
  failed++;
  console.error(`seed ${seed}: ${JSON.stringify({ lost, twice, disordered, misread, wrong })}; ${moves.join('; ')}`);
}
await server.stop();
rmSync(folder, { recursive: true, force: true });
console.info(`${runs} runs, ${posted} calls posted, ${frames} frames read, ${failed} runs failed`);
process.exitCode = failed === 0 ? 0 : 1;
