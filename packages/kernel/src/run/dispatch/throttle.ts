import type { AdapterOutcome, AnyAdapter, Deferred } from '../../ports/adapter/adapter.js';
import type { Tenure } from '../../ports/store/tenure.js';

/**
 * Admits effects one by one, as shared limits allow. A world asks it after an effect was armed and before its adapter
 * is called.
 */
export interface Throttle {
  /**
   * Waits until an effect of this kind may be executed.
   *
   * Contract: resolves with a function to call when the adapter has ended, or with undefined when `signal` aborted
   * first; never rejects.
   */
  enter(kind: string, signal: AbortSignal): Promise<(() => void) | undefined>;
}

/**
 * The same adapter behind a throttle. An effect that is told to stop while it waits is `cancelled`, and so is one whose
 * opening has lost its store meanwhile: it may not start any more (dispatcher/A6), and its receipt is written by nobody.
 */
export function throttled(adapter: AnyAdapter, throttle: Throttle, tenure?: Tenure): AnyAdapter {
  const { effect, name, concurrency } = adapter;
  return {
    effect,
    name,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(adapter.doReconcile === undefined ? {} : { doReconcile: adapter.doReconcile.bind(adapter) }),
    doExecute: async (params, context): Promise<AdapterOutcome | Deferred> => {
      const leave = await throttle.enter(effect.name, context.signal);
      if (leave === undefined) return { status: 'cancelled' };
      try {
        if (tenure?.holds() === false) return { status: 'cancelled' };
        return await adapter.doExecute(params, context);
      } finally {
        leave();
      }
    },
  };
}
