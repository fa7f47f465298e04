/** A world to fork: cells that do what they are told, effects of every guarantee, and adapters that count. */
import type { PolicyRule, Value } from '@reprise/contracts';
import * as z from 'zod';
import {
  type AnyAdapter,
  defineEffect,
  type ForkOptions,
  memory,
  type OpenKernelWorldOptions,
  openKernelWorld,
  type Store,
  type World,
} from '../../../src/index.js';
import { again, lab, once, tellCell } from '../../support/lab.js';
import { nativeHash } from '../../support/laws/run-schedule.js';
import { outside } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';

/** An effect that costs. */
export const costly = defineEffect({
  kind: 'lab.costly@1',
  params: z.strictObject({ tokens: z.int().min(0) }),
  receipt: z.strictObject({ got: z.int() }),
  reserves: { tokens: 'tokens' },
});

/** The app: plans that replay one effect, or two after one another, and tell their cell. */
export const { app } = lab(
  {
    *once(input, plan) {
      const { status, code, payload } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
      tellCell(plan, 'once', [status, code ?? null, (payload ?? null) as Value]);
    },
    *again(input, plan) {
      const { status, payload } = yield* plan.awaitReceipt(plan.emitEffect(again, input));
      tellCell(plan, 'again', [status, (payload ?? null) as Value]);
    },
    *silent(_input, plan) {
      yield* plan.awaitReceipt(plan.emitEffect(once, 'the same for all'));
    },
    *brief(input, plan) {
      const { status } = yield* plan.awaitReceipt(plan.emitEffect(again, input, { timeoutMs: 500 }));
      tellCell(plan, 'brief', status);
    },
    *twice(input, plan) {
      const first = yield* plan.awaitReceipt(plan.emitEffect(once, [input, 1]));
      const second = yield* plan.awaitReceipt(plan.emitEffect(once, [input, 2]));
      tellCell(plan, 'twice', [first.status, second.status]);
    },
    *stopping(input, plan) {
      const first = plan.emitEffect(once, input);
      yield* plan.awaitReceipt(plan.emitEffect(again, input));
      plan.cancel(first);
      const { status } = yield* plan.awaitReceipt(first);
      tellCell(plan, 'stopping', status);
    },
    *choosing(_input, plan) {
      const first = plan.emitEffect(once, 'perhaps');
      yield* plan.awaitReceipt(plan.emitEffect(costly, { tokens: 1 }));
      plan.cancel(first);
      const { status } = yield* plan.awaitReceipt(first);
      tellCell(plan, 'choosing', status);
    },
    *costly(input, plan) {
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(costly, input as never));
      tellCell(plan, 'costly', [status, code ?? null]);
    },
  },
  [costly],
);

/** Adapters of all effects, in the hands of the test. */
export function outsides() {
  return [outside(once), outside(again), outside(costly)] as const;
}

/** A world to fork, and what opens forks of it. */
export interface Given {
  readonly clock: TestClock;
  readonly store: Store;
  readonly adapters: ReturnType<typeof outsides>;
  readonly world: World;
}

/** Opens a world that works by itself. */
export async function given(
  policy?: readonly PolicyRule[],
  store: Store = memory({ hash: nativeHash }),
): Promise<Given> {
  const clock = new TestClock();
  const adapters = outsides();
  const more = policy === undefined ? {} : { policy };
  const world = await openKernelWorld({ store, app, clock, adapters, recheckEvery: 1, ...more });
  return { clock, store, adapters, world };
}

/** A fork, open, with adapters that nobody may ask when it is dry. */
export interface Forked {
  readonly store: Store;
  readonly fork: World;
  readonly adapters: ReturnType<typeof outsides>;
  /** How often anything outside was asked. */
  calls(): number;
}

/** Forks a world and opens the fork. */
export async function forked(
  world: World,
  options: Omit<ForkOptions, 'into'> = {},
  open: Partial<OpenKernelWorldOptions> = {},
): Promise<Forked> {
  const store = memory({ hash: nativeHash });
  await world.fork({ ...options, into: store });
  const adapters = outsides();
  const work = { clock: new TestClock(), adapters: [...adapters] as readonly AnyAdapter[], recheckEvery: 1 };
  const fork = await openKernelWorld({ store, app, ...work, ...open });
  return { store, fork, adapters, calls: () => adapters.reduce((sum, { calls }) => sum + calls.length, 0) };
}
