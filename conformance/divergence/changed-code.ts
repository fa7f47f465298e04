/** The journal is unchanged and the code is not: replay names the place of the first difference. */
import { type App, type ReducerContext, type Store, verifyStore } from '@reprise/kernel';
import { type Catch, caughtBy, type Row } from './row.js';
import { charge, mail, paidBy, payPlan, refund, SHOP, type ShopCode, shelfAt, shopApp, shopStore } from './shop.js';

const reserved = (ctx: ReducerContext, sku: string, name = 'shop/Reserved@1') =>
  ctx.send(shelfAt(sku), { name, value: { order: ctx.address[1] } });

/** A mutant of the shop: its difference, and the place where it first shows. */
type Mutant = readonly [name: string, how: string, names: string, mutant: Partial<ShopCode>];

const PLANS: readonly Mutant[] = [
  [
    'effect parameters',
    'the plan charges one cent more',
    'frame 3, record 2 (effect), `$.params.cents`: `800` → `801`',
    { pay: (bill, plan) => SHOP.pay({ ...bill, total: bill.total + 1 }, plan) },
  ],
  [
    'effects in another order',
    'the plan emits the letter before the charge',
    'frame 3, record 2 (effect), `$.name`: `"shop.charge@1"` → `"shop.mail@1"`',
    {
      *pay({ total, order }, plan) {
        const letter = plan.emitEffect(mail, { to: 'desk', text: `order ${order}: ${total}` });
        const money = plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 60_000 });
        const receipt = yield* plan.awaitReceipt(money);
        yield* plan.awaitReceipt(letter);
        plan.raiseEvent({ name: 'shop/Paid@1', value: paidBy(receipt) });
      },
    },
  ],
  [
    'another effect',
    'the plan refunds in place of the charge, which the policy forbids',
    'frame 3, record 2 (effect), `$`: a record `effect` → a record `denial`',
    {
      *pay({ total, order }, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(refund, { cents: total, order }, { timeoutMs: 60_000 }));
      },
    },
  ],
  [
    'an effect too many',
    'the plan sends a second letter',
    'frame 3, record 4 (attempt), `$`: a record `attempt` → a record `effect`',
    {
      *pay(bill, plan) {
        const paying = SHOP.pay(bill, plan);
        let sent: unknown;
        for (let step = paying.next(sent as never); ; step = paying.next(sent as never)) {
          if (step.done === true) return;
          if (sent === undefined) plan.emitEffect(mail, { to: 'boss', text: 'money' });
          sent = yield step.value;
        }
      },
    },
  ],
  [
    'an effect too few',
    'the plan sends no letter',
    'frame 3, record 3 (effect), `$`: a record `effect` → a record `attempt`',
    {
      *pay({ total, order }, plan) {
        const receipt = yield* plan.awaitReceipt(
          plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 60_000 }),
        );
        plan.raiseEvent({ name: 'shop/Paid@1', value: paidBy(receipt) });
      },
    },
  ],
  [
    'an effect’s deadline',
    'the plan waits ten seconds longer for the money',
    'frame 3, record 2 (effect), `$.deadline`: `1767225660000` → `1767225670000`',
    {
      *pay({ total, order }, plan) {
        const money = plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 70_000 });
        const letter = plan.emitEffect(mail, { to: 'desk', text: `order ${order}: ${total}` });
        const receipt = yield* plan.awaitReceipt(money);
        yield* plan.awaitReceipt(letter);
        plan.raiseEvent({ name: 'shop/Paid@1', value: paidBy(receipt) });
      },
    },
  ],
  [
    'what is made of a receipt',
    'the plan accepts only a receipt with a long id',
    'frame 5, record 1 (event), `$.event.value.ok`: `true` → `false`',
    {
      *pay({ total, order }, plan) {
        const money = plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 60_000 });
        const letter = plan.emitEffect(mail, { to: 'desk', text: `order ${order}: ${total}` });
        const { payload } = yield* plan.awaitReceipt(money);
        yield* plan.awaitReceipt(letter);
        plan.raiseEvent({ name: 'shop/Paid@1', value: { ok: (payload?.id.length ?? 0) > 9, id: payload?.id ?? '' } });
      },
    },
  ],
  [
    'a plan’s result',
    'the plan ends without an event to its cell',
    'frame 5, record 1 (event), `$`: a record `event` → a record `plan_ended`',
    {
      *pay({ total, order }, plan) {
        const money = plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 60_000 });
        const letter = plan.emitEffect(mail, { to: 'desk', text: `order ${order}: ${total}` });
        yield* plan.awaitReceipt(money);
        yield* plan.awaitReceipt(letter);
      },
    },
  ],
  [
    'what a plan waits for',
    'the plan waits for the letter first, and sends its event after the charge',
    'frame 3, record 6 (state), `$.leaves[plan shop/Order@1 0 a].wait[0].emissions`: `0` → `1`',
    {
      *pay({ total, order }, plan) {
        const money = plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 60_000 });
        const letter = plan.emitEffect(mail, { to: 'desk', text: `order ${order}: ${total}` });
        yield* plan.awaitReceipt(letter);
        plan.raiseEvent({ name: 'shop/Paid@1', value: paidBy(yield* plan.awaitReceipt(money)) });
      },
    },
  ],
  [
    'a plan’s input',
    'the reducer requests half of the amount',
    'frame 3, record 1 (intent), `$.input.total`: `800` → `400`',
    {
      checkOut(draft, ctx) {
        draft.status = 'waiting';
        ctx.emit({ plan: payPlan, input: { total: draft.total / 2, order: ctx.address[1] } });
      },
    },
  ],
  [
    'a plan that starts twice',
    'the reducer starts the plan twice',
    'frame 3, record 2 (effect), `$`: a record `effect` → a record `intent`',
    {
      checkOut(draft, ctx) {
        SHOP.checkOut(draft, ctx);
        ctx.emit({ plan: payPlan, input: { total: draft.total, order: ctx.address[1] } });
      },
    },
  ],
];

const REDUCERS: readonly Mutant[] = [
  [
    'sends in another order',
    'the shelves get the events of an item in another order',
    'frame 1, record 2 (event), `$.to[1]`: `"tea"` → `"all"`',
    { reserve: ({ sku }, ctx) => ['all', sku].forEach((shelf) => void reserved(ctx, shelf)) },
  ],
  [
    'a renamed event',
    'the shelf gets a release in place of a reservation',
    'frame 1, record 2 (event), `$.event.name`: `"shop/Reserved@1"` → `"shop/Released@1"`',
    {
      reserve({ sku }, ctx) {
        reserved(ctx, sku, 'shop/Released@1');
        reserved(ctx, 'all');
      },
    },
  ],
  [
    'a send too many',
    'another shelf gets an event about cups, from the second frame on',
    'frame 2, record 4 (state), `$`: a record `state` → a record `event`',
    {
      reserve(item, ctx) {
        SHOP.reserve(item, ctx);
        if (item.sku === 'cup') reserved(ctx, 'cups');
      },
    },
  ],
  [
    'a send too few',
    'only the shelf of the item gets an event',
    'frame 1, record 3 (event), `$`: a record `event` → a record `state`',
    { reserve: ({ sku }, ctx) => reserved(ctx, sku) },
  ],
  [
    'a fact',
    'the reducer states another total than that of its state',
    'frame 1, record 1 (fact), `$.value.total`: `300` → `0`',
    {
      add(draft, item, ctx) {
        const { record, ...others } = contextOf(ctx);
        SHOP.add(draft, item, { ...others, record: (name, value) => record(name, { ...(value as object), total: 0 }) });
      },
    },
  ],
  [
    'a fact too few',
    'the reducer states nothing',
    'frame 1, record 1 (fact), `$`: a record `fact` → a record `event`',
    { add: (draft, item, ctx) => SHOP.add(draft, item, { ...contextOf(ctx), record: () => undefined }) },
  ],
  [
    'state alone',
    'the reducer counts by two, in a field that nothing else depends on',
    'frame 9, record 1 (state), `$.leaves[cell shop/Order@1 b].state.reminded`: `1` → `2`',
    {
      remind(draft, ctx) {
        SHOP.remind(draft, ctx);
        draft.reminded++;
      },
    },
  ],
  [
    'a first state',
    '`init` begins with another receipt',
    'frame 1, record 4 (state), `$.leaves[cell shop/Order@1 a].state.receipt`: `""` → `"none"`',
    { init: () => ({ ...SHOP.init(), receipt: 'none' }) },
  ],
  [
    'state, late',
    'the change shows at the second order only',
    'frame 6, record 1 (fact), `$.value.total`: `300` → `299`',
    {
      add: (draft, item, ctx) =>
        SHOP.add(draft, ctx.address[1] === 'b' ? { ...item, cents: item.cents - 1 } : item, ctx),
    },
  ],
  [
    'a timer’s time',
    'the reminder is set a second later',
    'frame 1, record 4 (state), `$.leaves[cell shop/Order@1 a].timers[0].reminder`: `1767225660000` → `1767225661000`',
    {
      add: (draft, item, ctx) =>
        SHOP.add(draft, item, { ...contextOf(ctx), timer: (name, at) => ctx.timer(name, at + 1_000) }),
    },
  ],
  [
    'a timer that is not cleared',
    'the reminder stays set after the payment',
    'frame 5, record 3 (state), `$.leaves[cell shop/Order@1 a].timers`: `{}` → nothing',
    {
      paid: (draft, value, ctx) => SHOP.paid(draft, value, { ...contextOf(ctx), clearTimer: () => undefined }),
    },
  ],
  [
    'a log',
    'the history gets other texts',
    'frame 1, record 4 (state), `$.leaves[log shop/Order@1 history a].items[0]`: `"tea for 300"` → `"tea"`',
    {
      add: (draft, item, ctx) =>
        SHOP.add(draft, item, { ...contextOf(ctx), append: (log) => ctx.append(log, item.sku) }),
    },
  ],
  [
    'a table',
    'a line has another price',
    'frame 1, record 4 (state), `$.leaves[table shop/Order@1 lines',
    {
      add(draft, item, ctx) {
        SHOP.add(draft, item, ctx);
        ctx.table<number>('lines').set(item.sku, 0);
      },
    },
  ],
  [
    'an identifier',
    '`ctx.id` is called with another label',
    'frame 1, record 4 (state), `$.leaves[cell shop/Order@1 a].state.number`',
    { add: (draft, item, ctx) => SHOP.add(draft, item, { ...contextOf(ctx), id: () => ctx.id('number') }) },
  ],
  [
    'chance, drawn once more',
    '`ctx.random` is called before it is needed',
    'frame 1, record 4 (state), `$.leaves[cell shop/Order@1 a].state.lot`',
    {
      add(draft, item, ctx) {
        ctx.random();
        SHOP.add(draft, item, ctx);
      },
    },
  ],
  [
    'a cell that ends',
    'an order ends when it is paid',
    'frame 5, record 3 (state), `$.leaves[cell shop/Order@1 a].live`: nothing → `false`',
    {
      paid(draft, value, ctx) {
        SHOP.paid(draft, value, ctx);
        ctx.end();
      },
    },
  ],
  [
    'a request that is refused now',
    'the reducer rejects an event that it accepted before',
    'frame 2, record 0 (request), `$`: a record `request` → nothing',
    {
      add(draft, item, ctx) {
        if (item.sku === 'cup') ctx.reject('no_cups');
        SHOP.add(draft, item, ctx);
      },
    },
  ],
  [
    'a fact that faults now',
    'the reducer throws at the event of its plan',
    'frame 5, record 3 (state), `$`: a record `state` → a record `fault`',
    {
      paid() {
        throw new TypeError('a defect');
      },
    },
  ],
];

/**
 * The shop written differently, by the same means as the mutants and with the same effect: only real changes are found.
 */
const REWORDED: ShopCode = {
  init: () => ({ ...SHOP.init() }),
  add: (draft, item, ctx) => SHOP.add(draft, item, { ...contextOf(ctx) }),
  reserve: ({ sku }, ctx) => [sku, 'all'].forEach((shelf) => void reserved(ctx, shelf)),
  checkOut(draft, ctx) {
    ctx.emit({ plan: payPlan, input: { total: draft.total, order: ctx.address[1] } });
    draft.status = 'waiting';
  },
  *pay({ total, order }, plan) {
    const money = plan.emitEffect(charge, { cents: total, order }, { timeoutMs: 60_000 });
    const letter = plan.emitEffect(mail, { to: 'desk', text: `order ${order}: ${total}` });
    const receipt = yield* plan.awaitReceipt(money);
    yield* plan.awaitReceipt(letter);
    plan.raiseEvent({ name: 'shop/Paid@1', value: paidBy(receipt) });
  },
  paid: (draft, value, ctx) => SHOP.paid(draft, value, { ...contextOf(ctx) }),
  remind: (draft, ctx) => SHOP.remind(draft, { ...contextOf(ctx) }),
};

/** The context of a reducer, as an object with replaceable parts. */
function contextOf(ctx: ReducerContext): ReducerContext {
  const bound: Record<string, unknown> = {};
  for (let owner = ctx as object; owner !== Object.prototype; owner = Object.getPrototypeOf(owner) as object) {
    for (const key of Object.getOwnPropertyNames(owner)) {
      if (key in bound || key === 'constructor') continue;
      const part = (ctx as unknown as Record<string, unknown>)[key];
      bound[key] = typeof part === 'function' ? part.bind(ctx) : part;
    }
  }
  return bound as unknown as ReducerContext;
}

/** Mutants of the decisions of the shop. */
export const CHANGED_CODE: readonly Row[] = [...PLANS, ...REDUCERS].map(([name, how, names, mutant]) => ({
  group: 'changed code',
  name,
  how,
  caught: [['verification', 'replay_divergence', names]],
  broken: () => verified(shopStore(), shopApp(mutant)),
  sound: () => verified(shopStore(), shopApp(REWORDED)),
}));

/** The finding of a replay of a recorded world with an app. */
export async function verified(recorded: Promise<Store>, app: App): Promise<Catch[]> {
  const reader = await (await recorded).openReadonly();
  return caughtBy('verification', verifyStore(reader, { app }));
}
