/*
 * The CPU of a turn in a process that is warm, with one session at a time and with 32 at once, beside an earlier commit,
 * all in one run:
 *
 *   npm run bench -- --only sessions [--against COMMIT] [--turns 640] [--warmup 960] [--length 10] [--rounds 2] [--seed 1]
 *       [--out FILE]
 *
 * A server leads many short conversations; `turns` measures one long one in a process that has just begun, where the
 * JavaScript engine still compiles. Subjects take turns, each in a process of its own; a figure is the best of the rounds.
 */
import '../../lib/node-version.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { columns } from '../../lib/columns.mjs';
import { ROOT } from '../../lib/root.mjs';
import { run } from '../../lib/run.mjs';
import { bundleTree } from '../turns/bundle-tree.mjs';
import { seededWords } from '../turns/seeded-words.mjs';

const MANY = 32;

const CASES = [
  { name: 'memory', stored: false },
  { name: 'SQLite', stored: true },
].flatMap(({ name, stored }) => [1, MANY].map((atOnce) => ({ name, stored, atOnce })));

const { values: options } = parseArgs({
  options: {
    against: { type: 'string', default: 'a0defcd' },
    turns: { type: 'string', default: '640' },
    warmup: { type: 'string', default: '960' },
    length: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const folder = await mkdtemp(path.join(tmpdir(), 'reprise-bench-'));
const tree = path.join(folder, 'tree');
const server = spawn(process.execPath, [here('../turns/model-server.mjs'), options.seed], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const [port] = await once(server.stdout, 'data');
  await report(await measured(`http://127.0.0.1:${String(port).trim()}/v1`));
} finally {
  server.kill();
  await run('git', ['worktree', 'remove', '--force', tree], { quiet: true });
  await rm(folder, { recursive: true, force: true });
}

/** The best figures of each case. */
async function measured(url) {
  const { code, output } = await run('git', ['worktree', 'add', '--detach', tree, options.against], { quiet: true });
  if (code !== 0) throw new Error(`git has no commit ${options.against}: ${output}`);
  const program = new URL('workload.mjs', import.meta.url);
  const subjects = {
    now: await bundleTree(ROOT, 'sessions-now', program),
    before: await bundleTree(tree, 'sessions-before', program),
  };
  const cases = CASES.map((one) => ({ ...one, now: [], before: [], floor: [] }));
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [index, one] of cases.entries())
      for (const name of round % 2 === 0 ? ['now', 'before'] : ['before', 'now']) {
        const { live, loopFloor } = await measure(subjects[name], one, url, `${name}-${index}-${round}`);
        one[name].push(live);
        one.floor.push(loopFloor);
      }
  return cases.map(({ now, before, floor, ...one }) => ({
    ...one,
    now: Math.min(...now),
    before: Math.min(...before),
    floor: Math.min(...floor),
  }));
}

async function measure(bundle, { stored, atOnce }, url, name) {
  const [turns, warmup, length] = [options.turns, options.warmup, options.length].map(Number);
  const file = stored ? path.join(folder, `${name}.world`) : undefined;
  const task = { url, file, atOnce, turns, warmup, length, text: seededWords(Number(options.seed))(1_000) };
  const { code, output } = await run(process.execPath, [bundle, JSON.stringify(task)], { quiet: true });
  if (code !== 0) throw new Error(`the workload failed: ${output}`);
  return JSON.parse(output.trim().split('\n').at(-1));
}

async function report(cases) {
  const rows = cases.map(({ name, atOnce, now, before, floor }) => [
    `${name}, ${atOnce} at a time`,
    ...[now, before, floor].map((figure) => `${figure.toPrecision(3)} ms`),
    (now / before).toFixed(2),
  ]);
  console.log(`CPU of a turn in a warm process, best of ${options.rounds} rounds, seed ${options.seed}`);
  console.log(columns([['', 'now', options.against, 'floor: a bare loop', 'ratio'], ...rows]));
  for (const name of ['memory', 'SQLite']) {
    const [one, many] = cases.filter((each) => each.name === name);
    const [ours, theirs] = ['now', 'before'].map((subject) => (many[subject] / one[subject]).toFixed(2));
    console.log(`${name}: ${MANY} at a time beside one: ${ours}; ${options.against}: ${theirs}`);
  }
  if (options.out === undefined) return;
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  await writeFile(options.out, `${JSON.stringify({ machine, ...options, cases }, null, 2)}\n`);
}

function here(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}
