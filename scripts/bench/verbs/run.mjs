/*
 * The CPU of each verb that answers an operator, and of the page, beside `reprise tail -n 20` on the same file in the same run:
 *
 *   npm run bench -- --only verbs [--small 1000] [--large 100000] [--bare 20000] [--rounds 5] [--question "waiting WORLD"]
 *
 * Three worlds (`worlds.mjs`): a small one, a large one, and a large one whose newest snapshot is 20,000 frames old. A verb
 * runs as a process of its own, as a user starts it; a figure is the median of the rounds, with the start of Node in it.
 * Of the page it is the CPU of its server from its start until it has answered what is asked before the first screen is
 * painted. Questions and worlds take turns, so that a busy machine is unfair to none.
 */
import '../../lib/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildState } from '../../lib/built.mjs';
import { columns } from '../../lib/columns.mjs';
import { ROOT } from '../../lib/root.mjs';
import { node } from '../../lib/run.mjs';
import { cpuOf } from '../peers/process-cpu.mjs';
import { cpuUntilNow } from './first-paint.mjs';
import { madeWorlds } from './worlds.mjs';

const { values: options } = parseArgs({
  options: {
    small: { type: 'string', default: '1000' },
    large: { type: 'string', default: '100000' },
    bare: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    question: { type: 'string', multiple: true },
  },
});

const CLI = path.join(ROOT, 'packages/cli/dist/bin.js');
const TAIL = 'tail WORLD -n 20';
const PAGE = 'inspect WORLD, until Now';

/** The questions, with the file in the place of WORLD. */
const QUESTIONS = [
  ...['log WORLD -n 20', 'log WORLD -s talk-3 -n 20', 'why WORLD PLACE', 'why WORLD Turn', 'prompt WORLD last'],
  ...['waiting WORLD', 'trouble WORLD', 'cost WORLD --from TODAY', 'cost WORLD', 'diff WORLD LAST-20 LAST'],
  ...['rights WORLD operator', 'memory WORLD', 'trust WORLD', 'show WORLD LAST', 'show WORLD CELL'],
  ...['verify WORLD --integrity', PAGE],
];

if (buildState() !== 'current') await node([path.join(ROOT, 'scripts/build.mjs'), '--no-declarations']);
const { small, large, bare } = options;
const worlds = await madeWorlds({ small: Number(small), large: Number(large), bare: Number(bare) }, run, CLI);
for (const world of worlds) {
  const { frame, from } = JSON.parse(run([CLI, 'trouble', world.file, '--json'])).attempts;
  const entries = run([CLI, 'log', world.file, '-n', '40', '--json']).trim().split('\n');
  const { place } = entries.map((line) => JSON.parse(line)).findLast(({ kind }) => kind === 'answer');
  Object.assign(world, { last: frame, behind: frame + 1 - from, place });
}
const questions = [TAIL, ...(options.question ?? QUESTIONS)];
const figures = new Map(questions.map((question) => [question, worlds.map(() => [])]));
for (let round = 0; round < Number(options.rounds); round++)
  for (const question of questions)
    for (const [i, world] of worlds.entries()) figures.get(question)[i].push(await cpuOnce(question, world));

const medians = questions.map((question) => figures.get(question).map(median));
const rows = questions.map((question, q) => [
  question,
  ...medians[q].map((ms) => ms.toFixed(0)),
  ...medians[q].map((ms, i) => (ms / medians[0][i]).toFixed(2)),
  (medians[q][1] / medians[q][0]).toFixed(2),
]);
const titles = worlds.map(({ title }) => title);
console.log(
  `${columns([['CPU ms', ...titles, ...titles.map((title) => `${title} / tail`), 'large / small'], ...rows])}
  frames behind the newest snapshot: ${worlds.map(({ behind }) => behind).join(', ')}
  load ${loadavg()[0].toFixed(1)}, the median of ${options.rounds} rounds`,
);

async function cpuOnce(question, { file, last, place }) {
  if (question === PAGE) return cpuUntilNow(CLI, file);
  const words = question
    .replace('PLACE', place)
    .replace('CELL', 'aos.agent/SessionReducer@1/talk-3')
    .replace('LAST-20', String(last - 20))
    .replace('LAST', String(last))
    .replace('TODAY', new Date().toISOString().slice(0, 10))
    .split(' ')
    .map((word) => (word === 'WORLD' ? file : word));
  const before = cpuOf([process.pid]);
  run([CLI, ...words]);
  return cpuOf([process.pid]) - before;
}

function median(each) {
  return each.toSorted((a, b) => a - b)[each.length >> 1];
}

/** Runs a program of Node. A verb that answers no ends with 1. */
function run(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0 && status !== 1) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
