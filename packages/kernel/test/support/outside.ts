import type { Value } from '@reprise/contracts';
import type { Adapter, AdapterContext, AdapterOutcome, EffectDefinition, Reconciliation } from '../../src/index.js';

/** One requested execution of an effect. */
export interface Call {
  readonly params: Value;
  readonly context: AdapterContext;
  /** Answers it. */
  answer(outcome: AdapterOutcome | unknown): void;
  /** The adapter breaks. */
  break(error: unknown): void;
}

/** The outside, as a test plays it: every execution waits here until the test answers it. */
export interface Outside extends Adapter {
  /** Executions so far, answered or not. */
  readonly calls: Call[];
  /** The verdict of the adapter after a crash. */
  verdict: Reconciliation | (() => never) | undefined;
  /** The number of such questions. */
  asked: number;
  /** Resolves with the nth execution, counted from 0, as soon as it exists. */
  call(n: number): Promise<Call>;
  /** From now on every execution is answered at once. */
  answerAll(with_: (params: Value) => AdapterOutcome): void;
}

/** An adapter in the hands of a test. */
export function outside(effect: EffectDefinition, options: { name?: string; concurrency?: number } = {}): Outside {
  const calls: Call[] = [];
  const watchers = new Set<() => void>();
  let automatic: ((params: Value) => AdapterOutcome) | undefined;
  const self: Outside = {
    effect: effect as EffectDefinition<Value, Value>,
    name: options.name ?? `outside of ${effect.name}`,
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    calls,
    verdict: undefined,
    asked: 0,
    doExecute: (params, context) =>
      new Promise<AdapterOutcome>((resolve, reject) => {
        calls.push({ params, context, answer: (outcome) => resolve(outcome as AdapterOutcome), break: reject });
        if (automatic !== undefined) resolve(automatic(params));
        for (const watcher of [...watchers]) watcher();
      }),
    doReconcile: async () => {
      self.asked++;
      if (typeof self.verdict === 'function') return self.verdict();
      return self.verdict ?? { verdict: 'unknown' };
    },
    call: async (n) => {
      while (calls[n] === undefined) {
        await new Promise<void>((resolve) => {
          watchers.add(resolve);
        });
        watchers.clear();
      }
      return calls[n];
    },
    answerAll: (with_) => {
      automatic = with_;
      for (const { params, answer } of calls) answer(with_(params));
    },
  };
  return self;
}

/** An outcome that carries a value. */
export function ok(payload: Value): AdapterOutcome {
  return { status: 'ok', payload };
}
