/*
 * The workload on Reprise: a session is a cell, its effects are of one plan, which goes on as a fresh instance every
 * 200 effects, since a plan has at most 256 awaits. SQLite in its only setting: WAL, synchronous = FULL. PostgreSQL as it is
 * installed, with all sessions in one world, or each in a world of its own, which is open before its session begins.
 *
 *   node reprise.mjs PLACE [worlds]     PLACE: a file, or the address of a database
 */
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  openKernelWorld,
  verifyStore,
} from 'reprise/kernel';
import { postgres } from 'reprise/postgres';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';
import { serve } from './serve.mjs';

const PLAN_EFFECTS = 200;

const number = z.strictObject({ n: z.int() });
const note = defineEffect({ kind: 'bench.note@1', params: number, receipt: number });
const work = definePlan({
  name: 'bench/work@1',
  input: z.strictObject({ from: z.int(), to: z.int(), sum: z.int() }),
  effects: [note],
  *run({ from, to, sum }, plan) {
    const end = Math.min(to, from + PLAN_EFFECTS);
    for (let n = from; n < end; n++) {
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(note, { n }));
      if (receipt.status === 'ok') sum += receipt.payload.n;
    }
    if (end < to) return plan.continueAs({ from: end, to, sum });
    plan.raiseEvent({ name: 'bench/Worked@1', value: { sum } });
  },
});
const session = defineReducer({
  name: 'bench/Session@1',
  state: z.strictObject({ sum: z.int() }),
  events: {
    'bench/Asked@1': creates(z.strictObject({ effects: z.int() })),
    'bench/Worked@1': z.strictObject({ sum: z.int() }),
  },
  init: () => ({ sum: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Asked@1') ctx.emit({ plan: work, input: { from: 0, to: event.value.effects, sum: 0 } });
    else draft.sum = event.value.sum;
  },
});
const app = defineApp({ reducers: [session], plans: [work] });
const noter = {
  effect: note,
  name: 'noter',
  concurrency: 64,
  doExecute: async ({ n }) => ({ status: 'ok', payload: { n } }),
};

const [, , place, form] = process.argv;
const storeOf = storesAt(place);
const opened = new Map();
let asked = 0;

await serve(async ({ what, sessions, effects }) => {
  if (what === 'replay') return replay(sessions * effects);
  const began = asked;
  asked += sessions;
  const keys = Array.from({ length: sessions }, (_, n) => ({ key: `s${began + n}`, place: form === 'worlds' ? n : 0 }));
  const worlds = new Set(await Promise.all(keys.map((one) => worldAt(one.place))));
  const start = performance.now();
  await Promise.all(
    keys.map(async (one) => {
      const world = await worldAt(one.place);
      await world.request(cellOf(one), { name: 'bench/Asked@1', value: { effects } }, { id: one.key });
    }),
  );
  await Promise.all([...worlds].map((world) => world.pump()));
  const ms = performance.now() - start;
  for (const one of keys) requireSum((await (await worldAt(one.place)).state(cellOf(one)))?.sum, effects);
  return { ms, effects: sessions * effects };
});

function storesAt(where) {
  if (!where.startsWith('postgres')) return () => sqlite(where);
  const database = postgres(where);
  return (n) => database.world(`bench-${n}`);
}

function worldAt(n) {
  const known = opened.get(n) ?? openKernelWorld({ store: storeOf(n), app, adapters: [noter] });
  opened.set(n, known);
  return known;
}

function cellOf({ key }) {
  return ['bench/Session@1', key];
}

/** Replays the world, whose effects are counted by the caller. */
async function replay(effects) {
  const began = performance.now();
  const reader = await storeOf(0).openReadonly();
  const { frames } = await verifyStore(reader, { app });
  await reader.close();
  return { ms: performance.now() - began, effects, frames };
}

function requireSum(sum, effects) {
  if (sum !== (effects * (effects - 1)) / 2) throw new Error(`the session has the sum ${sum} of ${effects} effects`);
}
