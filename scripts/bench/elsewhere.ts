/**
 * Readers elsewhere and posted calls, in one run on one server: how late a frame reaches a reader in another connection pool,
 * woken by hints and by a poll alone; how long a posted call takes to its answer, beside calls; and what followers cost appends.
 *
 *   node --conditions=@reprise/source --import tsx scripts/bench/elsewhere.ts
 */
import { setTimeout as pause } from 'node:timers/promises';
import { EMPTY_HEAD, type Head, nextHead, portableSha256, type World } from '@reprise/kernel';
import { followFrames } from '@reprise/kernel/follow';
import { type PostgresDatabase, postgres } from '@reprise/store-postgres';
import { type Fleet, openFleet } from '../../packages/fleet/src/index.js';
import { openShop, order } from '../../packages/fleet/test/shop.js';
import { postgresBin, startServer } from '../../packages/store-postgres/test/server.js';

const LATENCIES = 200;
const WORLDS = 32;
const APPENDS = 60;
const ROUNDS = 5;

if (postgresBin() === undefined) {
  console.log('elsewhere: no PostgreSQL is installed here: apt-get install postgresql');
  process.exit(0);
}

const at = (all: readonly number[], part: number): string =>
  (all.toSorted((a, b) => a - b)[Math.floor(all.length * part)] ?? 0).toFixed(1);
const shown = (all: readonly number[]): string => `p50 ${at(all, 0.5)} ms, p99 ${at(all, 0.99)} ms`;
const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] as number;

/** Appends a frame of 500 bytes to a world. */
async function writer(database: PostgresDatabase, name: string) {
  const world = await database.world(name).open();
  let head: Head = EMPTY_HEAD;
  const append = async (): Promise<number> => {
    const bytes = new Uint8Array(500).fill(head.seq + 1);
    const next = nextHead(head, bytes, portableSha256);
    const frame = { seq: next.seq, at: next.seq, kind: 'request', head: next.digest, bytes };
    head = await world.journal.append([frame], head);
    return head.seq;
  };
  return { append, close: () => world.close() };
}

const server = await startServer();
const [owner, reader] = [postgres(server.url, { ttl: 120_000 }), postgres(server.url)];

async function lateness(name: string, of: PostgresDatabase, pollMs: number): Promise<readonly number[]> {
  const { append, close } = await writer(owner, name);
  const store = await of.world(name).openReadonly();
  const stop = new AbortController();
  const [sent, late]: [Map<number, number>, number[]] = [new Map(), []];
  const reading = (async () => {
    for await (const { seq } of followFrames(store, { signal: stop.signal, pollMs }))
      late.push(performance.now() - (sent.get(seq) ?? performance.now()));
  })();
  await pause(200);
  for (let n = 0; n < LATENCIES; n++) {
    const seq = await append();
    sent.set(seq, performance.now()); // it is acknowledged
    await pause(5 + 10 * Math.random());
  }
  await pause(1.2 * pollMs);
  stop.abort();
  await reading;
  await store.close();
  await close();
  return late;
}

console.log(
  `a frame reaches a reader elsewhere after its acknowledgement: hints ${shown(await lateness('hints', reader, 1_000))}`,
);
const polling = postgres(server.url, { pooled: true });
console.log(
  `                                              a poll of 1 s alone: ${shown(await lateness('poll', polling, 1_000))}`,
);

const secret = 'a secret of a benchmark, long enough';
const join = (): Promise<Fleet<World>> =>
  openFleet<World>({ database: server.url, secret, open: openShop(), operations: [order], ttl: 60_000 });
const [a, b] = [await join(), await join()];
await a.use('antwerp', () => undefined);
const times: Record<'own' | 'forwarded' | 'posted' | 'kept', number[]> = {
  own: [],
  forwarded: [],
  posted: [],
  kept: [],
};
async function timed(into: number[], work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  into.push(performance.now() - began);
}
const input = { order: 'lamp', pays: false };
for (let n = 0; n < LATENCIES; n++) {
  await timed(times.own, () => a.call('antwerp', order, input));
  await timed(times.forwarded, () => b.call('antwerp', order, input));
  await timed(times.posted, async () => b.answer('antwerp', order, await b.post('antwerp', order, input)));
  await timed(times.kept, () => b.post('antwerp', order, input));
}
console.log(`a call here: ${shown(times.own)}; forwarded: ${shown(times.forwarded)}`);
console.log(`a posted call, from post to answer: ${shown(times.posted)}; post alone: ${shown(times.kept)}`);
await Promise.all([a.close(), b.close()]);

const writers = await Promise.all(Array.from({ length: WORLDS }, (_, n) => writer(owner, `load-${n}`)));
async function rate(): Promise<number> {
  const began = performance.now();
  await Promise.all(
    writers.map(async ({ append }) => {
      for (let n = 0; n < APPENDS; n++) await append();
    }),
  );
  return (WORLDS * APPENDS * 1_000) / (performance.now() - began);
}
await rate();
const rates: { alone: number[]; followed: number[] } = { alone: [], followed: [] };
for (let n = 0; n < ROUNDS; n++) {
  rates.alone.push(await rate());
  const stop = new AbortController();
  const followers = await Promise.all(
    writers.slice(0, 1).map(async (_, world) => {
      const store = await reader.world(`load-${world}`).openReadonly();
      return (async () => {
        for await (const _frame of followFrames(store, { signal: stop.signal }));
        await store.close();
      })();
    }),
  );
  await pause(200);
  rates.followed.push(await rate());
  stop.abort();
  await Promise.all(followers);
}
console.log(
  `${WORLDS} worlds: ${median(rates.alone).toFixed(0)} appends/s while nobody follows, ${median(rates.followed).toFixed(0)} while one of them is followed`,
);
for (const { close } of writers) await close();
for (const database of [owner, reader, polling]) await database.close();
await server.stop();
