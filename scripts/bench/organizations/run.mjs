/*
 * What organizations cost: a tree's goal, a person's `agent_register` and a team's task, each beside its floor, which is a
 * session without any organization that makes as many model calls and tool calls, and beside the same drives of another
 * checkout:
 *
 *   npm run bench -- --only organizations [--before DIR] [--rounds 3] [--pairs 4] [--times 8] [--warmup 8] [--top 15]
 *       [--out FILE]
 *
 * CPU is a median over pairs of drive and floor; subjects take turns, each round in new processes. Functions are counted
 * by V8's coverage in processes of their own, since counting slows them; the counts of two runs are the same, but for a
 * few calls that follow the time of day. `--top` lists the functions with the most calls.
 */
import '../../lib/node-version.mjs';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { columns } from '../../lib/columns.mjs';
import { ROOT } from '../../lib/root.mjs';
import { node } from '../../lib/run.mjs';
import { bundleTree } from '../turns/bundle-tree.mjs';

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    pairs: { type: 'string', default: '4' },
    times: { type: 'string', default: '8' },
    warmup: { type: 'string', default: '8' },
    top: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});

const TITLES = {
  tree: 'tree: goal, spawn of two children, synthesis (8 model calls, 5 tool calls)',
  register: 'society: agent_register until registered (floor: 2 model calls, 1 tool call)',
  task: 'team: a task of a specialist (5 model calls, 2 tool calls)',
};

/** What a call belongs to, by the file of its function. */
const SHARES = {
  encode: /\/codec\/(encode|scope)\.ts$/,
  decode: /\/codec\/decode\.ts$/,
  text: /\/(codec\/text|schema\/text-length|hex)\.ts$/,
  check: /\/schema\/check\.ts$/,
  copy: /\/codec\/(normal|copy|size|equal)\.ts$/,
};

/** How many drives run before one is counted: nothing is done for the first time then. */
const COUNTED_AFTER = 2;

const WORKLOAD = new URL('./workload.mjs', import.meta.url);
const subjects = { now: await bundleTree(ROOT, 'organizations-now', WORKLOAD) };
if (options.before !== undefined)
  subjects.before = await bundleTree(path.resolve(options.before), 'organizations-before', WORKLOAD);
const names = Object.keys(subjects);

const all = {};
for (const drive of Object.keys(TITLES)) {
  const cpu = await cpuOf(drive);
  all[drive] = {};
  for (const name of names) all[drive][name] = { ...cpu[name], ...(await countsOf(name, drive)) };
}
report();
if (options.out !== undefined) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  await writeFile(options.out, `${JSON.stringify({ machine, ...options, drives: all }, null, 2)}\n`);
}

/** Medians of each subject, whose processes take turns. */
async function cpuOf(drive) {
  const pairs = Object.fromEntries(names.map((name) => [name, []]));
  const [warmup, times, rounds] = [options.warmup, options.times, options.pairs].map(Number);
  for (let round = 0; round < Number(options.rounds); round++)
    for (const name of round % 2 === 0 ? names : names.toReversed())
      pairs[name].push(...(await work(name, { drive, mode: 'cpu', warmup, times, rounds })));
  return Object.fromEntries(
    names.map((name) => {
      const [cpu, floor] = ['drive', 'floor'].map((key) => median(pairs[name].map((pair) => pair[key])));
      return [name, { cpu, floor, ratio: median(pairs[name].map((pair) => pair.drive / pair.floor)) }];
    }),
  );
}

/** What runs in a drive and in its floor. */
async function countsOf(name, drive) {
  const { functions, frames, records, bytes } = await work(name, { drive, mode: 'drive', warmup: COUNTED_AFTER });
  const floor = await work(name, { drive, mode: 'floor', warmup: COUNTED_AFTER });
  const calls = callsOf(functions);
  const share = ([, files]) => callsOf(functions.filter(({ file }) => files.test(file)));
  const top = functions.toSorted((a, b) => b.calls - a.calls).slice(0, Number(options.top));
  return {
    calls,
    floorCalls: callsOf(floor.functions),
    functions: functions.length,
    files: new Set(functions.map(({ file }) => file)).size,
    frames,
    records,
    bytes,
    shares: Object.fromEntries(Object.entries(SHARES).map((entry) => [entry[0], share(entry) / calls])),
    top,
  };
}

async function work(name, task) {
  const { code, output } = await node(['--expose-gc', subjects[name], JSON.stringify(task)], { quiet: true });
  if (code !== 0) throw new Error(`the workload of ${name} failed: ${output}`);
  return JSON.parse(output.trim().split('\n').at(-1));
}

function report() {
  const FIGURES = [
    ['CPU, ms', ({ cpu }) => cpu.toPrecision(3), ({ cpu }) => cpu],
    ['CPU of the floor, ms', ({ floor }) => floor.toPrecision(3), ({ floor }) => floor],
    ['CPU by that of the floor', ({ ratio }) => ratio.toFixed(2), ({ ratio }) => ratio],
    ['calls', ({ calls }) => `${calls}`, ({ calls }) => calls],
    ['calls of the floor', ({ floorCalls }) => `${floorCalls}`, ({ floorCalls }) => floorCalls],
    ['functions', ({ functions }) => `${functions}`, ({ functions }) => functions],
    ['files', ({ files }) => `${files}`, ({ files }) => files],
    ...Object.keys(SHARES).map((key) => [`calls in ${key}`, ({ shares }) => `${(shares[key] * 100).toFixed(0)} %`]),
    ['frames', ({ frames }) => `${frames}`],
    ['records', ({ records }) => `${records}`],
    ['bytes of the journal', ({ bytes }) => `${bytes}`],
  ];
  for (const [drive, title] of Object.entries(TITLES)) {
    const { now, before } = all[drive];
    const rows = FIGURES.map(([figure, shown, value]) => [
      figure,
      shown(now),
      ...(before === undefined
        ? []
        : [shown(before), value === undefined ? '' : (value(now) / value(before)).toFixed(2)]),
    ]);
    const heads = ['', 'now', ...(before === undefined ? [] : ['before', 'ratio'])];
    console.log(`\n${title}\n${columns([heads, ...rows])}`);
    for (const { calls, name, file } of now.top)
      console.log(`  ${String(calls).padStart(8)} ${name || '(none)'} ${file}`);
  }
}

function callsOf(functions) {
  return functions.reduce((sum, { calls }) => sum + calls, 0);
}

function median(figures) {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
