/**
 * What keys cost: requests that each put a content of their own, with its salt, and link it, in worlds without keys, with
 * keys in files and with keys in memory, in three databases of one server, in turns.
 *
 *   node --conditions=@reprise/source --import tsx packages/store-postgres/bench/keys.ts [STEPS] [WORLDS]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { creates, defineApp, defineReducer, type KeyService, openKernelWorld, putErasable, ref } from '@reprise/kernel';
import pg from 'pg';
import * as z from 'zod';
import { fileKeys, memoryKeys, postgres } from '../src/index.js';
import { startServer } from '../test/server.js';

const [STEPS, WORLDS] = [Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 8)];
const ROUNDS = 7;
const SIZES = [1_000, 100_000];

const reducer = defineReducer({
  name: 'bench/Diary@1',
  state: z.strictObject({ entries: z.int() }),
  events: { 'bench/Wrote@1': creates(z.strictObject({ text: ref() })) },
  init: () => ({ entries: 0 }),
  reduce: (draft) => void draft.entries++,
});
const app = defineApp({ reducers: [reducer] });

const server = await startServer();
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-bench-keys-'));
const client = new pg.Client({ connectionString: server.url });
await client.connect();

async function subject(name: string, keys: KeyService | undefined) {
  await client.query(`CREATE DATABASE ${name}`);
  const database = postgres(server.url.replace(/postgres$/, name), keys === undefined ? {} : { keys });
  const worlds = [];
  for (let n = 0; n < WORLDS; n++) worlds.push(await openKernelWorld({ store: database.world(`w${n}`), app }));
  return { name, database, worlds };
}

type Subject = Awaited<ReturnType<typeof subject>>;

/** Steps a second of all worlds of a subject. */
async function round({ worlds }: Subject, size: number): Promise<number> {
  const began = performance.now();
  await Promise.all(
    worlds.map(async (world) => {
      for (let n = 0; n < STEPS; n++) {
        const text = await putErasable(world.content, new Uint8Array(size).fill(120));
        await world.request(['bench/Diary@1', 'a'], { name: 'bench/Wrote@1', value: { text } });
      }
    }),
  );
  return (STEPS * worlds.length * 1_000) / (performance.now() - began);
}

function median(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[all.length >> 1] ?? 0;
}

const subjects = [
  await subject('plain', undefined),
  await subject('files', fileKeys(folder)),
  await subject('memory', memoryKeys()),
];
for (const size of SIZES) {
  const measured = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  for (let n = 0; n < ROUNDS; n++)
    for (const one of n % 2 === 0 ? subjects : [...subjects].reverse())
      measured.get(one.name)?.push(await round(one, size));
  const plain = median(measured.get('plain') ?? []);
  for (const [name, all] of measured)
    console.log(
      `${size} bytes, ${name}: ${median(all).toFixed(0)} steps/s, ${(median(all) / plain).toFixed(2)} of plain`,
    );
}
for (const { worlds, database } of subjects) {
  for (const world of worlds) await world.close();
  await database.close();
}
await client.end();
await server.stop();
rmSync(folder, { recursive: true });
