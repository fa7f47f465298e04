/** Executes {@link PlanOp} programs: the plan of the random worlds. */
import { type Value, value } from '@reprise/contracts';
import {
  defineEffect,
  definePlan,
  type EffectDefinition,
  type EffectHandle,
  type PlanBody,
  type PlanContext,
} from '@reprise/kernel';
import { type PlanOp, PROGRAM_EVENTS, type ProgramEffect } from './program.js';

type Effect = EffectDefinition<Value, Value>;

/** The effects of plan programs, by kind: one of each guarantee. Their parameters are `{answer, n}`. */
export const programEffects: Readonly<Record<ProgramEffect, Effect>> = {
  'law.again@1': defineEffect({ kind: 'law.again@1', params: value(), receipt: value(), guarantee: 'idempotent' }),
  'law.once@1': defineEffect({ kind: 'law.once@1', params: value(), receipt: value(), guarantee: 'at_most_once' }),
  'law.ask@1': defineEffect({ kind: 'law.ask@1', params: value(), receipt: value(), guarantee: 'reconcile' }),
};

const undeclared = defineEffect({ kind: 'law.undeclared@1', params: value(), receipt: value() });

/** The plan that executes programs; its input is the program. */
export const programPlan = definePlan({
  name: 'law/program_plan@1',
  input: value(),
  effects: Object.values(programEffects),
  *run(input, plan) {
    const running: Running = { plan, handles: [], heard: [], over: false };
    yield* all(running, Array.isArray(input) ? (input as unknown as readonly PlanOp[]) : []);
  },
});

interface Running {
  readonly plan: PlanContext;
  readonly handles: EffectHandle<Value>[];
  readonly heard: Value[];
  over: boolean;
}

function* all(running: Running, ops: readonly PlanOp[]): PlanBody {
  for (const op of ops) {
    if (running.over) return;
    if (op.do === 'try') yield* attempt(running, op.ops);
    else if ('of' in op && op.do !== 'cancel') yield* wait(running, op);
    else yield* act(running, op);
  }
}

function* attempt(running: Running, ops: readonly PlanOp[]): PlanBody {
  try {
    yield* all(running, ops);
  } catch {
    running.heard.push('swallowed');
  }
}

type Waiting = Extract<PlanOp, { do: 'one' | 'any' | 'all' }>;

function* wait(running: Running, op: Waiting): PlanBody {
  const { plan, handles, heard } = running;
  if (handles.length === 0) return;
  const options = op.within === null ? {} : { within: op.within };
  const chosen = (typeof op.of === 'number' ? [op.of] : op.of).map(
    (n) => handles[n % handles.length] as EffectHandle<Value>,
  );
  if (op.do === 'one') {
    const receipt = yield* plan.awaitReceipt(chosen[0] as EffectHandle<Value>, options as { within: number });
    heard.push(receipt === null ? 'late' : summary(receipt));
  } else if (op.do === 'any') {
    const first = yield* plan.awaitAny(chosen, options);
    heard.push(first === null ? 'late' : [first.handle.emission, summary(first.receipt)]);
  } else {
    const receipts = yield* plan.awaitAll(chosen, options);
    heard.push(receipts === null ? 'late' : receipts.map(summary));
  }
}

function* act(running: Running, op: Exclude<PlanOp, Waiting | { do: 'try' }>): PlanBody {
  const { plan, handles, heard } = running;
  switch (op.do) {
    case 'effect': {
      const options = op.timeout_ms === null ? {} : { timeoutMs: op.timeout_ms };
      handles.push(plan.emitEffect(programEffects[op.kind], { answer: op.answer, n: handles.length }, options));
      return;
    }
    case 'retry': {
      const params = { answer: op.answer, n: -1 };
      const receipt = yield* plan.retry(programEffects[op.kind], params, {
        max: op.max,
        on: ({ status }) => status !== 'ok',
      });
      heard.push(summary(receipt));
      return;
    }
    case 'peek':
      heard.push(yield* plan.peek(op.at));
      return;
    case 'cancel':
      if (handles.length > 0) plan.cancel(handles[op.of % handles.length] as EffectHandle);
      return;
    case 'raise':
      return plan.raiseEvent({ name: PROGRAM_EVENTS.ran, value: { ops: op.ops, payload: op.payload } });
    case 'tell':
      return plan.raiseEvent({ name: PROGRAM_EVENTS.told, value: { heard: [...heard, plan.now] } });
    case 'throw':
      throw new TypeError('thrown by the program');
    case 'again':
      plan.continueAs(op.plan);
      running.over = true;
      return;
    case 'stop':
      running.over = true;
      return;
    case 'wrong':
      return yield* wrong(plan, op.what);
    default:
      return op satisfies never;
  }
}

function* wrong(plan: PlanContext, what: Extract<PlanOp, { do: 'wrong' }>['what']): PlanBody {
  const effect = programEffects['law.again@1'];
  switch (what) {
    case 'params':
      plan.emitEffect(effect, Number.NaN);
      return;
    case 'event':
      return plan.raiseEvent({ name: 'law/Nobody@1', value: {} });
    case 'effect':
      plan.emitEffect(undeclared, {});
      return;
    case 'within':
      yield* plan.awaitReceipt(plan.emitEffect(effect, {}), { within: 0.5 });
      return;
    case 'yield':
      yield { for: 'one', emissions: [0], until: Number.NaN };
      return;
    case 'deep': {
      let deep: Value = [];
      for (let i = 1; i < 48; i++) deep = [deep];
      plan.emitEffect(effect, deep);
      return;
    }
    default:
      what satisfies never;
  }
}

/** The part of a receipt that a plan keeps: large payloads would exceed its bounds. */
function summary(receipt: { readonly status: string; readonly payload?: unknown }): Value {
  const payload = receipt.payload as Value | undefined;
  return [receipt.status, typeof payload === 'object' ? null : (payload ?? null)];
}
