import { value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import {
  anySchedule,
  deafReducer,
  programApp,
  programEffects,
  programReducer,
  type ScheduleStep,
} from '../../../../../testkit/src/arbitraries/index.js';
import {
  type App,
  defineApp,
  definePlan,
  type PlanDefinition,
  type ReducerDefinition,
  verifyStore,
} from '../../../../src/index.js';
import { hold, rerun, SEED } from '../../../support/laws/hold.js';
import { type RandomWorld, runSchedule } from '../../../support/laws/run-schedule.js';
import { refusalOf } from '../../../support/laws/world-laws.js';

const cell = [programReducer.name, 'a'] as [string, string];

type Draft = { list: unknown[]; bag: Record<string, unknown> };

/** An app whose reducer writes something more, each time that it is called. */
function also(more: (draft: Draft, calls: number) => unknown): () => App {
  return () => {
    let calls = 0;
    const reducer: ReducerDefinition = {
      ...programReducer,
      reduce: (given, event, ctx) => {
        programReducer.reduce(given, event, ctx);
        const draft = given as Draft;
        draft.bag.more = more(draft, calls++);
      },
    };
    return defineApp({ reducers: [reducer, deafReducer], plans: [...programApp.plans.values()] });
  };
}

/** An app whose plan emits what a variable outside says. */
function impurePlan(next: () => number): () => App {
  const plan: PlanDefinition = definePlan({
    name: 'law/program_plan@1',
    input: value(),
    effects: Object.values(programEffects),
    *run(_input, context) {
      yield* context.awaitReceipt(
        context.emitEffect(programEffects['law.again@1'], { answer: { status: 'ok', payload: 1 }, n: next() }),
      );
    },
  }) as PlanDefinition;
  return () => defineApp({ reducers: [programReducer, deafReducer], plans: [plan] });
}

/** Three requests; each starts a plan. */
const three = Array.from({ length: 3 }, () => ({
  step: 'request',
  to: cell,
  creates: true,
  ops: [{ do: 'emit', plan: [{ do: 'effect', kind: 'law.again@1', answer: 'hang', timeout_ms: null }] }],
  payload: { text: 'x' },
})) as unknown as readonly ScheduleStep[];

let captured = 0;
const remembered: unknown[] = [];

const IMPURE: readonly (readonly [string, () => App])[] = [
  ['a captured counter', also((_, n) => n)],
  ['the clock', also(() => performance.now())],
  ['chance', also(() => Math.random())],
  [
    'an object kept from the delivery before',
    also(({ list }) => {
      remembered.push(list);
      return remembered.length;
    }),
  ],
  ['a counter in a plan', impurePlan(() => captured++)],
];

describe(`a world that folds every frame twice (seed ${SEED})`, () => {
  it('the second fold never blames a pure program [DET-6]', async () => {
    const law = fc.asyncProperty(anySchedule(), async (schedule) => {
      const { refusals } = await runSchedule(schedule, { recheckEvery: 1 });
      expect(refusals.get('nondeterminism')).toBeUndefined();
      expect(refusals.get('internal_error')).toBeUndefined();
    });
    await hold(law, { numRuns: 100 / stepOf(4), command: rerun('purity.test.ts') });
  });

  it.each(IMPURE)('a request is refused when the app depends on %s [DET-6]', async (_, app) => {
    const run = await runSchedule(three, { app: app(), recheckEvery: 1 });
    expect(run.refusals.get('nondeterminism')).toBe(3);
    expect(run.acks).toHaveLength(0);
    await expectVerified(run, programApp);
  });

  it.each(IMPURE)(
    'without the second fold, verification names the first frame that depends on %s [DET-8]',
    async (_, app) => {
      const written = app();
      const run = await runSchedule(three, { app: written, recheckEvery: 0 });
      expect(run.refusals.size).toBe(0);
      const refusal = await refusalOf(verifyStore(await run.store.openReadonly(), { app: written }));
      expect(refusal?.code).toBe('replay_divergence');
      expect(refusal?.details.where).toMatch(/^frame [1-3], record \d/);
      await expectVerified(run, undefined);
    },
  );
});

async function expectVerified({ store }: RandomWorld, app: App | undefined): Promise<void> {
  await verifyStore(await store.openReadonly(), app === undefined ? {} : { app });
}
