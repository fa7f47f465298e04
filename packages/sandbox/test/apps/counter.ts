/** A counter in two versions, and the mutants of the first that reach for what a sandbox does not have. */
import { value } from '@reprise/contracts';
import { creates, defineApp, defineEffect, definePlan, defineReducer } from '@reprise/kernel';
import * as z from 'zod';

/** Done outside. */
export const pay = defineEffect({ kind: 'demo.pay@1', params: value(), receipt: value(), guarantee: 'at_most_once' });

const events = {
  'demo/Added@1': creates(z.strictObject({ by: z.int() })),
  'demo/Asked@1': z.strictObject({ what: z.string() }),
  'demo/Paid@1': z.strictObject({ status: z.string() }),
  'sys/PlanFailed@1': value(),
} as const;

/** Pays once and reports the outcome. */
export const payPlan = definePlan({
  name: 'demo/pay_plan@1',
  input: z.string(),
  effects: [pay],
  *run(what, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(pay, { what }));
    plan.raiseEvent({ name: 'demo/Paid@1', value: { status: receipt.status } });
  },
});

/**
 * The first version.
 *
 * @param twist what a mutant does in every delivery of `Added`, and how much it adds besides
 * @param whenPaid what a mutant does when its plan tells it that it has paid
 */
export function counterWith(twist: () => number, whenPaid: () => unknown = () => undefined) {
  return defineReducer({
    name: 'demo/Counter@1',
    state: z.strictObject({ count: z.int().default(0), paid: z.string().max(64).describe('how the last one went') }),
    events,
    facts: { 'demo/Counted@1': z.strictObject({ id: z.string() }) },
    logs: { history: z.int() },
    tables: { byCount: z.string() },
    init: () => ({ count: 0, paid: '' }),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Added@1') {
        draft.count += event.value.by + twist();
        ctx.append('history', draft.count);
        ctx.table<string>('byCount').set(`n${draft.count}`, ctx.id('entry'));
        ctx.record('demo/Counted@1', { id: ctx.id('fact') });
      } else if (event.name === 'demo/Asked@1') ctx.emit({ plan: payPlan, input: event.value.what });
      else if (event.name === 'demo/Paid@1') {
        draft.paid = event.value.status;
        whenPaid();
      }
    },
  });
}

/** The first version. */
export const counter1 = counterWith(() => 0);

/** The second: its states have another shape. */
export const counter2 = defineReducer({
  name: 'demo/Counter@2',
  state: z.strictObject({ sum: z.int(), times: z.int(), paid: z.string() }),
  events,
  logs: { history: z.int() },
  tables: { byCount: z.string() },
  migrates: {
    from: 'demo/Counter@1',
    state: (old) => {
      const { count, paid } = old as unknown as { count: number; paid: string };
      return { sum: count, times: 0, paid };
    },
  },
  init: () => ({ sum: 0, times: 0, paid: '' }),
  reduce(draft, event, ctx) {
    if (event.name === 'demo/Added@1') {
      draft.sum += event.value.by;
      draft.times++;
      ctx.append('history', draft.sum);
    } else if (event.name === 'demo/Asked@1') ctx.emit({ plan: payPlan, input: event.value.what });
    else if (event.name === 'demo/Paid@1') draft.paid = event.value.status;
  },
});

/** An app of a first version. */
export const appOf = (counter: ReturnType<typeof counterWith>) => defineApp({ reducers: [counter], plans: [payPlan] });

/** The app of today. */
export const one = appOf(counter1);

/** The app after the upgrade. */
export const two = defineApp({ reducers: [counter2], plans: [payPlan] });
