/**
 * A process that works on a world whenever it gets it: `owner-child.mjs NAME DATABASE OUTSIDE WORLD TTL`. Each request has
 * something done outside, once at most. It prints a line for each answer, and sends again what had none.
 */
import { isRepriseError } from '@reprise/contracts';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  openKernelWorld,
  type World,
} from '@reprise/kernel';
import pg from 'pg';
import * as z from 'zod';
import { postgres } from '../../src/index.js';

const [name = '', database = '', outsideUrl = '', worldName = '', ttl = ''] = process.argv.slice(2);

const pay = defineEffect({
  kind: 'orders.pay@1',
  guarantee: 'at_most_once',
  params: z.strictObject({ order: z.string() }),
  receipt: z.strictObject({ paid: z.boolean() }),
});
const paying = definePlan({
  name: 'orders/paying@1',
  input: z.strictObject({ order: z.string() }),
  effects: [pay],
  *run({ order }, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(pay, { order }));
    plan.raiseEvent({ name: 'orders/Paid@1', value: { order, status } });
  },
});
const orders = defineReducer({
  name: 'orders/Orders@1',
  state: z.strictObject({ ordered: z.int(), paid: z.int() }),
  events: {
    'orders/Ordered@1': creates(z.strictObject({ order: z.string() })),
    'orders/Paid@1': z.strictObject({ order: z.string(), status: z.string() }),
  },
  init: () => ({ ordered: 0, paid: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'orders/Paid@1') draft.paid++;
    else {
      draft.ordered++;
      ctx.emit({ plan: paying, input: { order: event.value.order } });
    }
  },
});
const app = defineApp({ reducers: [orders], plans: [paying] });

const outside = new pg.Pool({ connectionString: outsideUrl, max: 2 });
outside.on('error', () => undefined);
const shared = postgres(database, { ttl: Number(ttl), connectionsMax: 4 });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Requests under way at once. */
const AT_ONCE = 4;

const waiting: string[] = [];
let next = 0;

async function work(world: World): Promise<void> {
  while (world.closedBy === undefined) {
    const order = waiting.shift() ?? `${name}-${next++}`;
    try {
      const event = { name: 'orders/Ordered@1', value: { order } };
      const { seq } = await world.request(['orders/Orders@1', 'all'], event, { id: order });
      say(`ack ${order} ${seq}`);
      await pause(3);
    } catch (error) {
      waiting.push(order);
      say(`error ${isRepriseError(error) ? error.code : String(error)}`);
      if (!isRepriseError(error)) throw error;
      return;
    }
  }
}

const adapter = {
  name: 'till',
  effect: pay,
  async doExecute(
    { order }: { readonly order: string },
    context: { readonly epoch?: number; readonly attempt: number },
  ) {
    await outside.query('INSERT INTO call (order_id, attempt, epoch, who) VALUES ($1, $2, $3, $4)', [
      ...[order, context.attempt, context.epoch ?? 0, name],
    ]);
    await pause(20); // a process that dies has called and does not know its answer
    return { status: 'ok' as const, payload: { paid: true } };
  },
};

for (;;) {
  try {
    const world = await openKernelWorld({ store: shared.world(worldName), app, adapters: [adapter] });
    say(`open ${world.head.seq}`);
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(world)));
    await world.close().catch(() => undefined);
  } catch (error) {
    if (!isRepriseError(error)) throw error;
    if (error.code !== 'world_locked') say(`error ${error.code}`);
  }
  await pause(50);
}
