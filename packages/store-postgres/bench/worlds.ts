/**
 * Durable steps of many worlds, each a request, an effect and its receipt, in PostgreSQL beside SQLite with a file a world,
 * in one run on one disk. A server of its own is started, with its settings as they come but for `commit_delay`, which
 * stands for a slow disk where the first argument gives it in microseconds.
 *
 *   node --conditions=@reprise/source --import tsx packages/store-postgres/bench/worlds.ts [COMMIT_DELAY]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  openKernelWorld,
  type Store,
  type World,
} from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import pg from 'pg';
import * as z from 'zod';
import { postgres } from '../src/index.js';
import { postgresBin, startServer } from '../test/server.js';

/** Numbers of worlds, and the steps of each in a round. */
const SIZES = [
  { worlds: 1, steps: 300 },
  { worlds: 32, steps: 40 },
  { worlds: 256, steps: 8 },
];
const ROUNDS = 5;

const call = defineEffect({
  kind: 'bench.call@1',
  guarantee: 'at_most_once',
  params: z.strictObject({ n: z.int() }),
  receipt: z.strictObject({ text: z.string() }),
});
const calling = definePlan({
  name: 'bench/calling@1',
  input: z.strictObject({ n: z.int() }),
  effects: [call],
  *run(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(call, input));
    plan.raiseEvent({ name: 'bench/Done@1', value: {} });
  },
});
const counter = defineReducer({
  name: 'bench/Counter@1',
  state: z.strictObject({ asked: z.int(), done: z.int() }),
  events: { 'bench/Asked@1': creates(z.strictObject({})), 'bench/Done@1': z.strictObject({}) },
  init: () => ({ asked: 0, done: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Done@1') draft.done++;
    else ctx.emit({ plan: calling, input: { n: draft.asked++ } });
  },
});
const app = defineApp({ reducers: [counter], plans: [calling] });
const adapter = {
  name: 'bench',
  effect: call,
  doExecute: async () => ({ status: 'ok' as const, payload: { text: 'x'.repeat(500) } }),
};

async function opened(count: number, storeOf: (n: number) => Store): Promise<World[]> {
  const worlds: World[] = [];
  for (let n = 0; n < count; n++) worlds.push(await openKernelWorld({ store: storeOf(n), app, adapters: [adapter] }));
  return worlds;
}

/** Steps a second, and the CPU of this process for each. */
async function round(worlds: readonly World[], steps: number): Promise<{ perSecond: number; cpuUs: number }> {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  await Promise.all(
    worlds.map(async (world) => {
      for (let n = 0; n < steps; n++) {
        await world.request(['bench/Counter@1', 'a'], { name: 'bench/Asked@1', value: {} });
        await world.pump();
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  const all = worlds.length * steps;
  return { perSecond: (all / (performance.now() - began)) * 1000, cpuUs: (user + system) / all };
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] as number;

if (postgresBin() === undefined) {
  console.log('worlds: no PostgreSQL is installed here: apt-get install postgresql');
  process.exit(0);
}
const delay = process.argv[2];
const server = await startServer(delay === undefined ? [] : [`commit_delay=${delay}`, 'commit_siblings=0']);
const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'));
// The worlds of SQLite commit on the thread on which the lease is extended.
const database = postgres(server.url, { ttl: 120_000 });
const watch = new pg.Client({ connectionString: server.url });
await watch.connect();
const syncs = async (): Promise<number> =>
  Number((await watch.query('SELECT wal_sync FROM pg_stat_wal')).rows[0].wal_sync);
console.log(
  `steps a second (request, effect, receipt of 500 bytes)${delay === undefined ? '' : `, a commit of ${delay} µs`}`,
);
for (const { worlds: count, steps } of SIZES) {
  const files = await opened(count, (n) => sqlite(join(folder, `${count}-${n}.db`)));
  const rows = await opened(count, (n) => database.world(`${count}-${n}`));
  await round(files, 2);
  await round(rows, 2);
  const [before, found] = [await syncs(), { files: [] as number[], rows: [] as number[], cpu: [] as number[] }];
  for (let n = 0; n < ROUNDS; n++) {
    found.files.push((await round(files, steps)).perSecond);
    const measured = await round(rows, steps);
    found.rows.push(measured.perSecond);
    found.cpu.push(measured.cpuUs);
  }
  const perStep = ((await syncs()) - before) / (ROUNDS * steps * count);
  const [sqliteRate, postgresRate] = [median(found.files), median(found.rows)];
  console.log(
    `${String(count).padStart(4)} worlds  SQLite ${sqliteRate.toFixed(0).padStart(6)}  PostgreSQL ${postgresRate.toFixed(0).padStart(6)}  ` +
      `ratio ${(postgresRate / sqliteRate).toFixed(2)}  syncs a step ${perStep.toFixed(3)}  CPU a step ${median(found.cpu).toFixed(0)} µs`,
  );
  for (const world of [...files, ...rows]) await world.close();
}
const size = await watch.query(
  "SELECT pg_total_relation_size('reprise.frame') + pg_total_relation_size('reprise.blob') AS bytes, (SELECT count(*) FROM reprise.frame) AS frames",
);
console.log(
  `bytes a frame in the database, with indexes: ${(Number(size.rows[0].bytes) / Number(size.rows[0].frames)).toFixed(0)}`,
);
await watch.end();
await database.close();
await server.stop();
rmSync(folder, { recursive: true, force: true });
