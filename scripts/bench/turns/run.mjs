/*
 * The cost of a turn (a user's text, two model calls, one tool call), beside its floors and an earlier commit, all in one
 * run:
 *
 *   npm run bench -- --only turns [--against COMMIT] [--turns 150] [--rounds 3] [--seed 1] [--out FILE]
 *
 * Subjects take turns, each in a process of its own; a figure is the best of the rounds. The machine's speed cancels out
 * in the ratios, and only in the ratios.
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
import { bundleTree } from './bundle-tree.mjs';
import { seededWords } from './seeded-words.mjs';

/** The commit that everything is compared with, unless another is named: before any work on speed. */
const BASELINE = 'a0defcd';

const CASES = [
  { name: 'memory, 1 session', stored: false, sessions: 1 },
  { name: 'SQLite, 1 session', stored: true, sessions: 1 },
  { name: 'SQLite, 32 sessions', stored: true, sessions: 32 },
];

/** Figures of a case, in the order of the table: lower is better in each. */
const FIGURES = [
  ['live', 'live turn, CPU', 'ms'],
  ['verify', 'verify a turn, CPU', 'ms'],
  ['open', 'open the world, CPU', 'ms'],
  ['frames', 'frames of a turn', ''],
  ['frameBytes', 'frame bytes of a turn', 'B'],
  ['fileBytes', 'stored bytes of a turn', 'B'],
  ['codecBytes', 'bytes encoded and decoded to verify a turn', 'B'],
  ['hashFloor', 'floor: sha-256 of its frames, CPU', 'ms'],
  ['decodeFloor', 'floor: its frames decoded by cbor-x, CPU', 'ms'],
  ['syncFloor', 'floor: its frames written and synced', 'ms'],
  ['loopFloor', 'floor: the same calls by a bare loop, CPU', 'ms'],
];

const { values: options } = parseArgs({
  options: {
    against: { type: 'string', default: BASELINE },
    turns: { type: 'string', default: '150' },
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const seed = Number(options.seed);
const folder = await mkdtemp(path.join(tmpdir(), 'reprise-bench-'));
const server = spawn(process.execPath, [here('model-server.mjs'), options.seed], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const [port] = await once(server.stdout, 'data');
  await report(await measured(`http://127.0.0.1:${String(port).trim()}/v1`));
} finally {
  server.kill();
  await run('git', ['worktree', 'remove', '--force', path.join(folder, 'tree')], { quiet: true });
  await rm(folder, { recursive: true, force: true });
}

/** All figures: by case, by subject, the best of each. */
async function measured(url) {
  const tree = path.join(folder, 'tree');
  const { code, output } = await run('git', ['worktree', 'add', '--detach', tree, options.against], { quiet: true });
  if (code !== 0) throw new Error(`git has no commit ${options.against}: ${output}`);
  const subjects = { now: await bundleTree(ROOT, 'now'), before: await bundleTree(tree, 'before') };
  const best = new Map();
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [index, one] of CASES.entries())
      for (const name of round % 2 === 0 ? ['now', 'before'] : ['before', 'now']) {
        const figures = await measure(subjects[name], one, url, `${name}-${index}-${round}`);
        best.set(`${index} ${name}`, least(best.get(`${index} ${name}`), figures));
      }
  for (const [name, where] of [
    ['now', ROOT],
    ['before', tree],
  ])
    await countCodec(best, where, name, url);
  return CASES.map((one, index) => ({
    name: one.name,
    now: best.get(`${index} now`),
    before: best.get(`${index} before`),
  }));
}

/** Adds what the codec of a tree does in a verification to the first case. It is measured apart, since it counts. */
async function countCodec(best, tree, name, url) {
  const bundle = await bundleTree(tree, `counted-${name}`, undefined, { counted: true });
  const { codecBytes } = await measure(bundle, { ...CASES[0], counted: true }, url, `counted-${name}`);
  best.get(`0 ${name}`).codecBytes = codecBytes;
}

/** One process: its figures, those of the whole file by turn. */
async function measure(bundle, { stored, sessions, counted = false }, url, name) {
  const turns = Math.max(1, Math.round(Number(options.turns) / sessions));
  const file = stored ? path.join(folder, `${name}.world`) : undefined;
  const task = {
    url,
    file,
    sessions,
    turns,
    warmup: Math.ceil(turns / 5),
    rounds: 3,
    text: seededWords(seed)(1_000),
    counted,
  };
  const { code, output } = await run(process.execPath, [bundle, JSON.stringify(task)], { quiet: true });
  if (code !== 0) throw new Error(`the workload failed: ${output}`);
  const { fileBytes, turns: made, ...figures } = JSON.parse(output.trim().split('\n').at(-1));
  return { ...figures, ...(fileBytes === undefined ? {} : { fileBytes: fileBytes / made }) };
}

function least(known = {}, figures) {
  return Object.fromEntries(Object.entries(figures).map(([key, value]) => [key, Math.min(value, known[key] ?? value)]));
}

async function report(cases) {
  console.log(`turns: now against ${options.against}, best of ${options.rounds} rounds, seed ${options.seed}`);
  for (const { name, now, before } of cases) {
    const rows = FIGURES.filter(([key]) => now[key] !== undefined).map(([key, title, unit]) => [
      title,
      `${shown(now[key])} ${unit}`.trim(),
      `${shown(before[key])} ${unit}`.trim(),
      key.endsWith('Floor') ? '' : (now[key] / before[key]).toFixed(2),
    ]);
    console.log(`\n${name}\n${columns([['', 'now', options.against, 'ratio'], ...rows])}`);
  }
  const [{ now, before }] = cases;
  const [ours, theirs] = [now, before].map(({ codecBytes }) => (codecBytes / before.frameBytes).toFixed(2));
  console.log(`\nbytes encoded and decoded in verify, by frame bytes of ${options.against}: ${ours}; there ${theirs}`);
  if (options.out === undefined) return;
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  await writeFile(options.out, `${JSON.stringify({ machine, ...options, cases }, null, 2)}\n`);
}

function shown(figure) {
  return figure >= 100 ? figure.toFixed(0) : figure.toPrecision(3);
}

function here(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}
