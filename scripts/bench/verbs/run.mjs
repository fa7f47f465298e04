/*
 * The CPU of each verb that answers an operator, beside `reprise tail -n 20` on the same file in the same run:
 *
 *   npm run bench -- --only verbs [--small 1000] [--large 100000] [--bare 20000] [--rounds 5] [--keep FOLDER]
 *
 * Three worlds: a small one, a large one, and a large one whose newest snapshot is 20,000 frames old. A verb runs as a
 * process of its own, as a user starts it; a figure is the median of the rounds, with the start of Node in it.
 */
import '../../lib/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildState } from '../../lib/built.mjs';
import { columns } from '../../lib/columns.mjs';
import { ROOT } from '../../lib/root.mjs';
import { node } from '../../lib/run.mjs';
import { cpuOf } from '../peers/process-cpu.mjs';
import { bundleTree } from '../turns/bundle-tree.mjs';

const { values: options } = parseArgs({
  options: {
    small: { type: 'string', default: '1000' },
    large: { type: 'string', default: '100000' },
    bare: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    keep: { type: 'string' },
  },
});

const CLI = path.join(ROOT, 'packages/cli/dist/bin.js');

/** The questions, with the file in the place of WORLD. */
const QUESTIONS = [
  'tail WORLD -n 20',
  'log WORLD -n 20',
  'log WORLD -s talk-3 -n 20',
  'why WORLD Turn',
  'prompt WORLD last',
  'waiting WORLD',
  'trouble WORLD',
  'cost WORLD --from TODAY',
  'cost WORLD',
  'diff WORLD LAST-20 LAST',
  'rights WORLD operator',
];

const scratch = options.keep ?? (await mkdtemp(path.join(tmpdir(), 'reprise-bench-')));
await mkdir(scratch, { recursive: true });
try {
  if (buildState() !== 'current') await node([path.join(ROOT, 'scripts/build.mjs'), '--no-declarations']);
  const worlds = await madeWorlds();
  const rows = [['CPU ms', ...worlds.map(({ title }) => title), ...worlds.map(({ title }) => `${title} / tail`)]];
  let tail;
  for (const question of QUESTIONS) {
    const cpu = worlds.map((world) => medianOf(question, world));
    tail ??= cpu;
    rows.push([question, ...cpu.map((ms) => ms.toFixed(0)), ...cpu.map((ms, i) => (ms / tail[i]).toFixed(2))]);
  }
  console.log(`${columns(rows)}\n  load ${loadavg()[0].toFixed(1)}, ${options.rounds} rounds`);
} finally {
  if (options.keep === undefined) await rm(scratch, { recursive: true, force: true });
}

async function madeWorlds() {
  const program = await bundleTree(ROOT, 'verbs', new URL('workload.mjs', import.meta.url));
  const wanted = [
    { title: options.small, args: [options.small] },
    { title: options.large, args: [options.large] },
    { title: `${options.large}, bare`, args: [options.large, options.bare] },
  ];
  return wanted.map(({ title, args }) => {
    const file = path.join(scratch, `${args.join('-')}.db`);
    if (!existsSync(file)) run([program, file, ...args]);
    return { title, file, last: JSON.parse(run([CLI, 'waiting', file, '--json'])).frame };
  });
}

function medianOf(question, { file, last }) {
  const words = question
    .replace('LAST-20', String(last - 20))
    .replace('LAST', String(last))
    .replace('TODAY', new Date().toISOString().slice(0, 10))
    .split(' ')
    .map((word) => (word === 'WORLD' ? file : word));
  const each = Array.from({ length: Number(options.rounds) }, () => {
    const before = cpuOf([process.pid]);
    run([CLI, ...words]);
    return cpuOf([process.pid]) - before;
  });
  return each.toSorted((a, b) => a - b)[each.length >> 1];
}

function run(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0 && status !== 1) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
