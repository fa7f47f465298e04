/**
 * Two releases of a shop. The second one has another plan for orders, which also writes a letter, and another state, with a
 * migration. It keeps the plan of the first one for those that wait.
 */
import {
  type Adapter,
  type Address,
  type App,
  adapterOf,
  creates,
  deferEffect,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type World,
} from '@reprise/kernel';
import * as z from 'zod';
import { defineOperation } from '../../../src/index.js';

/** The release of a process. */
export type Release = 'first' | 'second';

/** How long an unused world stays open, in milliseconds: short, so that worlds go from process to process. */
export const IDLE_MS = 150;

const SHOP: Address = ['shop/Shop@1', 'orders'];

const order = z.strictObject({ order: z.string() });
const done = z.strictObject({ done: z.boolean() });
const outside = { guarantee: 'idempotent', params: order, receipt: done } as const;
const pay = defineEffect({ kind: 'bank.pay@1', ...outside });
const write = defineEffect({ kind: 'mail.write@1', ...outside });
const ask = defineEffect({ kind: 'desk.ask@1', ...outside });

const paying = definePlan({
  name: 'shop/Paying@1',
  input: order,
  effects: [pay],
  *run(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(pay, input));
    plan.raiseEvent({ name: 'shop/Paid@1', value: input });
  },
});

const payingAndWriting = definePlan({
  name: 'shop/Paying@2',
  input: order,
  effects: [pay, write],
  *run(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(pay, input));
    yield* plan.awaitReceipt(plan.emitEffect(write, input));
    plan.raiseEvent({ name: 'shop/Paid@1', value: input });
  },
});

/** Waits for a person, then pays. */
const approving = definePlan({
  name: 'shop/Approving@1',
  input: order,
  effects: [ask, pay],
  *run(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(ask, input));
    if (status === 'ok') yield* plan.awaitReceipt(plan.emitEffect(pay, input));
    plan.raiseEvent({ name: 'shop/Decided@1', value: { ...input, status } });
  },
});

const events = {
  'shop/Ordered@1': creates(order),
  'shop/Asked@1': creates(order),
  'shop/Reminded@1': creates(z.strictObject({ order: z.string(), inMs: z.int() })),
  'shop/Paid@1': order,
  'shop/Decided@1': z.strictObject({ order: z.string(), status: z.string() }),
  'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
} as const;

const lists = { paid: z.array(z.string()), decided: z.array(z.string()), rung: z.array(z.string()) };
const empty = { paid: [], decided: [], rung: [] };

const first = defineReducer({
  name: 'shop/Shop@1',
  state: z.strictObject({ orders: z.array(z.string()), ...lists }),
  events,
  init: () => ({ orders: [], ...empty }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'shop/Ordered@1':
        draft.orders.push(event.value.order);
        ctx.emit({ plan: paying, input: event.value });
        return;
      case 'shop/Asked@1':
        ctx.emit({ plan: approving, input: event.value });
        return;
      case 'shop/Reminded@1':
        ctx.timer(event.value.order, ctx.now + event.value.inMs);
        return;
      case 'shop/Paid@1':
        draft.paid.push(event.value.order);
        return;
      case 'shop/Decided@1':
        draft.decided.push(`${event.value.order} ${event.value.status}`);
        return;
      default:
        draft.rung.push(event.value.name);
    }
  },
});

const second = defineReducer({
  name: 'shop/Shop@2',
  state: z.strictObject({ orders: z.array(z.strictObject({ order: z.string(), release: z.int() })), ...lists }),
  events,
  migrates: {
    from: first,
    state: ({ orders, ...rest }: { orders: string[]; paid: string[]; decided: string[]; rung: string[] }) => ({
      orders: orders.map((order) => ({ order, release: 1 })),
      ...rest,
    }),
  },
  init: () => ({ orders: [], ...empty }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'shop/Ordered@1':
        draft.orders.push({ order: event.value.order, release: 2 });
        ctx.emit({ plan: payingAndWriting, input: event.value });
        return;
      case 'shop/Asked@1':
        ctx.emit({ plan: approving, input: event.value });
        return;
      case 'shop/Reminded@1':
        ctx.timer(event.value.order, ctx.now + event.value.inMs);
        return;
      case 'shop/Paid@1':
        draft.paid.push(event.value.order);
        return;
      case 'shop/Decided@1':
        draft.decided.push(`${event.value.order} ${event.value.status}`);
        return;
      default:
        draft.rung.push(event.value.name);
    }
  },
});

/** The app of each release. */
export const APPS: Readonly<Record<Release, App>> = {
  first: defineApp({ reducers: [first], plans: [paying, approving] }),
  second: defineApp({ reducers: [second], plans: [payingAndWriting, paying, approving] }),
};

/** Does what is done outside by a call. @param called does one thing for one order under a key */
export function adaptersOf(
  release: Release,
  called: (what: string, order: string, key: string, epoch: number) => Promise<boolean>,
): readonly Adapter<{ order: string }, { done: boolean }>[] {
  const calling = (effect: typeof pay, what: string) =>
    adapterOf(effect, {
      name: what,
      doExecute: async ({ order }, { idempotencyKey, epoch }) =>
        (await called(what, order, idempotencyKey, epoch ?? 0))
          ? { status: 'ok', payload: { done: true } }
          : { status: 'error', code: 'adapter_error/outside', retryable: true },
    });
  const asking = adapterOf(ask, { name: 'ask', doExecute: async () => deferEffect() });
  const inBoth = [calling(pay, 'pay'), asking];
  return release === 'first' ? inBoth : [...inBoth, calling(write, 'write')];
}

const frame = z.strictObject({ frame: z.int() });

/** What both releases are asked to do. */
export const OPERATIONS = {
  order: defineOperation({
    name: 'shop/order@1',
    input: order,
    output: frame,
    run: async (world: World, value, { request }) => {
      const { seq } = await world.request(SHOP, { name: 'shop/Ordered@1', value }, request);
      return { frame: seq };
    },
  }),
  person: defineOperation({
    name: 'shop/person@1',
    input: order,
    output: frame,
    run: async (world: World, value, { request }) => {
      const { seq } = await world.request(SHOP, { name: 'shop/Asked@1', value }, request);
      return { frame: seq };
    },
  }),
  bell: defineOperation({
    name: 'shop/bell@1',
    input: z.strictObject({ order: z.string(), inMs: z.int() }),
    output: frame,
    run: async (world: World, value, { request }) => {
      const { seq } = await world.request(SHOP, { name: 'shop/Reminded@1', value }, request);
      return { frame: seq };
    },
  }),
  /** The person answers what waits. @returns how much waited */
  answer: defineOperation({
    name: 'shop/answer@1',
    input: z.null(),
    output: z.strictObject({ settled: z.int() }),
    run: async (world: World, _input, { request }) => {
      const waiting = (await world.pending()).filter(({ kind }) => kind === 'deferred');
      for (const { effect } of waiting)
        await world.settle(
          effect,
          { status: 'ok', payload: { done: true } },
          { ...request, id: `${request.id}/${effect}` },
        );
      return { settled: waiting.length };
    },
  }),
  /** Which process has the world, and the state of the shop as JSON. */
  look: defineOperation({
    name: 'shop/look@1',
    input: z.null(),
    output: z.strictObject({ pid: z.int(), state: z.string() }),
    run: async (world: World) => ({ pid: process.pid, state: JSON.stringify((await world.state(SHOP)) ?? null) }),
  }),
} as const;
