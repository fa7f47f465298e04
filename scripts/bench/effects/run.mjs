/*
 * The cost of a durable effect, beside an earlier commit, the least loop that makes such effects, and one commit of SQLite,
 * all in one run:
 *
 *   npm run bench -- --only effects [--against COMMIT] [--effects 700] [--rounds 4] [--out FILE]
 *
 * In `wait` the store is in memory and each append sleeps for 0.2 ms: the processor comes back as cold as from a disk,
 * without the disk's noise. Subjects take turns, each in a process of its own. A figure is the median of its blocks in all
 * rounds; a ratio is the median of the ratios of the rounds, with the least and the greatest.
 */
import '../../lib/node-version.mjs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { columns } from '../../lib/columns.mjs';
import { ROOT } from '../../lib/root.mjs';
import { run } from '../../lib/run.mjs';
import { bundleTree } from '../turns/bundle-tree.mjs';

/** The commit before the work on passes. */
const BASELINE = 'd1d7908a';

const CASES = [
  { name: 'memory', store: 'memory', sessions: 1, floors: ['least loop'] },
  { name: 'wait', store: 'wait', sessions: 1, floors: ['least loop', 'commit'] },
  { name: 'SQLite', store: 'sqlite', sessions: 1, floors: ['least loop', 'commit'] },
  { name: 'SQLite, 32 sessions', store: 'sqlite', sessions: 32, floors: [] },
];

const { values: options } = parseArgs({
  options: {
    against: { type: 'string', default: BASELINE },
    effects: { type: 'string', default: '700' },
    rounds: { type: 'string', default: '4' },
    out: { type: 'string' },
  },
});
const folder = await mkdtemp(path.join(tmpdir(), 'reprise-bench-'));
const tree = path.join(folder, 'tree');
try {
  await report(await measured());
} finally {
  await run('git', ['worktree', 'remove', '--force', tree], { quiet: true });
  await rm(folder, { recursive: true, force: true });
}

/** Of each case, the blocks of each subject by round. */
async function measured() {
  const { code, output } = await run('git', ['worktree', 'add', '--detach', tree, options.against], { quiet: true });
  if (code !== 0) throw new Error(`git has no commit ${options.against}: ${output}`);
  const program = new URL('workload.mjs', import.meta.url);
  const now = await bundleTree(ROOT, 'effects-now', program);
  const before = await bundleTree(tree, 'effects-before', program);
  const cases = CASES.map((one) => ({ ...one, rounds: [] }));
  for (let round = 0; round < Number(options.rounds); round++)
    for (const one of cases) one.rounds.push(await measureRound(one, { now, before }, round));
  return cases;
}

/** One process for each subject, in an order that turns with the rounds. */
async function measureRound({ store, sessions, floors }, { now, before }, round) {
  const subjects = [
    { name: 'now', bundle: now },
    { name: 'before', bundle: before },
    ...floors.map((floor) => ({ name: floor, bundle: now, floor })),
  ];
  const figures = {};
  for (const { name, bundle, floor } of round % 2 === 0 ? subjects : subjects.reverse()) {
    const file = path.join(folder, `${round}-${store}-${sessions}-${name.replace(' ', '-')}.db`);
    const effects = Math.ceil(Number(options.effects) / Math.ceil(sessions / 5));
    const task = { store, sessions, floor, file, effects, blocks: 5, warmup: 3 };
    const { code, output } = await run(process.execPath, [bundle, JSON.stringify(task)], { quiet: true });
    if (code !== 0) throw new Error(`the workload failed: ${output}`);
    figures[name] = JSON.parse(output.trim().split('\n').at(-1));
  }
  return figures;
}

async function report(cases) {
  console.log(
    `CPU and wall time of a durable effect, ${options.rounds} rounds; ${cpus()[0]?.model.trim()}, Node ${process.version}`,
  );
  const rows = cases.flatMap(({ name, floors, rounds }) =>
    ['before', ...floors].map((beside) => [
      name,
      beside === 'before' ? options.against : beside,
      ...compared(rounds, beside),
    ]),
  );
  const titles = ['store', 'beside', 'CPU µs, now', 'beside', 'ratio', 'best', 'wall µs, now', 'beside', 'ratio'];
  console.log(columns([titles, ...rows]));
  if (options.out !== undefined) await writeFile(options.out, `${JSON.stringify(cases, null, 2)}\n`);
}

/** The columns of a comparison: medians, the ratio with its spread, and the ratio of the best blocks. */
function compared(rounds, other) {
  return ['cpu', 'wall'].flatMap((key) => {
    const of = (name) => rounds.map((round) => median(round[name].map((block) => block[key])));
    const best = (name) => Math.min(...rounds.flatMap((round) => round[name].map((block) => block[key])));
    const [ours, theirs] = [of('now'), of(other)];
    const ratios = ours.map((figure, at) => figure / theirs[at]);
    const spread = `${median(ratios).toFixed(2)} [${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}]`;
    const figures = [median(ours).toFixed(0), median(theirs).toFixed(0), spread];
    return key === 'cpu' ? [...figures, (best('now') / best(other)).toFixed(2)] : figures;
  });
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
