/**
 * A process of bounded memory that reads forged worlds in every way that there is, and prints what came of each.
 *
 * Arguments: the seed and how many worlds. Each line of output is JSON; the last one counts.
 */
import { isRepriseError, type Ref, type Value } from '@reprise/contracts';
import { decode, FRAME_DEPTH_MAX, linksOf, openKernelWorld, type Store, verifyStore, worldAt } from '@reprise/kernel';
import { forge, partsIn, partsOf, type WorldParts } from './forge.js';
import { below, mutate, randomFrom } from './mutate.js';
import { app, cellOf, countedChance, stoppedClock, tell, victim } from './victim.js';

const [seed = 1, runs = 100] = process.argv.slice(2).map(Number);

/** What reading a forged world in one way came to. */
type Verdict = 'read' | `refused ${string}` | `BROKE ${string}`;

/** The ways in which a world is read. */
const READERS: Readonly<Record<string, (store: Store) => Promise<void>>> = {
  verify: async (store) => {
    const open = await store.openReadonly();
    try {
      await verifyStore(open, { app });
    } finally {
      await open.close();
    }
  },
  past: async (store) => {
    const open = await store.openReadonly();
    try {
      const past = await worldAt(open, app, (await open.journal.head()).seq);
      await past.state(cellOf('parent'));
      await past.table(cellOf('table'), 'rows', { limit: 64 });
    } finally {
      await open.close();
    }
  },
  open: async (store) => {
    const world = await openKernelWorld({
      store,
      app,
      drive: 'manual',
      clock: stoppedClock,
      random: countedChance(1_000_000),
    });
    try {
      for (const key of ['parent', 'worker', 'child 3']) await world.state(cellOf(key));
      await world.table(cellOf('table'), 'rows', { limit: 256 });
      await world.table(cellOf('table'), 'rows', { from: 'row 39', before: 'row 4' });
      let items = 0;
      for await (const _ of world.log(cellOf('log'), 'said')) if (++items > 5_000) break;
      await world.openEffects();
      await tell(world, 'table', 'hostile/Put@1', { from: 1, count: 30 });
      await tell(world, 'log', 'hostile/Say@1', { items: [1] });
      await tell(world, 'worker', 'hostile/Work@1', { inputs: [4], wakeInMs: 5 });
      await world.erase({ cell: cellOf('log') }, { id: 'erase' });
      await world.snapshot();
    } finally {
      await world.close();
    }
  },
};

const parts = await partsOf(await victim());
const links = linksIn(parts);
const counts = new Map<string, number>();
let forged = 0;
let slowest = 0;
let largest = 0;
for (let n = 0; n < runs; n++) {
  const random = randomFrom(seed + n);
  const pick = below(random, partsIn(parts));
  const store = await forge(parts, pick, (value) => mutate(value, random, links)).catch(() => undefined);
  if (store === undefined) continue; // content that links itself, which nobody can make
  forged++;
  for (const [way, read] of Object.entries(READERS)) {
    const began = performance.now();
    const verdict = await verdictOn(store, read);
    slowest = Math.max(slowest, performance.now() - began);
    if (verdict.startsWith('BROKE')) console.log(JSON.stringify({ seed: seed + n, way, verdict }));
    const key = `${way}: ${verdict}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  largest = Math.max(largest, process.memoryUsage.rss());
}
console.log(
  JSON.stringify({ forged, slowestMs: Math.round(slowest), largestRss: largest, counts: [...counts].sort() }),
);

async function verdictOn(store: Store, read: (store: Store) => Promise<void>): Promise<Verdict> {
  try {
    await read(store);
    return 'read';
  } catch (thrown) {
    if (isRepriseError(thrown) && thrown.code !== 'internal_error') return `refused ${thrown.code}`;
    const cause = isRepriseError(thrown) ? (thrown.cause ?? thrown) : thrown;
    return `BROKE ${cause instanceof Error ? (cause.stack ?? cause.message).split('\n').slice(0, 4).join(' | ') : String(cause)}`;
  }
}

function linksIn({ frames, blobs }: WorldParts): Ref[] {
  const values: Value[] = frames.map(({ value }) => value);
  for (const bytes of blobs.values()) {
    try {
      values.push(decode(bytes, FRAME_DEPTH_MAX));
    } catch {
      // text or an image
    }
  }
  return values.flatMap((value) => linksOf(value));
}
