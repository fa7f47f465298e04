/** What each world of the fleet does: a shop takes orders, and has each of them paid by the bank. */
import {
  type Adapter,
  type Address,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
} from 'reprise/kernel';
import * as z from 'zod';

/** The cell of a shop. */
export const SHOP: Address = ['shop/Shop@1', 'orders'];

const charge = defineEffect({
  kind: 'bank.charge@1',
  guarantee: 'idempotent',
  params: z.strictObject({ order: z.string() }),
  receipt: z.strictObject({ charged: z.boolean() }),
});

const paying = definePlan({
  name: 'shop/Paying@1',
  input: z.strictObject({ order: z.string() }),
  effects: [charge],
  *run({ order }, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(charge, { order }));
    plan.raiseEvent({ name: 'shop/Paid@1', value: { order, status } });
  },
});

const shop = defineReducer({
  name: 'shop/Shop@1',
  state: z.strictObject({ ordered: z.int(), paid: z.int() }),
  events: {
    'shop/Ordered@1': creates(z.strictObject({ order: z.string() })),
    'shop/Paid@1': z.strictObject({ order: z.string(), status: z.string() }),
  },
  init: () => ({ ordered: 0, paid: 0 }),
  reduce(draft, event, ctx) {
    if (event.name === 'shop/Paid@1') draft.paid++;
    else {
      draft.ordered++;
      ctx.emit({ plan: paying, input: { order: event.value.order } });
    }
  },
});

/** The reducer of a shop and its plan. */
export const app = defineApp({ reducers: [shop], plans: [paying] });

/**
 * Asks the bank for a charge. The key lets the bank recognize a call that is repeated after a crash; the epoch lets it refuse
 * a process that was stopped and does not know yet that another one has its world.
 *
 * @param bank the address of the bank
 */
export function bankAdapter(bank: string): Adapter<{ order: string }, { charged: boolean }> {
  return {
    effect: charge,
    name: 'bank',
    async doExecute({ order }, { idempotencyKey, epoch, signal }) {
      const body = JSON.stringify({ order, key: idempotencyKey, epoch });
      const answer = await fetch(bank, { method: 'POST', signal, body }).catch(() => undefined);
      if (answer?.ok === true) return { status: 'ok', payload: { charged: true } };
      return { status: 'error', code: 'adapter_error/bank', retryable: answer?.status !== 409 };
    },
  };
}
