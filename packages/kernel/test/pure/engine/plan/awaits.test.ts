import type { Value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { memory, openKernelWorld, type PlanContext } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, lastFrame, recordsOf, until } from '../../../support/judge.js';
import {
  add,
  again,
  ask,
  type Body,
  cancel,
  cell,
  type Lab,
  lab,
  numberOf,
  once,
  type Step,
  seen,
  start,
  tellCell,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

/** A plan that does something and ends without waiting. */
const atOnce = (act: (plan: PlanContext) => void): Body =>
  function* (_input, plan) {
    act(plan);
    yield* plan.awaitAll([]);
  };

const CONFIRM: Step = ['when', 'ask', [['add', 10]]];

async function given(
  bodies: Readonly<Record<string, Body>>,
  options: Partial<Parameters<typeof openKernelWorld>[0]> = {},
) {
  const made: Lab = lab(bodies);
  const store = memory();
  const clock = new TestClock();
  const adapter = outside(once);
  const world = await openKernelWorld({
    store,
    app: made.app,
    clock,
    recheckEvery: 1,
    adapters: [adapter],
    ...options,
  });
  return { store, clock, adapter, world, app: made.app };
}

describe('given several effects', () => {
  const any: Body = function* (_input, plan) {
    const handles = [1, 2, 3].map((n) => plan.emitEffect(once, n));
    const order: Value[] = [];
    let left = handles;
    while (left.length > 0) {
      const first = yield* plan.awaitAny(left);
      if (first === null) return;
      order.push(first.handle.emission);
      left = left.filter(({ emission }) => emission !== first.handle.emission);
    }
    tellCell(plan, 'order', order);
  };

  it('awaiting any effect returns the first receipt in the order of the journal [PLAN-4]', async () => {
    const { store, adapter, world, app } = await given({ any });
    await ask(world, 'x', [start('any')]);
    await adapter.call(2);
    for (const n of [1, 2, 0]) {
      adapter.calls[n]?.answer(ok({ got: n }));
      await until(async () => (await recordsOf(store, 'receipt')).length > [1, 2, 0].indexOf(n));
    }
    expect(await seen(world, 'x')).toEqual(['order=[1,2,0]']);
    await closeSound(world, store, app);
  });

  it('awaiting any effect returns the earliest receipt when several are there already [PLAN-4]', async () => {
    const { store, adapter, world, app } = await given({
      *late(_input, plan) {
        const handles = [1, 2, 3].map((n) => plan.emitEffect(once, n));
        yield* plan.awaitReceipt(handles[2] as never);
        const first = yield* plan.awaitAny(handles.slice(0, 2));
        tellCell(plan, 'first', first?.handle.emission ?? null);
      },
    });
    await ask(world, 'x', [start('late')]);
    await adapter.call(2);
    for (const [i, n] of [1, 0, 2].entries()) {
      adapter.calls[n]?.answer(ok({ got: n }));
      await until(async () => (await recordsOf(store, 'receipt')).length > i);
    }
    expect(await seen(world, 'x')).toEqual(['first=1']);
    await closeSound(world, store, app);
  });

  it('awaiting all effects returns their receipts in the order of the handles [PLAN-5]', async () => {
    const { store, adapter, world, app } = await given({
      *all(_input, plan) {
        const handles = [1, 2, 3].map((n) => plan.emitEffect(once, n));
        const receipts = yield* plan.awaitAll([...handles].reverse());
        tellCell(plan, 'got', receipts?.map(({ payload }) => (payload as { got: Value }).got) ?? null);
        tellCell(plan, 'none', (yield* plan.awaitAll([]))?.length ?? null);
      },
    });
    await ask(world, 'x', [start('all')]);
    await adapter.call(2);
    for (const n of [1, 0, 2]) adapter.calls[n]?.answer(ok({ got: n }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=[2,1,0]', 'none=0']);
    await closeSound(world, store, app);
  });

  it('awaiting an effect that has returned before gives its receipt at once [PLAN-3]', async () => {
    const { store, adapter, world, app } = await given({
      *twice(_input, plan) {
        const handle = plan.emitEffect(once, 1);
        const first = yield* plan.awaitReceipt(handle);
        const second = yield* plan.awaitReceipt(handle);
        const [third] = (yield* plan.awaitAll([handle, handle])) ?? [];
        const fourth = yield* plan.awaitAny([handle], { within: 5 });
        tellCell(
          plan,
          'same',
          [first, second, third, fourth?.receipt].map((receipt) => receipt?.status ?? null),
        );
      },
    });
    await ask(world, 'x', [start('twice')]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['same=["ok","ok","ok","ok"]']);
    await closeSound(world, store, app);
  });
});

describe('given an await with a deadline', () => {
  const patient: Body = function* (_input, plan) {
    const handle = plan.emitEffect(once, 1);
    const first = yield* plan.awaitReceipt(handle, { within: 100 });
    tellCell(plan, 'at the deadline', [first === null, plan.now % 1_000]);
    const second = yield* plan.awaitReceipt(handle);
    tellCell(plan, 'later', second.status);
  };

  it('a deadline that comes first leaves the effect open, and its receipt can be awaited later [DET-1, PLAN-6]', async () => {
    const { store, clock, adapter, world, app } = await given({ patient });
    await ask(world, 'x', [start('patient')]);
    const call = await adapter.call(0);
    clock.advance(100);
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect(call.context.signal.aborted).toBe(false);
    expect(await world.openEffects()).toHaveLength(1);
    call.answer(ok({ got: 1 }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['at the deadline=[true,100]', 'later="ok"']);
    await closeSound(world, store, app);
  });

  it('a plan that ends at its deadline detaches the effect, and the receipt resumes no plan [PLAN-7]', async () => {
    const { store, clock, adapter, world, app } = await given({
      *brief(_input, plan) {
        const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, 1), { within: 100 });
        tellCell(plan, 'got', receipt === null);
      },
    });
    await ask(world, 'x', [start('brief')]);
    const call = await adapter.call(0);
    clock.advance(100);
    await until(async () => (await seen(world, 'x'))?.length === 1);
    call.answer(ok({ got: 1 }));
    await world.pump();
    expect((await lastFrame(store)).map(({ kind }) => kind)).toEqual(['receipt', 'state']);
    expect(await world.openEffects()).toEqual([]);
    await closeSound(world, store, app);
  });

  it('a receipt that comes first removes the deadline of the await [PLAN-6]', async () => {
    const { store, clock, adapter, world, app } = await given({ patient });
    await ask(world, 'x', [start('patient')]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    expect((await world.pump()).nextWakeAt).toBeUndefined();
    expect(await seen(world, 'x')).toEqual(['at the deadline=[false,0]', 'later="ok"']);
    const { head } = world;
    clock.advance(1_000);
    await world.pump();
    expect(world.head).toEqual(head);
    await closeSound(world, store, app);
  });

  it('the plan sees the receipt before the deadline when both fell due while the world was closed', async () => {
    const { app } = lab({ patient });
    const disk = crashable();
    const clock = new TestClock();
    const adapter = outside(once);
    const world = await openKernelWorld({ store: disk, app, clock, adapters: [adapter] });
    await ask(world, 'x', [start('patient')]);
    await adapter.call(0);
    await disk.crash();
    clock.advance(10_000);
    const reopened = await openKernelWorld({ store: disk, app, clock, adapters: [adapter] });
    await reopened.pump();
    expect((await seen(reopened, 'x'))?.map((word) => word.slice(0, 22))).toEqual([
      'at the deadline=[false',
      'later="outcome_unknown"'.slice(0, 22),
    ]);
    await closeSound(reopened, disk, app);
  });

  it('a deadline of 0 ends at once, and without a deadline an await never times out', async () => {
    const { store, clock, adapter, world, app } = await given({
      *now(_input, plan) {
        const handle = plan.emitEffect(once, 1);
        tellCell(plan, 'at once', (yield* plan.awaitReceipt(handle, { within: 0 })) === null);
        yield* plan.awaitReceipt(handle);
      },
    });
    await ask(world, 'x', [start('now')]);
    expect(await seen(world, 'x')).toEqual(['at once=true']);
    clock.advance(1_000_000_000);
    expect((await world.openEffects()).length).toBe(1);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    await closeSound(world, store, app);
  });
});

describe('given a plan that peeks at a cell', () => {
  it('a peek returns the state of its own frame, and a rebuilt plan sees the same [PLAN-8]', async () => {
    const { store, adapter, world, app } = await given({
      *look(_input, plan) {
        const before = yield* plan.peek(plan.cell);
        yield* plan.awaitReceipt(plan.emitEffect(once, 1));
        const after = yield* plan.peek(plan.cell);
        const absent = yield* plan.peek(cell('nobody'));
        tellCell(plan, 'peeked', [numberIn(before), numberIn(after), absent]);
      },
    });
    await ask(world, 'x', [add(1), start('look'), add(1)]);
    await ask(world, 'x', [add(5)]);
    await world.snapshot();
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await ask(world, 'x', [add(100)]);
    await until(async () => (await seen(world, 'x'))?.length === 1);
    const [peeked] = (await seen(world, 'x')) ?? [];
    expect(['peeked=[2,7,null]', 'peeked=[2,107,null]']).toContain(peeked);
    await closeSound(world, store, app);
  });

  it('a plan that peeks without awaiting an effect is ended by its bound', async () => {
    const { store, world, app } = await given({
      *endless(_input, plan) {
        for (;;) yield* plan.peek(plan.cell);
      },
    });
    await ask(world, 'x', [start('endless')]);
    expect(['PlanFailed plan_awaits_exceeded', 'PlanFailed plan_too_large']).toContain((await seen(world, 'x'))?.[0]);
    await closeSound(world, store, app);
  });

  function numberIn(state: Value): Value {
    return (state as { n: number }).n;
  }
});

describe('given a plan of many awaits', () => {
  it('a plan with 256 awaits continues, and one more await ends it in error [PLAN-12]', async () => {
    const { store, adapter, world, app } = await given(
      {
        *many(input, plan) {
          for (let i = 0; i < Number(input); i++) yield* plan.awaitReceipt(plan.emitEffect(once, i));
          tellCell(plan, 'done', input);
        },
      },
      { recheckEvery: 16 },
    );
    adapter.answerAll(() => ok({ got: 1 }));
    await ask(world, 'x', [start('many', 256)]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['done=256']);
    await ask(world, 'y', [start('many', 257)]);
    await world.pump();
    expect(await seen(world, 'y')).toEqual(['PlanFailed plan_awaits_exceeded']);
    await closeSound(world, store, app);
  });

  it('each fresh instance of a plan has its own ordinal, and its effects have new identities [PLAN-9, PLAN-12]', async () => {
    const { store, adapter, world, app } = await given({
      *chain(input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(once, 'same'));
        const left = Number(input) - 1;
        if (left > 0) return plan.continueAs(left);
        tellCell(plan, 'done', plan.now);
      },
    });
    adapter.answerAll(() => ok({ got: 1 }));
    await ask(world, 'x', [start('chain', 5)]);
    await world.pump();
    const intents = await recordsOf(store, 'intent');
    expect(intents.map(({ plan, input }) => [plan[2], input])).toEqual([
      [0, 5],
      [1, 4],
      [2, 3],
      [3, 2],
      [4, 1],
    ]);
    expect(new Set((await recordsOf(store, 'effect')).map(({ effect }) => effect)).size).toBe(5);
    expect((await recordsOf(store, 'plan_ended')).map(({ status }) => status)).toEqual(Array(5).fill('ok'));
    await closeSound(world, store, app);
  });

  it('the old instance ends in error when the fresh one gets an input of another shape', async () => {
    const { store, world, app } = await given({
      // biome-ignore lint/correctness/useYield: it goes on as another before it waits
      *wrong(_input, plan) {
        plan.continueAs(undefined);
      },
    });
    await ask(world, 'x', [start('wrong')]);
    expect(await seen(world, 'x')).toEqual(['PlanFailed value_invalid']);
    await closeSound(world, store, app);
  });
});

describe('given a plan that retries', () => {
  it('each retry is a new effect, up to the maximum, and the plan gets the last outcome [PLAN-13]', async () => {
    const { store, adapter, world, app } = await given({
      *retry(input, plan) {
        const receipt = yield* plan.retry(once, input, { max: 3, on: ({ status }) => status === 'error' });
        tellCell(plan, 'got', receipt.status);
      },
    });
    adapter.answerAll(() => ({ status: 'error', code: 'provider_error_retryable' }));
    await ask(world, 'x', [start('retry', 1)]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got="error"']);
    expect(new Set(adapter.calls.map(({ context }) => context.idempotencyKey)).size).toBe(3);
    await closeSound(world, store, app);
  });
});

describe('given a plan that breaks the rules of plans', () => {
  const wrong: readonly (readonly [string, Body, string])[] = [
    [
      'awaits an effect of nobody',
      function* (_input, plan) {
        yield* plan.awaitReceipt({ emission: 7 });
      },
      'effect_unknown',
    ],
    [
      'awaits an invalid handle',
      function* (_input, plan) {
        yield* plan.awaitReceipt({} as never);
      },
      'effect_unknown',
    ],
    [
      'awaits any of none',
      function* (_input, plan) {
        yield* plan.awaitAny([]);
      },
      'effect_unknown',
    ],
    [
      'emits an effect that it does not declare',
      function* (_input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect({ ...once, name: 'lab.other@1' }, 1));
      },
      'effect_unknown',
    ],
    [
      'emits nothing',
      function* (_input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(undefined as never, 1));
      },
      'threw',
    ],
    [
      'raises an unknown event',
      atOnce((plan) => {
        raise(plan, { name: 'lab/Other@1', value: {} });
      }),
      'event_unknown',
    ],
    [
      'raises an event of the kernel',
      atOnce((plan) => {
        raise(plan, { name: 'sys/TimerFired@1', value: { name: 'x', due: 1 } });
      }),
      'event_unknown',
    ],
    [
      'raises an event of another shape',
      atOnce((plan) => {
        raise(plan, { name: 'lab/Got@1', value: { what: 1 } });
      }),
      'event_invalid',
    ],
    [
      'raises nothing',
      atOnce((plan) => {
        raise(plan, undefined);
      }),
      'threw',
    ],
    [
      'yields by itself',
      function* () {
        yield 5 as never;
      },
      'value_invalid',
    ],
    [
      'yields nothing',
      function* () {
        yield undefined as never;
      },
      'value_invalid',
    ],
    [
      'yields a wait of its own making',
      function* () {
        yield { for: 'some', emissions: [0], until: null } as never;
      },
      'value_invalid',
    ],
    [
      'yields a wait with an odd time',
      function* (_input, plan) {
        plan.emitEffect(once, 1);
        yield { for: 'one', emissions: [0], until: 1.5 } as never;
      },
      'value_invalid',
    ],
    [
      'peeks at nothing',
      function* (_input, plan) {
        yield* plan.peek(undefined as never);
      },
      'value_invalid',
    ],
    [
      'peeks at what is no address',
      function* (_input, plan) {
        yield* plan.peek([undefined, 'x'] as never);
      },
      'value_invalid',
    ],
    [
      'waits for an invalid time',
      function* (_input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(once, 1), { within: Number.NaN });
      },
      'timer_invalid',
    ],
    [
      'waits beyond all time',
      function* (_input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(once, 1), { within: Number.MAX_SAFE_INTEGER });
      },
      'timer_invalid',
    ],
    [
      'sets an invalid timeout',
      function* (_input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(once, 1, { timeoutMs: -1 }));
      },
      'timer_invalid',
    ],
    [
      'sets a timeout beyond all time',
      function* (_input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(once, 1, { timeoutMs: Number.MAX_SAFE_INTEGER }));
      },
      'timer_invalid',
    ],
    ['is no generator', (() => undefined) as never, 'threw'],
    [
      'returns an async generator',
      (() =>
        // biome-ignore lint/correctness/useYield: it rejects before it could
        (async function* () {
          throw new Error('later');
        })()) as never,
      'value_invalid',
    ],
    [
      'cancels nothing',
      atOnce((plan) => {
        plan.cancel(undefined as never);
      }),
      'threw',
    ],
    [
      'writes its cell',
      atOnce((plan) => {
        (plan.cell as string[])[1] = 'other';
      }),
      'threw',
    ],
  ];
  it.each(wrong)(
    'a plan that %s ends in error, as data, and its effects never start [PLAN-10, PLAN-11]',
    async (_what, body, code) => {
      const { store, adapter, world, app } = await given({ wrong: body });
      await ask(world, 'x', [start('wrong')]);
      await world.pump();
      expect(await seen(world, 'x')).toEqual([`PlanFailed ${code}`]);
      expect(adapter.calls).toEqual([]);
      await ask(world, 'x', [add(1)]);
      await closeSound(world, store, app);
    },
  );

  function raise(plan: PlanContext, event: unknown): void {
    plan.raiseEvent(event as never);
  }

  it('a plan that cancels an unknown effect changes nothing', async () => {
    const { store, world, app } = await given({
      // biome-ignore lint/correctness/useYield: it ends at once
      *odd(_input, plan) {
        plan.cancel({ emission: 99 });
        tellCell(plan, 'done', 1);
      },
    });
    await ask(world, 'x', [start('odd')]);
    expect(await seen(world, 'x')).toEqual(['done=1']);
    await closeSound(world, store, app);
  });

  it('a plan that catches a refusal and takes another path takes the same path in every rebuild [PLAN-2]', async () => {
    const { store, adapter, world, app } = await given({
      *stubborn(_input, plan) {
        const ways: Value[] = [];
        for (const attempt of [
          () => plan.emitEffect(once, Number.NaN),
          () => plan.raiseEvent({ name: 'lab/Got@1', value: { what: 1 } }),
          () => plan.emitEffect(once, 1, { timeoutMs: -1 }),
          () => plan.continueAs(undefined),
        ]) {
          try {
            attempt();
            ways.push('passed');
          } catch {
            ways.push('caught');
          }
        }
        yield* plan.awaitReceipt(plan.emitEffect(once, ways));
        tellCell(plan, 'ways', ways);
      },
    });
    await ask(world, 'x', [start('stubborn')]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['ways=["caught","caught","caught","caught"]']);
    await closeSound(world, store, app);
  });
});

describe('given a plan with a finally block', () => {
  const tidy: Body = function* (_input, plan) {
    try {
      yield* plan.awaitReceipt(plan.emitEffect(once, 1));
    } finally {
      plan.emitEffect(once, 'tidy');
      tellCell(plan, 'tidied', 1);
    }
  };

  it('a finally block runs when the plan ends by itself [PLAN-14]', async () => {
    const { store, adapter, world, app } = await given({ tidy });
    adapter.answerAll(() => ok({ got: 1 }));
    await ask(world, 'x', [start('tidy')]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['tidied=1']);
    expect(adapter.calls).toHaveLength(2);
    await closeSound(world, store, app);
  });

  it('a finally block does not run when the plan is cancelled or its cell ends [PLAN-14]', async () => {
    for (const stop of [cancel('all'), ['end'] as Step]) {
      const { store, adapter, world, app } = await given({ tidy });
      await ask(world, 'x', [start('tidy')]);
      const call = await adapter.call(0);
      await ask(world, 'x', [stop]);
      call.answer({ status: 'cancelled' });
      await world.pump();
      expect(adapter.calls).toHaveLength(1);
      expect((await recordsOf(store, 'plan_ended')).map(({ status }) => status)).toEqual(['cancelled']);
      await closeSound(world, store, app);
    }
  });
});

describe('given a plan that is rebuilt', () => {
  const long: Body = function* (_input, plan) {
    const story: Value[] = [];
    for (let i = 0; i < 4; i++) {
      const slow = plan.emitEffect(once, i);
      const quick = plan.emitEffect(again, [i, plan.now]);
      const first = yield* plan.awaitAny([slow, quick], { within: 50 });
      story.push([i, first?.handle.emission ?? 'none', plan.now]);
      plan.raiseEvent({ name: 'lab/Got@1', value: { what: 'ask', value: story.length } });
      const state = yield* plan.peek(plan.cell);
      story.push((state as { n: number }).n);
      const second = yield* plan.awaitReceipt(slow);
      story.push(second.status, second.attempts);
      if (i === 2) plan.cancel(quick);
    }
    tellCell(plan, 'story', story);
  };

  async function performed(reopenAt: 'every await' | 'never'): Promise<{ story: string | undefined; records: string }> {
    const { app } = lab({ long });
    const store = memory();
    const clock = new TestClock();
    const random = (length: number) => new Uint8Array(length).fill(9);
    const open = (adapters: readonly ReturnType<typeof outside>[]) =>
      openKernelWorld({ store, app, clock, random, adapters, recheckEvery: 1, drive: 'manual', snapshotEvery: 0 });
    const adapters = () => {
      const pair = [outside(once), outside(again)] as const;
      for (const adapter of pair) adapter.answerAll((params) => ok({ got: params }));
      return pair;
    };
    let world = await open(adapters());
    await ask(world, 'x', [CONFIRM, start('long')], { id: '1' });
    for (let i = 0; i < 60; i++) {
      if (reopenAt === 'every await') {
        await world.close();
        world = await open(adapters());
      }
      await world.pump();
      clock.advance(7);
    }
    const story = (await seen(world, 'x'))?.find((word) => word.startsWith('story'));
    await closeSound(world, store, app);
    const records = JSON.stringify((await recordsOf(store, 'event')).map(({ event }) => event));
    return { story, records };
  }

  it('a plan that is rebuilt at every step does exactly what an undisturbed one does [PLAN-1]', async () => {
    const [calm, disturbed] = [await performed('never'), await performed('every await')];
    expect(calm.story).toContain('story=');
    expect(disturbed).toEqual(calm);
  });

  it('a plan continues from the same await after a snapshot and a crash [PLAN-1]', async () => {
    const { app } = lab({
      *steps(_input, plan) {
        const got: Value[] = [];
        for (let i = 0; i < 3; i++) {
          const receipt = yield* plan.awaitReceipt(plan.emitEffect(again, i));
          got.push((receipt.payload as { got: Value }).got);
        }
        tellCell(plan, 'got', got);
      },
    });
    const disk = crashable();
    for (let i = 0; i < 3; i++) {
      const adapter = outside(again);
      const world = await openKernelWorld({ store: disk, app, adapters: [adapter], recheckEvery: 1 });
      if (i === 0) await ask(world, 'x', [start('steps')]);
      const call = await adapter.call(0);
      expect(call.params).toBe(i);
      await world.snapshot();
      call.answer(ok({ got: `run ${i}` }));
      if (i < 2) await adapter.call(1);
      else await world.pump();
      if (i < 2) await disk.crash();
      else await closeSound(world, disk, app);
      if (i === 2) expect((await recordsOf(disk, 'receipt')).length).toBe(3);
    }
    const last = await openKernelWorld({ store: disk, app, drive: 'manual' });
    expect(await seen(last, 'x')).toEqual(['got=["run 0","run 1","run 2"]']);
    expect(await numberOf(last, 'x')).toBe(0);
    await last.close();
  });
});
