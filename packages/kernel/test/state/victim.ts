/** The world that is forged: cells, a large table, a long log, timers, running plans and open effects, two snapshots. */
import { type Address, value } from '@reprise/contracts';
import {
  type App,
  type Clock,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  openKernelWorld,
  putValue,
  type Store,
  type World,
} from '@reprise/kernel';
import * as z from 'zod';
import { quickMemory } from '../../../../conformance/quick-memory.js';

const call = defineEffect({
  kind: 'hostile.call@1',
  params: value(),
  receipt: z.strictObject({ got: value() }),
  guarantee: 'idempotent',
});

const wait = definePlan({
  name: 'hostile/Wait@1',
  input: value(),
  effects: [call],
  *run(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(call, input));
  },
});

const cell = defineReducer({
  name: 'hostile/Cell@1',
  state: z.strictObject({ n: z.int(), last: value() }),
  events: {
    'hostile/Put@1': creates(z.strictObject({ from: z.int(), count: z.int() })),
    'hostile/Say@1': creates(z.strictObject({ items: z.array(value()) })),
    'hostile/Work@1': creates(z.strictObject({ inputs: z.array(value()), wakeInMs: z.int() })),
    'hostile/Spread@1': creates(z.strictObject({ count: z.int() })),
    'hostile/Added@1': creates(z.strictObject({ by: z.int() })),
  },
  logs: { said: value() },
  tables: { rows: z.strictObject({ n: z.int(), text: z.string() }) },
  init: () => ({ n: 0, last: null }),
  reduce: (state, { name, value: told }, ctx) => {
    if (name === 'hostile/Put@1') {
      for (let i = told.from; i < told.from + told.count; i++) {
        ctx.table('rows').set(`row ${i}`, { n: i, text: `text of row ${i}` });
      }
      state.n += told.count;
    } else if (name === 'hostile/Say@1') for (const item of told.items) ctx.append('said', item);
    else if (name === 'hostile/Work@1') {
      for (const input of told.inputs) ctx.emit({ plan: wait, input });
      ctx.timer('later', ctx.now + told.wakeInMs);
    } else if (name === 'hostile/Spread@1') {
      for (let i = 0; i < told.count; i++) {
        ctx.send(['hostile/Cell@1', `child ${i}`], { name: 'hostile/Added@1', value: { by: i } });
      }
    } else if (name === 'hostile/Added@1') state.n += told.by;
  },
});

/** The app of the world. */
export const app: App = defineApp({ reducers: [cell], plans: [wait] });

/** A cell of the world. */
export const cellOf = (key: string): Address => ['hostile/Cell@1', key];

/** Sends one event. */
export async function tell(world: World, key: string, name: string, told: object): Promise<void> {
  await world.request(cellOf(key), { name, value: told });
}

/** A clock that stands still: every world made or read here has the same stamps. */
export const stoppedClock: Clock = {
  wall: () => 1_700_000_000_000,
  monotonic: () => 0,
  sleep: () => new Promise(() => undefined),
};

/**
 * Chance from a count: the same bytes each time, and other bytes for each request.
 *
 * @param calls where the count begins, so that two processes name their requests differently
 */
export function countedChance(calls = 0): (length: number) => Uint8Array {
  return (length) => {
    calls++;
    return Uint8Array.from({ length }, (_, at) => (at < 4 ? calls >>> (8 * at) : at) & 0xff);
  };
}

/** Makes the world; the same bytes each time. */
export async function victim(): Promise<Store> {
  const store = quickMemory();
  const world = await openKernelWorld({ store, app, drive: 'manual', clock: stoppedClock, random: countedChance() });
  for (let from = 0; from < 400; from += 100) await tell(world, 'table', 'hostile/Put@1', { from, count: 100 });
  const linked = await putValue(world.content, { a: 'linked', inner: await putValue(world.content, [1, 2, 3]) });
  for (let n = 0; n < 40; n++) {
    const items = Array.from({ length: 30 }, (_, i) => (i === 0 ? linked : { n, i }));
    await tell(world, 'log', 'hostile/Say@1', { items });
  }
  await tell(world, 'worker', 'hostile/Work@1', { inputs: [1, linked, 'three'], wakeInMs: 1_000_000_000 });
  await tell(world, 'parent', 'hostile/Spread@1', { count: 60 });
  await world.snapshot();
  await tell(world, 'table', 'hostile/Put@1', { from: 400, count: 20 });
  await world.snapshot();
  await tell(world, 'parent', 'hostile/Added@1', { by: 1 });
  await world.close();
  return store;
}
