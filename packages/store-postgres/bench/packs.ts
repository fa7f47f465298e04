/**
 * What packing costs and saves: worlds whose older frames are packed beside worlds whose frames stay rows, in two databases
 * of one server, in turns. A step is a request, an effect and its receipt of 500 bytes: of one letter, or of words by chance.
 * The tables are vacuumed after each round, as autovacuum does once a minute.
 *
 *   node --conditions=@reprise/source --import tsx packages/store-postgres/bench/packs.ts [STEPS] [WORLDS]
 */
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  openKernelWorld,
  type World,
} from '@reprise/kernel';
import { PACK_BYTES_MAX } from '@reprise/packs';
import pg from 'pg';
import * as z from 'zod';
import { type PostgresDatabase, postgresWithPacks } from '../src/database.js';
import { postgresBin, startServer } from '../test/server.js';

const [STEPS, WORLDS] = [Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 1)];
const ROUNDS = 10;

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

const WORDS =
  'the quick brown fox jumps over a lazy dog while seven large wizards make toxic brew for evil queens'.split(' ');
const TEXTS = {
  'one letter': () => 'x'.repeat(500),
  'words by chance': () => {
    let text = '';
    while (text.length < 500) text += `${WORDS[Math.floor(Math.random() * WORDS.length)]} `;
    return text.slice(0, 500);
  },
};

async function round(worlds: readonly World[], steps: number): Promise<number> {
  const began = performance.now();
  await Promise.all(
    worlds.map(async (world) => {
      for (let n = 0; n < steps; n++) {
        await world.request(['bench/Counter@1', 'a'], { name: 'bench/Asked@1', value: {} });
        await world.pump();
      }
    }),
  );
  return ((worlds.length * steps) / (performance.now() - began)) * 1000;
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] as number;

/** Frames a second, of all that a reader finds in a world. */
async function reading(database: PostgresDatabase): Promise<number> {
  const reader = await database.world('0').openReadonly();
  const began = performance.now();
  let frames = 0;
  for await (const _ of reader.journal.read(0)) frames++;
  const rate = (frames / (performance.now() - began)) * 1000;
  await reader.close();
  return rate;
}

async function ask(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

const SIZES = `SELECT c.relname, pg_total_relation_size(c.oid)::int AS bytes, pg_indexes_size(c.oid)::int AS indexes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'reprise' AND c.relkind = 'r' AND c.relname IN ('frame', 'pack', 'landmark', 'blob', 'blob_pack')`;

async function opened(database: PostgresDatabase, text: () => string): Promise<World[]> {
  const doExecute = async () => ({ status: 'ok' as const, payload: { text: text() } });
  const adapters = [{ name: 'bench', effect: call, doExecute }];
  const worlds: World[] = [];
  for (let n = 0; n < WORLDS; n++)
    worlds.push(await openKernelWorld({ store: database.world(String(n)), app, adapters }));
  return worlds;
}

async function bytesOf(url: string): Promise<number> {
  return (await ask(url, SIZES)).rows.reduce((all, { bytes }) => all + bytes, 0);
}

async function measure(what: keyof typeof TEXTS, base: string): Promise<void> {
  const sides: {
    url: string;
    database: PostgresDatabase;
    open: () => Promise<World[]>;
    worlds: World[];
    rates: number[];
    half: number;
  }[] = [];
  for (const packBytes of [0, PACK_BYTES_MAX]) {
    const name = `b${packBytes}_${what.length}`;
    await ask(base, `CREATE DATABASE ${name}`);
    const url = base.replace(/postgres$/, name);
    const database = postgresWithPacks(packBytes, url, { ttl: 120_000 });
    const open = (): Promise<World[]> => opened(database, TEXTS[what]);
    sides.push({ url, database, open, worlds: await open(), rates: [], half: 0 });
  }
  for (let n = 0; n < ROUNDS; n++) {
    for (const side of n % 2 === 0 ? sides : sides.toReversed()) {
      side.rates.push(await round(side.worlds, Math.round(STEPS / ROUNDS / WORLDS)));
      if (n === ROUNDS / 2 - 1) for (const world of side.worlds) await world.close();
      await ask(side.url, 'VACUUM reprise.frame, reprise.blob, reprise.world, reprise.pack');
      if (n !== ROUNDS / 2 - 1) continue;
      side.half = await bytesOf(side.url);
      side.worlds = await side.open();
    }
  }
  console.log(`\nreceipts of ${what}, ${STEPS} steps in ${WORLDS} worlds`);
  for (const [n, { url, database, worlds, rates, half }] of sides.entries()) {
    for (const world of worlds) await world.close();
    await ask(url, 'VACUUM reprise.frame, reprise.blob, reprise.world, reprise.pack');
    const { rows } = await ask(url, SIZES);
    const total = rows.reduce((all, { bytes }) => all + bytes, 0);
    const reads: number[] = [];
    for (let again = 0; again < 5; again++) reads.push(await reading(database));
    console.log(
      `${n === 0 ? 'rows ' : 'packs'}  bytes a step ${(total / STEPS).toFixed(0)}, of the second half ${((total - half) / (STEPS / 2)).toFixed(0)}  steps a second ${median(rates).toFixed(0)}  ` +
        `frames read a second ${median(reads).toFixed(0)}`,
    );
    for (const { relname, bytes, indexes } of rows)
      console.log(
        `         ${relname} ${(bytes / STEPS).toFixed(1)}, of which indexes ${(indexes / STEPS).toFixed(1)}`,
      );
    await database.close();
  }
  const [rows, packs] = sides.map(({ rates }) => median(rates)) as [number, number];
  console.log(`ratio of steps a second: ${(packs / rows).toFixed(2)}`);
}

if (postgresBin() === undefined) {
  console.log('packs: no PostgreSQL is installed here: apt-get install postgresql');
  process.exit(0);
}
const server = await startServer();
try {
  await measure('one letter', server.url);
  await measure('words by chance', server.url);
} finally {
  await server.stop();
}
