/** An app in three versions: a counter whose state is shaped anew each time, and a plan that pays for it. */
import { type Address, type Value, value } from '@reprise/contracts';
import * as z from 'zod';
import {
  type Adapter,
  type AdapterOutcome,
  type App,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type PlanDefinition,
  type ReducerDefinition,
} from '../../../src/index.js';

/** A counter's address; the name is the oldest, whatever the version. */
export const counter = (key: string, version = 1): Address => [`demo/Counter@${version}`, key];

/** The events that every version takes. */
export const added = (by: number) => ({ name: 'demo/Added@1', value: { by } });
export const asked = (what: string) => ({ name: 'demo/Asked@1', value: { what } });

/** Counts what is done outside. */
export const pay = defineEffect({ kind: 'demo.pay@1', params: value(), receipt: value(), guarantee: 'at_most_once' });

const events = {
  'demo/Added@1': creates(z.strictObject({ by: z.int() })),
  'demo/Asked@1': z.strictObject({ what: z.string() }),
  'demo/Paid@1': z.strictObject({ status: z.string() }),
  'demo/Peeked@1': z.strictObject({ seen: value() }),
  'sys/PlanFailed@1': value(),
} as const;

/** A plan that pays once and says how it went. */
export function payPlan(
  version = 1,
  more: { readonly replaces?: string | PlanDefinition<string> } = {},
): PlanDefinition<string> {
  return definePlan({
    name: `demo/pay_plan@${version}`,
    input: z.string(),
    effects: [pay],
    ...more,
    *run(what, plan) {
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(pay, { what }));
      plan.raiseEvent({ name: 'demo/Paid@1', value: { status: receipt.status } });
    },
  });
}

/** A plan that pays and does not wait. */
export const forgetfulPlan = definePlan({
  name: 'demo/forgetful_plan@1',
  input: z.string(),
  effects: [pay],
  // biome-ignore lint/correctness/useYield: a plan that awaits nothing is one too
  *run(what, plan) {
    plan.emitEffect(pay, { what });
  },
});

/** A plan that looks at another counter. */
export const peekPlan = definePlan({
  name: 'demo/peek_plan@1',
  input: z.tuple([z.string(), z.string()]),
  effects: [],
  *run(address, plan) {
    plan.raiseEvent({ name: 'demo/Peeked@1', value: { seen: yield* plan.peek(address as Address) } });
  },
});

/** What a test changes of a version. */
export interface Mutant {
  /** By what a version multiplies what is added. */
  readonly factor?: number;
  /** Another schema under the same name. */
  readonly extra?: boolean;
  /** The plan that it starts. */
  readonly plan?: PlanDefinition<string>;
  readonly migrate?: (old: never) => never;
}

/** The first version: `{count}`. */
export function counter1({ factor = 1, extra = false, plan = payPlan() }: Mutant = {}): ReducerDefinition {
  return defineReducer({
    name: 'demo/Counter@1',
    state: z.strictObject({
      count: z.int(),
      heard: z.array(value()),
      ...(extra ? { note: z.exactOptional(z.string()) } : {}),
    }),
    events,
    logs: { history: z.int() },
    init: () => ({ count: 0, heard: [] }),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Added@1') {
        draft.count += event.value.by * factor;
        ctx.append('history', draft.count);
      } else if (event.name === 'demo/Asked@1') {
        if (event.value.what === 'peek') ctx.emit({ plan: peekPlan, input: ['demo/Counter@2', 'other'] });
        else if (event.value.what === 'send') ctx.send(['demo/Counter@1', 'other'], added(1));
        else ctx.emit({ plan, input: event.value.what });
      } else draft.heard.push({ name: event.name, value: event.value });
    },
  });
}

/** The second version: `{n, since}`. */
export function counter2(
  { factor = 1, plan = payPlan(), migrate }: Mutant = {},
  from: string | ReducerDefinition = counter1(),
): ReducerDefinition {
  return defineReducer({
    name: 'demo/Counter@2',
    state: z.strictObject({ n: z.int(), since: z.int(), heard: z.array(value()) }),
    events,
    logs: { history: z.int() },
    migrates: {
      from,
      state: (migrate ??
        ((old: { count: number; heard: unknown[] }) => ({ n: old.count, since: 2, heard: old.heard }))) as never,
    },
    init: () => ({ n: 0, since: 0, heard: [] }),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Added@1') {
        draft.n += event.value.by * factor;
        ctx.append('history', draft.n);
      } else if (event.name === 'demo/Asked@1') {
        if (event.value.what === 'peek') ctx.emit({ plan: peekPlan, input: ['demo/Counter@2', 'other'] });
        else if (event.value.what === 'send') ctx.send(['demo/Counter@2', 'other'], added(1));
        else ctx.emit({ plan, input: event.value.what });
      } else draft.heard.push({ name: event.name, value: event.value });
    },
  });
}

/** The third version: `{total}`. */
export function counter3(from: string | ReducerDefinition = counter2()): ReducerDefinition {
  return defineReducer({
    name: 'demo/Counter@3',
    state: z.strictObject({ total: z.int(), since: z.int() }),
    events,
    logs: { history: z.int() },
    migrates: { from, state: (old: { n: number; since: number }) => ({ total: old.n, since: old.since + 1 }) },
    init: () => ({ total: 0, since: 0 }),
    reduce(draft, event) {
      if (event.name === 'demo/Added@1') draft.total += event.value.by;
    },
  });
}

/** An app of one version of the counter. */
export function appOf(reducer: ReducerDefinition, plans: readonly PlanDefinition<string>[] = [payPlan()]): App {
  return defineApp({ reducers: [reducer], plans: [...plans, peekPlan] });
}

/** A payer that answers when it is told to. */
export interface Payer extends Adapter<Value, Value> {
  readonly asked: readonly Value[];
  answer(outcome: AdapterOutcome<Value>): void;
}

/** A payer that answers when it is told to. */
export function payer(): Payer {
  const waiting: ((outcome: AdapterOutcome<Value>) => void)[] = [];
  const seen: Value[] = [];
  return {
    effect: pay,
    name: 'payer',
    asked: seen,
    answer: (outcome) => waiting.shift()?.(outcome),
    doExecute: (params, { signal }) => {
      seen.push(params);
      return new Promise((resolve) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => resolve({ status: 'cancelled' }));
      });
    },
  };
}
