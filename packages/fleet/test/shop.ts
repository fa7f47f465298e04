/** The worlds of the tests: shops that take orders, and have each of them paid outside. */
import {
  type Adapter,
  type Address,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  openKernelWorld,
  type World,
} from '@reprise/kernel';
import type { WorldBase } from '@reprise/kernel/host';
import * as z from 'zod';
import { defineOperation } from '../src/index.js';

export const SHOP: Address = ['shop/Shop@1', 'orders'];

const pay = defineEffect({
  kind: 'bank.pay@1',
  guarantee: 'idempotent',
  params: z.strictObject({ order: z.string() }),
  receipt: z.strictObject({ paid: z.boolean() }),
});

const paying = definePlan({
  name: 'shop/Paying@1',
  input: z.strictObject({ order: z.string() }),
  effects: [pay],
  *run({ order }, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(pay, { order }));
    plan.raiseEvent({ name: 'shop/Paid@1', value: { order, status } });
  },
});

const shop = defineReducer({
  name: 'shop/Shop@1',
  state: z.strictObject({ orders: z.array(z.string()), paid: z.int() }),
  events: {
    'shop/Ordered@1': creates(z.strictObject({ order: z.string(), pays: z.boolean() })),
    'shop/Paid@1': z.strictObject({ order: z.string(), status: z.string() }),
  },
  init: () => ({ orders: [], paid: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'shop/Paid@1') draft.paid++;
    else {
      draft.orders.push(event.value.order);
      if (event.value.pays) ctx.emit({ plan: paying, input: { order: event.value.order } });
    }
  },
});

export const app = defineApp({ reducers: [shop], plans: [paying] });

/** Pays by a call of the bank. @param fetched pays one order under a key */
export function till(
  fetched: (order: string, key: string, epoch: number) => Promise<boolean>,
): Adapter<{ order: string }, { paid: boolean }> {
  return {
    effect: pay,
    name: 'till',
    async doExecute({ order }, { idempotencyKey, epoch }) {
      if (await fetched(order, idempotencyKey, epoch ?? 0)) return { status: 'ok', payload: { paid: true } };
      return { status: 'error', code: 'adapter_error/bank', retryable: true };
    },
  };
}

export const openShop =
  (adapters: readonly Adapter[] = []) =>
  (_id: string, base: WorldBase): Promise<World> =>
    openKernelWorld({ ...base, app, adapters: adapters.length > 0 ? adapters : [till(async () => true)] });

/** Takes an order: passes the request of the call on. */
export const order = defineOperation({
  name: 'shop/order@1',
  input: z.strictObject({ order: z.string(), pays: z.boolean() }),
  output: z.strictObject({ frame: z.int() }),
  run: async (world: World, value, { request }) => {
    const { seq } = await world.request(SHOP, { name: 'shop/Ordered@1', value }, request);
    return { frame: seq };
  },
});

/** The orders of a shop. */
export const orders = defineOperation({
  name: 'shop/orders@1',
  input: z.null(),
  output: z.array(z.string()),
  run: async (world: World) => ((await world.state(SHOP)) as { readonly orders: string[] } | undefined)?.orders ?? [],
});

/** Says on whose behalf it runs, and where. */
export const asked = defineOperation({
  name: 'shop/asked@1',
  input: z.null(),
  output: z.strictObject({ id: z.string(), as: z.string(), pid: z.int() }),
  run: (_world: World, _input, { request }) => ({ id: request.id, as: request.as, pid: process.pid }),
});
