/**
 * What an event costs that touches a table, beside the size of the table, in one run.
 *
 * floor: the same event on a reducer that keeps its one entry in its state and has no table.
 *
 * Run: npm run bench -- --only tables
 */
import { hash } from 'node:crypto';
import { creates, defineApp, defineReducer, memory, openWorld, type World } from '@reprise/kernel';
import * as z from 'zod';

const SIZES = [10, 1_000, 100_000];
const EVENTS = 2_000;
const FILLED_AT_ONCE = 1_000;

const NAME = 'bench/Index@1';
const cell: [string, string] = [NAME, 'one'];
const entry = z.strictObject({ n: z.int(), text: z.string() });

const index = defineReducer({
  name: NAME,
  state: z.strictObject({ last: z.int(), entry }),
  events: {
    'bench/Filled@1': creates(z.strictObject({ from: z.int(), count: z.int() })),
    'bench/Set@1': z.strictObject({ at: z.int(), n: z.int() }),
    'bench/Got@1': z.strictObject({ at: z.int() }),
    'bench/First@1': z.strictObject({}),
    'bench/Rotated@1': z.strictObject({ at: z.int(), size: z.int() }),
    'bench/Kept@1': z.strictObject({ n: z.int() }),
  },
  tables: { entries: entry },
  init: () => ({ last: 0, entry: { n: 0, text: '' } }),
  reduce(draft, event, ctx) {
    const table = ctx.table<z.output<typeof entry>>('entries');
    switch (event.name) {
      case 'bench/Filled@1':
        for (let i = 0; i < event.value.count; i++) table.set(keyOf(event.value.from + i), entryOf(i));
        return;
      case 'bench/Set@1':
        return table.set(keyOf(event.value.at), entryOf(event.value.n));
      case 'bench/Got@1':
        draft.last = table.get(keyOf(event.value.at))?.n ?? -1;
        return;
      case 'bench/First@1':
        draft.last = table.first()?.[1].n ?? -1;
        return;
      case 'bench/Rotated@1': // as a queue works: the first leaves, a new last one comes
        table.delete(keyOf(event.value.at));
        return table.set(keyOf(event.value.at + event.value.size), entryOf(event.value.at));
      case 'bench/Kept@1':
        draft.entry = entryOf(event.value.n);
    }
  },
});
const app = defineApp({ reducers: [index] });

function keyOf(n: number): string {
  return `k${String(n).padStart(8, '0')}`;
}

function entryOf(n: number) {
  return { n, text: 'an entry of middling length, as queues have them' };
}

/** As the SQLite store does it. */
function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', bytes, 'buffer'));
}

const spread = (i: number, size: number): number => (i * 7_919) % size;
const work: Record<string, (i: number, size: number) => { name: string; value: object }> = {
  'no table (floor)': (i) => ({ name: 'bench/Kept@1', value: { n: i } }),
  set: (i, size) => ({ name: 'bench/Set@1', value: { at: spread(i, size), n: i } }),
  get: (i, size) => ({ name: 'bench/Got@1', value: { at: spread(i, size) } }),
  first: () => ({ name: 'bench/First@1', value: {} }),
  'delete first, add last': (i, size) => ({ name: 'bench/Rotated@1', value: { at: i, size } }),
};

const micros: Record<string, number[]> = {};
for (const size of SIZES) {
  await using world = await openWorld({ store: memory({ hash: sha256 }), app, snapshotEvery: 0, recheckEvery: 0 });
  for (let from = 0; from < size; from += FILLED_AT_ONCE) {
    const value = { from, count: Math.min(FILLED_AT_ONCE, size - from) };
    await world.request(cell, { name: 'bench/Filled@1', value });
  }
  for (const [name, event] of Object.entries(work)) {
    await measured(world, (i) => event(i, size), 200);
    const cost = await measured(world, (i) => event(i + 200, size), EVENTS);
    micros[name] = [...(micros[name] ?? []), cost];
  }
}

console.log(`CPU time of an event in µs, ${EVENTS} events each, at ${SIZES.join(', ')} entries`);
for (const [name, costs] of Object.entries(micros)) {
  const [small = 1, , large = 1] = costs;
  const shown = costs.map((cost) => cost.toFixed(1).padStart(8)).join('');
  console.log(`${name.padEnd(24)}${shown}   ×${(large / small).toFixed(2)}`);
}

async function measured(world: World, event: (i: number) => { name: string; value: object }, count: number) {
  const began = process.cpuUsage();
  const asked: Promise<unknown>[] = [];
  for (let i = 0; i < count; i++) asked.push(world.request(cell, event(i)));
  await Promise.all(asked);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / count;
}
