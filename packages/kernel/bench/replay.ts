/**
 * Replay beside its floor and a peer, in one run.
 *
 * floor: what no replay can avoid: walking the frames, hashing each and the chain, comparing their bytes with a copy.
 * peer:  the same reducer under immer's `produce`, one call an event, with nothing journaled, checked or compared.
 *
 * Run: npm run bench -- --only replay
 */
import { hash } from 'node:crypto';
import { creates, defineApp, defineReducer, memory, openWorld, verifyStore } from '@reprise/kernel';
import { enableMapSet, produce } from 'immer';
import * as z from 'zod';

const EVENTS = 20_000;
const CELLS = 200;
const ROUNDS = 5;

const NAME = 'bench/Task@1';
const task = defineReducer({
  name: NAME,
  state: z.strictObject({ title: z.string(), done: z.boolean(), moves: z.int(), owner: z.string(), points: z.int() }),
  events: { 'bench/Moved@1': creates(z.strictObject({ by: z.int(), owner: z.string() })) },
  init: () => ({ title: 'a task of middling length', done: false, moves: 0, owner: '', points: 0 }),
  reduce(draft, event) {
    draft.moves += 1;
    draft.points += event.value.by;
    draft.owner = event.value.owner;
    draft.done = draft.points > 100;
  },
});
const app = defineApp({ reducers: [task] });

/** As the SQLite store does it. */
function sha256(bytes: Uint8Array): Uint8Array {
  const text = hash('sha256', bytes, 'binary');
  const digest = new Uint8Array(32);
  for (let i = 0; i < 32; i++) digest[i] = text.charCodeAt(i);
  return digest;
}

const store = memory({ hash: sha256 });
const events = Array.from({ length: EVENTS }, (_, i) => ({
  key: `t${i % CELLS}`,
  value: { by: i % 7, owner: `o${i % 13}` },
}));
await write();
const frames = await readAll();

const rows = { floor: floor, reprise: replay, 'immer, in memory only': immer };
const best: Record<string, number> = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(rows)) {
    const began = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(began);
    best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, (user + system) / EVENTS);
  }
}
console.log(`${EVENTS} events, ${CELLS} cells, best of ${ROUNDS} interleaved rounds, CPU time`);
for (const [name, micros] of Object.entries(best)) {
  console.log(
    `${name.padEnd(24)} ${micros.toFixed(2).padStart(8)} µs/event   ${(micros / (best.floor ?? 1)).toFixed(2).padStart(6)} × floor`,
  );
}

async function write(): Promise<void> {
  await using world = await openWorld({ store, app, recheckEvery: 0, snapshotEvery: 0 });
  for (let i = 0; i < events.length; i += 500) {
    const some = events.slice(i, i + 500);
    await Promise.all(
      some.map(({ key, value }, k) =>
        world.request([NAME, key], { name: 'bench/Moved@1', value }, { id: `m${i + k}` }),
      ),
    );
  }
}

async function readAll(): Promise<Uint8Array[]> {
  const reader = await store.openReadonly();
  const all: Uint8Array[] = [];
  for await (const { bytes } of reader.journal.read(0)) all.push(bytes);
  return all;
}

async function floor(): Promise<void> {
  let head: Uint8Array = new Uint8Array(32);
  for (const bytes of frames) {
    if (Buffer.compare(bytes, bytes.slice()) !== 0) throw new Error('unequal');
    head = sha256(Buffer.concat([head, sha256(bytes)]));
  }
}

async function replay(): Promise<void> {
  const reader = await store.openReadonly();
  await verifyStore(reader, { app });
  await reader.close();
}

async function immer(): Promise<void> {
  enableMapSet();
  const states = new Map<string, object>();
  const none = {} as never;
  for (const { key, value } of events) {
    const base = states.get(key) ?? (task.init(key, { name: 'bench/Moved@1', value }) as object);
    states.set(
      key,
      produce(base, (draft) => void task.reduce(draft, { name: 'bench/Moved@1', value }, none)),
    );
  }
}
