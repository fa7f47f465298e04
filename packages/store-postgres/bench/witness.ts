/**
 * What a witness costs the commits: durable steps of many worlds, each a request, an effect and its receipt, without a witness
 * and with one in a folder, round by round in one run on one server.
 *
 *   node --conditions=@reprise/source --import tsx packages/store-postgres/bench/witness.ts
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
  type World,
} from '@reprise/kernel';
import * as z from 'zod';
import { postgres, witnessFolder } from '../src/index.js';
import { postgresBin, startServer } from '../test/server.js';

const SIZES = [
  { worlds: 1, steps: 300 },
  { worlds: 32, steps: 40 },
  { worlds: 256, steps: 8 },
];
const ROUNDS = 9;

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
  state: z.strictObject({ asked: z.int() }),
  events: { 'bench/Asked@1': creates(z.strictObject({})), 'bench/Done@1': z.strictObject({}) },
  init: () => ({ asked: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Asked@1') ctx.emit({ plan: calling, input: { n: draft.asked++ } });
  },
});
const app = defineApp({ reducers: [counter], plans: [calling] });
const adapter = {
  name: 'bench',
  effect: call,
  doExecute: async () => ({ status: 'ok' as const, payload: { text: 'x'.repeat(500) } }),
};

/** Steps a second. */
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
  return (worlds.length * steps * 1000) / (performance.now() - began);
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1] as number;

if (postgresBin() === undefined) {
  console.log('witness: no PostgreSQL is installed here: apt-get install postgresql');
  process.exit(0);
}
const server = await startServer();
const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'));
const place = witnessFolder(folder);
let puts = 0;
const counted = {
  ...place,
  put: (name: string, bytes: Uint8Array) => {
    puts++;
    return place.put(name, bytes);
  },
};
const without = postgres(server.url, { ttl: 120_000 });
const witnessed = postgres(server.url, { ttl: 120_000, witness: counted });
console.log('steps a second (request, effect, receipt of 500 bytes), median of rounds');
for (const { worlds: count, steps } of SIZES) {
  const [plain, kept]: [World[], World[]] = [[], []];
  for (let n = 0; n < count; n++) {
    plain.push(await openKernelWorld({ store: without.world(`plain ${count} ${n}`), app, adapters: [adapter] }));
    kept.push(await openKernelWorld({ store: witnessed.world(`kept ${count} ${n}`), app, adapters: [adapter] }));
  }
  await round(plain, 2);
  await round(kept, 2);
  const ratios: number[] = [];
  const found: [number[], number[]] = [[], []];
  for (let n = 0; n < ROUNDS; n++) {
    const [first, second] = n % 2 === 0 ? [plain, kept] : [kept, plain];
    const [one, other] = [await round(first, steps), await round(second, steps)];
    const [base, beside] = n % 2 === 0 ? [one, other] : [other, one];
    found[0].push(base);
    found[1].push(beside);
    ratios.push(beside / base);
  }
  console.log(
    `${String(count).padStart(4)} worlds  without ${median(found[0]).toFixed(0).padStart(6)}  with ${median(found[1]).toFixed(0).padStart(6)}  ` +
      `ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})  puts ${puts}`,
  );
  for (const world of [...plain, ...kept]) await world.close();
}
await without.close();
await witnessed.close();
await server.stop();
rmSync(folder, { recursive: true });
