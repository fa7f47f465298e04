/**
 * Long form: random lives of three processes of a fleet and of an adversary on the ways between them. No call is lost, none is
 * executed twice, and callers see no error but those that say to call again. Needs PostgreSQL.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/lives.ts [--runs 20] [--from 1] [--moves 16] [--seconds 900]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../../conformance/bundle.js';
import { liveThrough, MOVES, randomOf } from '../../packages/fleet/test/processes/lives.js';
import { postgresBin, startServer } from '../../packages/store-postgres/test/server.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    from: { type: 'string', default: '1' },
    moves: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '900' },
  },
});
if (postgresBin() === undefined) {
  console.info('skipped: no PostgreSQL is installed');
  process.exit(0);
}

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-lives-'));
const program = path.join(folder, 'member.mjs');
await bundle(fileURLToPath(new URL('../../packages/fleet/test/processes/member.ts', import.meta.url)), program);
const server = await startServer();
const end = performance.now() + Number(values.seconds) * 1_000;
let [runs, acknowledged, failed] = [0, 0, 0];
for (let seed = Number(values.from); runs < Number(values.runs) && performance.now() < end; seed++, runs++) {
  const random = randomOf(seed);
  const moves = Array.from(
    { length: Number(values.moves) },
    () => MOVES[Math.floor(random() * MOVES.length)] ?? 'killed',
  );
  const found = await liveThrough({ server, program, name: `seed-${seed}`, random, moves });
  acknowledged += found.acknowledged;
  if (found.lost.length + found.twice.length + found.wrong.length === 0) continue;
  failed++;
  console.error(`seed ${seed}: lost ${found.lost}, twice ${found.twice}, wrong ${found.wrong}; ${moves.join('; ')}`);
}
await server.stop();
rmSync(folder, { recursive: true, force: true });
console.info(`${runs} runs, ${acknowledged} calls acknowledged, ${failed} runs failed`);
process.exitCode = failed === 0 ? 0 : 1;
