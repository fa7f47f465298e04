/** An app whose every order reaches the outside once, in each of the three guarantees; and that outside, a file. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { GUARANTEES, ref } from '@reprise/contracts';
import {
  type Adapter,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type Reconciliation,
} from '@reprise/kernel';
import * as z from 'zod';

const guarantee = z.enum(GUARANTEES);
const order = z.strictObject({ guarantee, note: ref() });
const booked = z.strictObject({ lines: z.int() });

type Order = z.infer<typeof order>;
type Booked = z.infer<typeof booked>;

/** Writes a line into the ledger. */
export const book = defineEffect({
  kind: 'faults.book@1',
  params: order,
  receipt: booked,
  guarantee: { param: 'guarantee' },
});

const bookPlan = definePlan({
  name: 'faults/book_plan@1',
  input: order,
  effects: [book],
  *run(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(book, input));
    plan.raiseEvent({ name: 'faults/Settled@1', value: { status } });
  },
});

/** The reducer of orders. */
export const orders = defineReducer({
  name: 'faults/Order@1',
  state: z.strictObject({ status: z.nullable(z.string()) }),
  events: { 'faults/Ordered@1': creates(order), 'faults/Settled@1': z.strictObject({ status: z.string() }) },
  init: () => ({ status: null }),
  reduce(draft, event, ctx) {
    if (event.name === 'faults/Ordered@1') ctx.emit({ plan: bookPlan, input: event.value });
    else draft.status = event.value.status;
  },
});

/** The app. */
export const app = defineApp({ reducers: [orders], plans: [bookPlan] });

/** What the outside holds: by the key of an effect, how often it was done. */
export function linesOf(ledger: string): Map<string, number> {
  const lines = new Map<string, number>();
  for (const line of readFileSync(ledger, 'utf8').split('\n')) {
    if (line !== '') lines.set(line, (lines.get(line) ?? 0) + 1);
  }
  return lines;
}

/**
 * The adapter before the ledger. An existing line means that the order was written. The process that reconciles is the
 * only one that can write, so a missing line cannot appear later.
 *
 * @param struck told after each line, before it is answered
 */
export function ledgerAdapter(ledger: string, struck: () => void): Adapter<Order, Booked> {
  return {
    effect: book,
    name: 'ledger',
    concurrency: 3,
    doExecute: async (_params, { idempotencyKey }) => {
      append(ledger, idempotencyKey);
      struck();
      return { status: 'ok', payload: { lines: 1 } };
    },
    doReconcile: async (_params, { idempotencyKey }): Promise<Reconciliation<Booked>> => {
      const happened = linesOf(ledger).has(idempotencyKey);
      return happened
        ? { verdict: 'happened', outcome: { status: 'ok', payload: { lines: 1 } } }
        : { verdict: 'cannot_happen' };
    },
  };
}

/** Durable when it returns, in one write: no process that dies leaves half a line. */
function append(file: string, line: string): void {
  const handle = openSync(file, 'a');
  writeSync(handle, `${line}\n`);
  fsyncSync(handle);
  closeSync(handle);
}
