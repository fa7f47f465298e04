/**
 * The cost of declared senders for each event, in one run: the same events with no check, with the check by hand that
 * recipes had, and with the declaration that replaces it. The sender is a cell; the receiver knows it by a row of a table.
 *
 * Run: npm run bench -- --only senders
 */
import {
  by,
  creates,
  defineApp,
  defineReducer,
  from,
  memory,
  openKernelWorld,
  type ReducerDefinition,
} from '@reprise/kernel';
import * as z from 'zod';

const BATCH = 200;
const BATCHES = 40;
const ROUNDS = 7;
const [DESK, PEER] = ['bench/Desk@1', 'bench/Peer@1'] as const;

const told = z.strictObject({ n: z.int() });
const state = z.strictObject({ sum: z.int() });
const tables = { peers: z.int() };
const opening = { 'bench/Open@1': creates(z.strictObject({})) };

const none = defineReducer({
  name: DESK,
  state,
  tables,
  events: { ...opening, 'bench/Told@1': told },
  init: () => ({ sum: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Open@1') ctx.table('peers').set('p', 1);
    else draft.sum += event.value.n;
  },
});

const byHand = defineReducer({
  name: DESK,
  state,
  tables,
  events: { ...opening, 'bench/Told@1': told },
  init: () => ({ sum: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Open@1') return ctx.table('peers').set('p', 1);
    const { sender } = ctx;
    const row = sender?.length === 2 && sender[0] === PEER ? ctx.table('peers').get(sender[1]) : undefined;
    if (row === undefined) ctx.reject('not_yours');
    draft.sum += event.value.n * row;
  },
});

const declared = defineReducer({
  name: DESK,
  state,
  tables,
  events: { ...opening, 'bench/Told@1': from(told, by.row('peers', { reducer: PEER })) },
  init: () => ({ sum: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Open@1') ctx.table('peers').set('p', 1);
    else draft.sum += event.value.n * event.row;
  },
});

const maker = defineReducer({
  name: DESK,
  state,
  tables,
  events: { ...opening, 'bench/Told@1': from(told, by.outside, by.self, by.cell({ reducer: PEER, key: ['p'] })) },
  init: () => ({ sum: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Open@1') ctx.table('peers').set('p', 1);
    else draft.sum += event.value.n;
  },
});

const peer = defineReducer({
  name: PEER,
  state: z.strictObject({}),
  events: { 'bench/Tell@1': creates(z.strictObject({ times: z.int() })) },
  init: () => ({}),
  reduce(_draft, event, ctx) {
    for (let n = 0; n < event.value.times; n++) ctx.send([DESK, 'd'], { name: 'bench/Told@1', value: { n } });
  },
});

const rows: Readonly<Record<string, ReducerDefinition>> = {
  'no check': none,
  'by hand, a row': byHand,
  'declared, a row': declared,
  'declared, a cell after two other forms': maker,
} as Readonly<Record<string, ReducerDefinition>>;

async function run(desk: ReducerDefinition): Promise<number> {
  await using world = await openKernelWorld({ store: memory(), app: defineApp({ reducers: [desk, peer] }) });
  await world.request([DESK, 'd'], { name: 'bench/Open@1', value: {} });
  const began = process.cpuUsage();
  for (let i = 0; i < BATCHES; i++) await world.request([PEER, 'p'], { name: 'bench/Tell@1', value: { times: BATCH } });
  const { user, system } = process.cpuUsage(began);
  return (user + system) / (BATCH * BATCHES);
}

const best: Record<string, number> = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, desk] of Object.entries(rows)) best[name] = Math.min(best[name] ?? Infinity, await run(desk));
}
console.log(`${BATCH * BATCHES} events between cells, best of ${ROUNDS} interleaved rounds, CPU time an event`);
const floor = best['no check'] ?? 1;
for (const [name, micros] of Object.entries(best)) {
  console.log(`${name.padEnd(40)} ${micros.toFixed(2).padStart(7)} µs  ${(micros / floor).toFixed(2)} ×`);
}
