/**
 * Durable work of many worlds by one process and by two, in PostgreSQL beside SQLite with a file a world, in one run on one
 * disk: turns of agents, each with two answers of a model and a tool, and bare effects of a plan. The model answers in the
 * process at once, so all that is measured is Reprise and its store. A server of its own is started; a first argument, in
 * microseconds, makes each of its commits slower, as one to a replicated disk is.
 *
 *   node --conditions=@reprise/source --import tsx scripts/bench/processes/run.ts [COMMIT_DELAY]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../../conformance/bundle.js';
import { startServer } from '../../../packages/store-postgres/test/server.js';
import { columns } from '../../lib/columns.mjs';
import type { Done, Round } from './worker.js';

/** Worlds, and the turns and effects of each in a round. */
const SIZES = [
  { worlds: 1, turns: 40, effects: 200 },
  { worlds: 32, turns: 4, effects: 20 },
  { worlds: 256, turns: 1, effects: 4 },
];
const ROUNDS = 3;

const delay = process.argv[2];
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-bench-'));
const program = path.join(folder, 'worker.mjs');
await bundle(fileURLToPath(new URL('worker.ts', import.meta.url)), program);
const server = await startServer(delay === undefined ? [] : [`commit_delay=${delay}`, 'commit_siblings=0']);
const stores = { SQLite: folder, PostgreSQL: server.url };
type StoreName = keyof typeof stores;

/** A process with its own worlds. */
class Worker {
  readonly #child: ChildProcess;

  constructor(store: StoreName, name: string) {
    this.#child = fork(program, [stores[store], name], { serialization: 'advanced' });
  }

  async run(round: Round): Promise<Done> {
    this.#child.send(round);
    const [done] = (await Promise.race([once(this.#child, 'message'), once(this.#child, 'exit')])) as [Done | number];
    if (typeof done !== 'object') throw new Error(`a process ended: ${String(done)}`);
    return done;
  }

  async end(): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }
}

/** The rate of all processes together, and the CPU of each piece of work in them. */
async function rate(workers: readonly Worker[], { worlds, work, each }: Round): Promise<Done & { perSecond: number }> {
  const began = performance.now();
  const share = Math.max(1, Math.round(worlds / workers.length));
  const done = await Promise.all(workers.map((worker) => worker.run({ worlds: share, work, each })));
  const all = share * workers.length * each;
  return {
    perSecond: (all / (performance.now() - began)) * 1000,
    cpuUs: done.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / done.length,
  };
}

const best = <T>(all: readonly T[], of: (one: T) => number): T => all.toSorted((a, b) => of(b) - of(a))[0] as T;

const rows: string[][] = [['worlds', 'work', 'processes', 'SQLite /s', 'PostgreSQL /s', 'ratio', 'CPU each, µs']];
for (const { worlds, turns, effects } of SIZES) {
  for (const count of worlds === 1 ? [1] : [1, 2]) {
    const workers = (['SQLite', 'PostgreSQL'] as const).map((store) => ({
      store,
      all: Array.from({ length: count }, (_, n) => new Worker(store, `${worlds}-${count}-${n}`)),
    }));
    for (const [work, each] of [
      ['turns', turns],
      ['effects', effects],
    ] as const) {
      const found = { SQLite: [] as number[], PostgreSQL: [] as number[], cpu: [] as number[] };
      for (const { all } of workers) await rate(all, { worlds, work, each: 1 }); // opens the worlds
      for (let n = 0; n < ROUNDS; n++) {
        for (const { store, all } of workers) {
          const { perSecond, cpuUs } = await rate(all, { worlds, work, each });
          found[store].push(perSecond);
          if (store === 'PostgreSQL') found.cpu.push(cpuUs);
        }
      }
      const [files, database] = [best(found.SQLite, Number), best(found.PostgreSQL, Number)];
      const figures = [
        files.toFixed(0),
        database.toFixed(0),
        (database / files).toFixed(2),
        Math.min(...found.cpu).toFixed(0),
      ];
      rows.push([String(worlds), work, String(count), ...figures]);
    }
    for (const { all } of workers) for (const worker of all) await worker.end();
  }
}
console.info(
  `${delay === undefined ? '' : `a commit of ${delay} µs, `}load ${(loadavg()[0] ?? 0).toFixed(1)}, best of ${ROUNDS} rounds`,
);
console.info(columns(rows));
await server.stop();
rmSync(folder, { recursive: true, force: true });
