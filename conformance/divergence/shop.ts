/**
 * A small real app: orders that reserve stock, are charged for and confirmed by mail, and are reminded of when nobody
 * pays in time. Its decisions are separate, in {@link ShopCode}, so that a mutant can change them.
 */
import { type Address, type PolicyRule, ref } from '@reprise/contracts';
import {
  type App,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type EffectDefinition,
  memory,
  openKernelWorld,
  type PlanBody,
  type PlanContext,
  type ReceiptOf,
  type ReducerContext,
  type Store,
  type World,
} from '@reprise/kernel';
import { scriptedAdapter, seededRandom, VirtualClock } from '@reprise/testkit';
import * as z from 'zod';

/** Takes money. */
export const charge = defineEffect({
  kind: 'shop.charge@1',
  params: z.strictObject({ cents: z.int(), order: z.string() }),
  receipt: z.strictObject({ id: z.string() }),
});
/** Sends a letter. */
export const mail = defineEffect({
  kind: 'shop.mail@1',
  params: z.strictObject({ to: z.string(), text: z.string() }),
  receipt: z.strictObject({ sent: z.boolean() }),
  guarantee: 'idempotent',
});
/** Refunds a charge; no plan uses it yet. */
export const refund = defineEffect({
  kind: 'shop.refund@1',
  params: z.strictObject({ cents: z.int(), order: z.string() }),
  receipt: z.strictObject({ id: z.string() }),
});

/** An order. */
export interface Order {
  items: number;
  total: number;
  number: string;
  lot: number;
  status: 'open' | 'waiting' | 'paid' | 'failed';
  receipt: string;
  reminded: number;
}

/** The state of an order. */
export const order = z.strictObject({
  items: z.int(),
  total: z.int(),
  number: z.string(),
  lot: z.number(),
  status: z.enum(['open', 'waiting', 'paid', 'failed']),
  receipt: z.string(),
  reminded: z.int(),
});
const item = z.strictObject({ sku: z.string(), cents: z.int() });
type Item = z.infer<typeof item>;
const bill = z.strictObject({ total: z.int(), order: z.string() });
/** The amount to pay. */
export type Bill = z.infer<typeof bill>;

/** Everything that the app decides. */
export interface ShopCode {
  init(): Order;
  add(draft: Order, item: Item, ctx: ReducerContext): void;
  /** Tells the shelves. */
  reserve(item: Item, ctx: ReducerContext): void;
  checkOut(draft: Order, ctx: ReducerContext): void;
  pay(bill: Bill, plan: PlanContext): PlanBody;
  paid(draft: Order, value: { readonly ok: boolean; readonly id: string }, ctx: ReducerContext): void;
  remind(draft: Order, ctx: ReducerContext): void;
}

/** The address of an order. */
export const orderAt = (key: string): Address => ['shop/Order@1', key];
/** The address of a shelf. */
export const shelfAt = (sku: string): Address => ['shop/Shelf@1', sku];

/** The decisions of the app. */
export const SHOP: ShopCode = {
  init: () => ({ items: 0, total: 0, number: '', lot: 0, status: 'open', receipt: '', reminded: 0 }),
  add(draft, item, ctx) {
    if (draft.number === '') {
      draft.number = ctx.id('order').slice(0, 8);
      draft.lot = ctx.random();
      ctx.timer('reminder', ctx.now + 60_000);
    }
    draft.items++;
    draft.total += item.cents;
    ctx.table<number>('lines').set(item.sku, item.cents);
    ctx.append('history', `${item.sku} for ${item.cents}`);
    ctx.record('shop/Counted@1', { items: draft.items, total: draft.total });
  },
  reserve({ sku }, ctx) {
    ctx.send(shelfAt(sku), { name: 'shop/Reserved@1', value: { order: ctx.address[1] } });
    ctx.send(shelfAt('all'), { name: 'shop/Reserved@1', value: { order: ctx.address[1] } });
  },
  checkOut(draft, ctx) {
    draft.status = 'waiting';
    ctx.emit({ plan: payPlan, input: { total: draft.total, order: ctx.address[1] } });
  },
  *pay({ total, order }, plan) {
    const money = plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 60_000 });
    const letter = plan.emitEffect(mail, { to: 'desk', text: `order ${order}: ${total}` });
    const receipt = yield* plan.awaitReceipt(money);
    yield* plan.awaitReceipt(letter);
    plan.raiseEvent({ name: 'shop/Paid@1', value: paidBy(receipt) });
  },
  paid(draft, { ok, id }, ctx) {
    draft.status = ok ? 'paid' : 'failed';
    draft.receipt = id;
    ctx.clearTimer('reminder');
  },
  remind(draft, ctx) {
    draft.reminded++;
    ctx.timer('reminder', ctx.now + 60_000);
  },
};

/** The reaction to a receipt. */
export function paidBy({ status, payload }: ReceiptOf<{ id: string }>): { ok: boolean; id: string } {
  return { ok: status === 'ok', id: payload?.id ?? 'none' };
}

function planOf(code: ShopCode, effects: readonly EffectDefinition[] = [charge, mail, refund]) {
  return definePlan({ name: 'shop/pay_plan@1', input: bill, effects, run: (input, plan) => code.pay(input, plan) });
}

/** The plan that an intent names; replay uses the app's own plan of that name. */
export const payPlan = planOf(SHOP);

function ordersOf(code: ShopCode, state: typeof order) {
  return defineReducer({
    name: 'shop/Order@1',
    state,
    events: {
      'shop/Added@1': creates(item),
      'shop/CheckedOut@1': z.strictObject({}),
      'shop/Paid@1': z.strictObject({ ok: z.boolean(), id: z.string() }),
      'shop/Filed@1': z.strictObject({ page: ref() }),
      'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
    },
    facts: { 'shop/Counted@1': z.strictObject({ items: z.int(), total: z.int() }) },
    logs: { history: z.string() },
    tables: { lines: z.int() },
    init: () => code.init(),
    reduce(draft, event, ctx) {
      switch (event.name) {
        case 'shop/Added@1':
          if (event.value.cents > 100_000) ctx.reject('too_much');
          code.add(draft, event.value, ctx);
          return code.reserve(event.value, ctx);
        case 'shop/CheckedOut@1':
          return code.checkOut(draft, ctx);
        case 'shop/Paid@1':
          return code.paid(draft, event.value, ctx);
        case 'shop/Filed@1':
          return ctx.append('history', 'filed');
        case 'sys/TimerFired@1':
          return code.remind(draft, ctx);
      }
    },
  });
}

const shelf = defineReducer({
  name: 'shop/Shelf@1',
  state: z.strictObject({ reserved: z.array(z.string()) }),
  events: {
    'shop/Reserved@1': creates(z.strictObject({ order: z.string() })),
    'shop/Released@1': creates(z.strictObject({ order: z.string() })),
  },
  init: () => ({ reserved: [] }),
  reduce(draft, event) {
    draft.reserved.push(event.value.order);
  },
});

/** Definitions that a mutant has otherwise, under the same names. */
export interface OtherDefinitions {
  readonly state?: z.ZodType;
  /** In place of the effect of its name. */
  readonly effect?: EffectDefinition;
  readonly shelves?: false;
}

/** The app, with the decisions or definitions of a mutant. */
export function shopApp(mutant: Partial<ShopCode> = {}, { state, effect, shelves }: OtherDefinitions = {}): App {
  const code = { ...SHOP, ...mutant };
  const effects = [charge, mail, refund].map((known) => (known.name === effect?.name ? effect : known));
  const orders = ordersOf(code, (state ?? order) as typeof order);
  return defineApp({ reducers: shelves === false ? [orders] : [orders, shelf], plans: [planOf(code, effects)] });
}

/** Opens a shop, with the same bytes each time. */
export function shopOptions(name = 'shop') {
  const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) });
  const adapters = [
    scriptedAdapter(charge, ({ params }) => ({ status: 'ok', payload: { id: `c-${params.cents}` } })),
    scriptedAdapter(mail, () => ({ status: 'ok', payload: { sent: true } })),
  ];
  const random = seededRandom(name);
  return { clock, random, adapters, app: shopApp(), snapshotEvery: 0, recheckEvery: 0 };
}

/** The rules of the shop: refunds are forbidden. */
export const POLICY: readonly PolicyRule[] = [
  { effect: 'shop.refund*', decision: 'deny' },
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];

const added = (sku: string, cents: number) => ({ name: 'shop/Added@1', value: { sku, cents } });

/**
 * Two orders. Frames: 0 manifest; 1 and 2 additions to `a`; 3 the check-out; 4 and 5 the receipts of the charge and of
 * the letter; 6 an addition to `b`; 7 a page is filed; 8 a snapshot; 9 and 10 reminders of `b`.
 */
export async function runShop(world: World, clock: VirtualClock, waitMs = 130_000): Promise<void> {
  await world.request(orderAt('a'), added('tea', 300), { id: 'a-1' });
  await world.request(orderAt('a'), added('cup', 500), { id: 'a-2' });
  await world.request(orderAt('a'), { name: 'shop/CheckedOut@1', value: {} }, { id: 'a-3' });
  await clock.settle();
  await world.request(orderAt('b'), added('tea', 300), { id: 'b-1' });
  const page = await world.content.put(new TextEncoder().encode('a page'));
  await world.request(orderAt('b'), { name: 'shop/Filed@1', value: { page } }, { id: 'b-2' });
  await world.snapshot();
  await clock.advance(waitMs);
}

/** The shop's world, recorded by the sound app. */
export async function recordShop(name = 'shop'): Promise<Store> {
  const store = memory();
  const options = shopOptions(name);
  const world = await openKernelWorld({ ...options, store, policy: POLICY });
  await runShop(world, options.clock);
  await world.close();
  return store;
}

let recorded: Promise<Store> | undefined;

/** The shop's world, recorded once. */
export function shopStore(): Promise<Store> {
  recorded ??= recordShop();
  return recorded;
}
