/*
 * The CPU of an event late in a very long session beside that of an event early in one, in one run:
 *
 *   npm run bench -- --only age [--turns 10000 | --long] [--against 2000] [--block 500] [--rounds 8] [--store sqlite|memory] [--out FILE]
 *
 * Two processes, each with a session: one is led to turn 10,000 first (`--long`: 100,000, which takes ten minutes), the
 * other to turn 2,000. They get there by real turns: a text, an answer of a scripted model, every tenth turn a tool call,
 * and a summary whenever the small window is full. Then they take turns, a block of turns each, so that the machine's
 * speed cancels out. A figure is the median of the blocks, and the best of them.
 */
import '../../lib/node-version.mjs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { columns } from '../../lib/columns.mjs';
import { ROOT } from '../../lib/root.mjs';
import { Subject } from '../peers/subject.mjs';
import { bundleTree } from '../turns/bundle-tree.mjs';

/** The turns that are taken at once on the way. */
const STRIDE = 2_000;

const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', default: '10000' },
    long: { type: 'boolean', default: false },
    against: { type: 'string', default: '2000' },
    block: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '8' },
    store: { type: 'string', default: 'sqlite' },
    out: { type: 'string' },
  },
});
const end = options.long ? 100_000 : Number(options.turns);
const scratch = await mkdtemp(path.join(tmpdir(), 'reprise-bench-'));
const subjects = [];
try {
  const program = await bundleTree(ROOT, 'age', new URL('workload.mjs', import.meta.url));
  const old = { title: `at turn ${end}`, ...(await started(program, 'old')), blocks: [] };
  const young = { title: `at turn ${options.against}`, ...(await started(program, 'young')), blocks: [] };
  await lead(old.subject, end);
  await lead(young.subject, Number(options.against));
  for (let round = 0; round < Number(options.rounds); round++)
    for (const { subject, blocks } of round % 2 === 0 ? [old, young] : [young, old])
      blocks.push(await subject.execute({ turns: Number(options.block) }));
  await report(old, young);
} finally {
  for (const subject of subjects) subject.stop();
  await rm(scratch, { recursive: true, force: true });
}

async function started(program, name) {
  const file = options.store === 'memory' ? [] : [path.join(scratch, `${name}.db`)];
  const subject = await Subject.start(program, file, { cwd: scratch, flags: ['--max-old-space-size=12000'] });
  subjects.push(subject);
  return { subject };
}

/** Leads a session to a turn, and says now and then what an event costs there. */
async function lead(subject, last) {
  for (let turn = 0; turn < last; ) {
    const answer = await subject.execute({ turns: Math.min(STRIDE, last - turn) });
    turn = answer.turn;
    if (turn % (5 * STRIDE) === 0 || turn === STRIDE || turn === last)
      console.log(`turn ${turn}: ${microsOf(answer).toFixed(0)} µs an event; load ${loadavg()[0].toFixed(1)}`);
  }
}

function microsOf({ micros, events }) {
  return micros / events;
}

async function report(old, young) {
  const rows = [old, young].map(({ title, blocks }) => {
    const each = blocks.map(microsOf).toSorted((a, b) => a - b);
    const [median, best] = [each[each.length >> 1], each[0]];
    return { title, median, best, blocks: blocks.map(microsOf) };
  });
  const [late, early] = rows;
  console.log(`\nCPU of an event, ${options.store}, ${options.rounds} blocks of ${options.block} turns each`);
  console.log(
    columns([
      ['', 'median', 'best'],
      ...rows.map(({ title, median, best }) => [title, `${median.toFixed(0)} µs`, `${best.toFixed(0)} µs`]),
      ['ratio', (late.median / early.median).toFixed(2), (late.best / early.best).toFixed(2)],
    ]),
  );
  if (options.out === undefined) return;
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  await writeFile(options.out, `${JSON.stringify({ machine, ...options, late, early }, null, 2)}\n`);
}
