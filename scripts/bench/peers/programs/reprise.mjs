/*
 * The workload on Reprise: a session is a cell, its effects are of one plan, which goes on as a fresh instance every
 * 200 effects, since a plan has at most 256 awaits. SQLite in its only setting: WAL, synchronous = FULL.
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

const store = sqlite(process.argv[2]);
const world = await openKernelWorld({ store, app, adapters: [noter] });
let asked = 0;

await serve(async ({ what, sessions, effects }) => {
  if (what === 'replay') return replay(sessions * effects);
  const began = performance.now();
  const cells = Array.from({ length: sessions }, () => ['bench/Session@1', `s${asked++}`]);
  await Promise.all(
    cells.map((cell) => world.request(cell, { name: 'bench/Asked@1', value: { effects } }, { id: cell[1] })),
  );
  await world.pump();
  const ms = performance.now() - began;
  for (const cell of cells) requireSum((await world.state(cell))?.sum, effects);
  return { ms, effects: sessions * effects };
});

/** Replays the world, whose effects are counted by the caller. */
async function replay(effects) {
  const began = performance.now();
  const reader = await store.openReadonly();
  const { frames } = await verifyStore(reader, { app });
  await reader.close();
  return { ms: performance.now() - began, effects, frames };
}

function requireSum(sum, effects) {
  if (sum !== (effects * (effects - 1)) / 2) throw new Error(`the session has the sum ${sum} of ${effects} effects`);
}
