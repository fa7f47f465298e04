import { creates, defineEffect, definePlan, defineReducer } from '@reprise/kernel';
import * as z from 'zod';

/** A small shop: enough of every noun for the given/when/then tests. */
export const charge = defineEffect({
  kind: 'shop.charge@1',
  params: z.strictObject({ cents: z.int() }),
  receipt: z.strictObject({ id: z.string() }),
});

/** Charges, once more after a timeout, and gives up on the third. */
export const payPlan = definePlan({
  name: 'shop/pay_plan@1',
  input: z.strictObject({ cents: z.int() }),
  effects: [charge],
  *run({ cents }, plan) {
    const receipt = yield* plan.retry(charge, { cents }, { max: 2, on: ({ status }) => status === 'timeout' });
    plan.raiseEvent({ name: 'shop/Paid@1', value: { ok: receipt.status === 'ok' } });
  },
});

/** Waits a minute, then takes its effect back. */
export const patientPlan = definePlan({
  name: 'shop/patient_plan@1',
  input: z.strictObject({}),
  effects: [charge],
  *run(_, plan) {
    const handle = plan.emitEffect(charge, { cents: 1 });
    const receipt = yield* plan.awaitReceipt(handle, { within: 60_000 });
    if (receipt === null) plan.cancel(handle);
    plan.raiseEvent({ name: 'shop/Paid@1', value: { ok: receipt !== null } });
  },
});

/** Tells what another cell's state says. */
export const curiousPlan = definePlan({
  name: 'shop/curious_plan@1',
  input: z.strictObject({ key: z.string() }),
  effects: [],
  *run({ key }, plan) {
    const seen = yield* plan.peek(['shop/Order@1', key]);
    plan.raiseEvent({ name: 'shop/Paid@1', value: { ok: seen !== null } });
  },
});

/** Takes audit notes. */
export const audit = defineReducer({
  name: 'shop/Audit@1',
  state: z.strictObject({ lines: z.int() }),
  events: { 'shop/Noted@1': creates(z.strictObject({ line: z.string() })) },
  init: () => ({ lines: 0 }),
  reduce(draft) {
    draft.lines++;
  },
});

/** An order. */
export const order = defineReducer({
  name: 'shop/Order@1',
  state: z.strictObject({ cents: z.int(), paid: z.boolean() }),
  events: {
    'shop/Ordered@1': creates(z.strictObject({ cents: z.int(), gift: z.boolean().default(false) })),
    'shop/Paid@1': z.strictObject({ ok: z.boolean() }),
    'shop/Broken@1': z.strictObject({}),
    'shop/Closed@1': z.strictObject({}),
    'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  },
  facts: { 'shop/Settled@1': z.strictObject({ cents: z.int() }) },
  logs: { history: z.string() },
  tables: { orders: z.int() },
  init: () => ({ cents: 0, paid: false }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'shop/Ordered@1':
        if (event.value.cents > 1_000) ctx.reject('too_much');
        draft.cents += event.value.gift ? 0 : event.value.cents;
        ctx.append('history', 'ordered');
        ctx.table<number>('orders').set(`order ${ctx.table('orders').size}`, event.value.cents);
        ctx.timer('remind', ctx.now + 1_000);
        ctx.emit({ plan: payPlan, input: { cents: draft.cents } });
        return;
      case 'shop/Paid@1':
        draft.paid = event.value.ok;
        ctx.append('history', 'paid');
        ctx.clearTimer('remind');
        ctx.record('shop/Settled@1', { cents: draft.cents });
        ctx.send(['shop/Audit@1', 'all'], { name: 'shop/Noted@1', value: { line: 'paid' } });
        return;
      case 'shop/Broken@1':
        draft.cents = Number.NaN;
        return;
      case 'shop/Closed@1':
        ctx.end();
        return;
      case 'sys/TimerFired@1':
        draft.cents++;
    }
  },
});
