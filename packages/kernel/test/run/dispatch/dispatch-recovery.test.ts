import { describe, expect, it } from 'vitest';
import { type EffectDefinition, openKernelWorld, type Reconciliation } from '../../../src/index.js';
import { crashable } from '../../support/crashable-store.js';
import { faultyStore } from '../../support/faulty-store.js';
import { closeSound, isPending, recordsOf, until } from '../../support/judge.js';
import { again, ask, asked, cancel, lab, once, seen, start, tellCell } from '../../support/lab.js';
import { type Outside, ok, outside } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';

const { app } = lab({
  *once(input, plan) {
    const { status, attempts } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'got', [status, attempts]);
  },
  *again(input, plan) {
    const { status, attempts } = yield* plan.awaitReceipt(plan.emitEffect(again, input));
    tellCell(plan, 'got', [status, attempts]);
  },
  *asked(input, plan) {
    const { status, attempts } = yield* plan.awaitReceipt(plan.emitEffect(asked, input));
    tellCell(plan, 'got', [status, attempts]);
  },
});

const KINDS = { once, again, asked } as const;
type Plan = keyof typeof KINDS;

/** A world whose process died while an effect ran in each of these cells. */
async function diedRunning(effect: EffectDefinition, plan: Plan, cells: readonly string[], stop = false) {
  const clock = new TestClock();
  const store = crashable();
  const first = outside(effect);
  const dying = await openKernelWorld({ store, app, clock, adapters: [first] });
  for (const [i, key] of cells.entries()) {
    await ask(dying, key, [start(plan, i)]);
    await first.call(i);
    if (stop) await ask(dying, key, [cancel('all')]);
  }
  await store.crash();
  const second = outside(effect);
  const open = () => openKernelWorld({ store, app, clock, recheckEvery: 1, adapters: [second] });
  return { clock, store, second, open };
}

describe('given an adapter that is asked after a crash', () => {
  it('an adapter that does not answer is stopped after half a minute, and the outcome is unknown [EFF-10]', async () => {
    const { clock, store, second, open } = await diedRunning(asked, 'asked', ['x']);
    let told: AbortSignal | undefined;
    second.doReconcile = (_params, { signal }) => {
      told = signal;
      return new Promise(() => undefined);
    };
    const opening = open();
    await until(() => told !== undefined, 'the question');
    clock.advance(29_999);
    expect(await isPending(opening)).toBe(true);
    expect(told?.aborted).toBe(false);
    clock.advance(1);
    const world = await opening;
    expect(told?.aborted).toBe(true);
    expect(await seen(world, 'x')).toEqual(['got=["outcome_unknown",1]']);
    expect(second.calls).toEqual([]);
    await closeSound(world, store, app);
  });

  it('an adapter is asked about all open effects at once, and they are settled in the order of emission', async () => {
    const { store, second, open } = await diedRunning(asked, 'asked', ['a', 'b', 'c']);
    const answers: ((answer: Reconciliation) => void)[] = [];
    second.doReconcile = () => new Promise((resolve) => answers.push(resolve));
    const opening = open();
    await until(() => answers.length === 3, 'three questions');
    for (const answer of [...answers].reverse()) answer({ verdict: 'happened', outcome: ok({ got: 1 }) });
    const world = await opening;
    const emitted = (await recordsOf(store, 'effect')).map(({ effect }) => effect);
    expect((await recordsOf(store, 'receipt')).map(({ effect }) => effect)).toEqual(emitted);
    await closeSound(world, store, app);
  });

  const nonsense: readonly (readonly [string, unknown])[] = [
    ['that it happened, and no more', { verdict: 'happened' }],
    ['that it happened, with an invalid outcome', { verdict: 'happened', outcome: { status: 'fine' } }],
    ['that it happened, with an outcome of null', { verdict: 'happened', outcome: null }],
    ['text', 'happened'],
    ['null', null],
    [
      'something that cannot be read',
      Object.defineProperty({}, 'verdict', {
        get: () => {
          throw new Error('no');
        },
      }),
    ],
  ];
  it.each(nonsense)(
    'an answer of %s leaves the outcome unknown, and nothing is executed [EFF-10]',
    async (_what, answer) => {
      const { store, second, open } = await diedRunning(asked, 'asked', ['x']);
      second.doReconcile = async () => answer as Reconciliation;
      const world = await open();
      await world.pump();
      expect(await seen(world, 'x')).toEqual(['got=["outcome_unknown",1]']);
      expect(second.calls).toEqual([]);
      await closeSound(world, store, app);
    },
  );
});

describe('given an effect that was asked to stop before its process died', () => {
  const verdicts: readonly (readonly [string, Plan, Outside['verdict'], string])[] = [
    ['idempotent', 'again', undefined, 'cancelled'],
    ['at_most_once', 'once', undefined, 'outcome_unknown'],
    ['reconcile and cannot happen', 'asked', { verdict: 'cannot_happen' }, 'cancelled'],
    ['reconcile and nobody knows', 'asked', { verdict: 'unknown' }, 'outcome_unknown'],
    ['reconcile and happened', 'asked', { verdict: 'happened', outcome: ok({ got: 1 }) }, 'ok'],
  ];
  it.each(verdicts)(
    'an effect of the class %s is settled and not executed again [EFF-11]',
    async (_what, plan, verdict, status) => {
      const { store, second, open } = await diedRunning(KINDS[plan], plan, ['x'], true);
      second.verdict = verdict;
      second.answerAll(() => ok({ got: 'second' }));
      const world = await open();
      await world.pump();
      expect(second.calls).toEqual([]);
      expect(await world.openEffects()).toEqual([]);
      expect((await recordsOf(store, 'receipt')).map(({ receipt }) => receipt.status)).toEqual([status]);
      await closeSound(world, store, app);
    },
  );
});

describe('given an effect whose attempt becomes durable after closing began', () => {
  const classes: readonly (readonly [Plan, string])[] = [
    ['once', 'got=["cancelled",1]'], // it is known not to have happened, and the next open could not know it any more
    ['asked', 'got=["cancelled",1]'],
    ['again', 'got=["ok",2]'], // may be offered again, so the plan loses nothing
  ];
  it.each(classes)(
    'a plan of the class %s gets a true outcome and its effect does not start: %s [EFF-21]',
    async (plan, told) => {
      const store = faultyStore(crashable());
      const clock = new TestClock();
      const first = outside(KINDS[plan]);
      const world = await openKernelWorld({ store, app, clock, adapters: [first] });
      let land = (): void => undefined;
      store.slow = new Promise<void>((resolve) => {
        land = resolve;
      });
      const asking = ask(world, 'x', [start(plan)]);
      expect(await isPending(asking)).toBe(true);
      const closing = world.close();
      store.slow = undefined;
      land();
      await asking;
      await closing;
      expect(first.calls).toEqual([]);
      const second = outside(KINDS[plan]);
      second.verdict = { verdict: 'unknown' };
      second.answerAll(() => ok({ got: 1 }));
      const reopened = await openKernelWorld({ store, app, clock, recheckEvery: 1, adapters: [second] });
      await reopened.pump();
      expect(await seen(reopened, 'x')).toEqual([told]);
      await closeSound(reopened, store, app);
    },
  );
});
