import type { Value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { type Adapter, memory, openKernelWorld, type World } from '../../../src/index.js';
import { crashable } from '../../support/crashable-store.js';
import { faultyStore } from '../../support/faulty-store.js';
import { closeSound, codeOf, framesOf, isPending, lastFrame, recordsOf, until } from '../../support/judge.js';
import {
  add,
  again,
  ask,
  asked,
  cancel,
  end,
  fail,
  lab,
  once,
  type Step,
  seen,
  send,
  start,
  tellCell,
} from '../../support/lab.js';
import { type Outside, ok, outside } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';

const { app } = lab({
  *call(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'got', code === undefined ? status : `${status} ${code}`);
  },
  *callAgain(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(again, input));
    tellCell(plan, 'got', status);
  },
  *callAsked(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(asked, input));
    tellCell(plan, 'got', status);
  },
  *cancelled(input, plan) {
    const handle = plan.emitEffect(once, input);
    plan.cancel(handle);
    const { status, attempts } = yield* plan.awaitReceipt(handle);
    tellCell(plan, 'got', [status, attempts]);
  },
  *emitThenStop(input, plan) {
    plan.emitEffect(once, input);
    tellCell(plan, 'stop', 1);
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
  },
  *several(input, plan) {
    const kinds = [once, again, asked];
    const handles = (input as number[]).map((which, i) => plan.emitEffect(kinds[which] as typeof once, i));
    const receipts = yield* plan.awaitAll(handles);
    tellCell(
      plan,
      'got',
      receipts?.map(({ status, code }) => (code === undefined ? status : `${status} ${code}`)) ?? null,
    );
  },
});

async function given(options: Partial<Parameters<typeof openKernelWorld>[0]> = {}) {
  const store = crashable();
  const clock = new TestClock();
  const adapter = outside(once);
  const world = await openKernelWorld({ store, app, clock, recheckEvery: 1, adapters: [adapter], ...options });
  return { store, clock, adapter, world };
}

function paramsOf(adapter: Outside): Value[] {
  return adapter.calls.map(({ params }) => params);
}

describe('given more effects of a kind than may run at once', () => {
  it('effects start in the order of emission as places become free [EFF-4]', async () => {
    const adapter = outside(once, { concurrency: 2 });
    const { store, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [start('call', 0), start('call', 1), start('call', 2)]);
    await ask(world, 'y', [start('call', 3), start('call', 4)]);
    await adapter.call(1);
    expect(await isPending(adapter.call(2))).toBe(true);
    for (let n = 0; n < 5; n++) {
      (await adapter.call(n)).answer(ok({ got: n }));
      await isPending(Promise.resolve());
      expect(adapter.calls.length).toBe(Math.min(5, n + 3));
    }
    await world.pump();
    expect(paramsOf(adapter)).toEqual([0, 1, 2, 3, 4]);
    await closeSound(world, store, app);
  });

  it('a full kind of effects does not delay another kind [EFF-4]', async () => {
    const [slow, quick] = [outside(once, { concurrency: 1 }), outside(again)];
    quick.answerAll(() => ok({ got: 1 }));
    const { store, world } = await given({ adapters: [slow, quick] });
    await ask(world, 'x', [start('call', 0), start('call', 1)]);
    await ask(world, 'y', [start('callAgain', 0)]);
    await until(async () => (await seen(world, 'y'))?.length === 1);
    expect(slow.calls).toHaveLength(1);
    slow.answerAll(() => ok({ got: 1 }));
    await world.pump();
    await closeSound(world, store, app);
  });

  it('effects that wait through a crash start in the same order, interrupted ones first', async () => {
    const first = outside(again, { concurrency: 1 });
    const { store, world } = await given({ adapters: [first] });
    await ask(world, 'x', [start('callAgain', 0), start('callAgain', 1), start('callAgain', 2)]);
    await first.call(0);
    await store.crash();
    const second = outside(again, { concurrency: 1 });
    second.answerAll(() => ok({ got: 1 }));
    const reopened = await openKernelWorld({ store, app, adapters: [second] });
    await reopened.pump();
    expect(second.calls.map(({ params, context }) => [params, context.attempt])).toEqual([
      [0, 2],
      [1, 1],
      [2, 1],
    ]);
    await closeSound(reopened, store, app);
  });

  it('the order holds under manual drive for effects that were emitted before and after dispatch begins', async () => {
    const adapter = outside(once, { concurrency: 1 });
    adapter.answerAll(() => ok({ got: 1 }));
    const { store, world } = await given({ adapters: [adapter], drive: 'manual' });
    const before = ask(world, 'x', [start('call', 0)]);
    const pumping = world.pump();
    const after = ask(world, 'x', [start('call', 1)]);
    await Promise.all([before, pumping, after]);
    await world.pump();
    expect(paramsOf(adapter)).toEqual([0, 1]);
    await closeSound(world, store, app);
  });
});

describe('given a policy', () => {
  const policies = [
    [
      'denies a kind before it allows all',
      [
        { effect: 'lab.once@1', decision: 'deny' },
        { effect: '*', decision: 'allow' },
      ],
      ['denied policy_denied', 'ok', 'ok'],
    ],
    [
      'allows all before it denies',
      [
        { effect: '*', decision: 'allow' },
        { effect: 'lab.once@1', decision: 'deny' },
      ],
      ['ok', 'ok', 'ok'],
    ],
    [
      'allows a prefix and nothing else',
      [{ effect: 'lab.a*', decision: 'allow' }],
      ['denied policy_denied', 'ok', 'ok'],
    ],
    ['has no rule', [], ['denied policy_denied', 'denied policy_denied', 'denied policy_denied']],
    [
      'has a rule for something else',
      [{ effect: 'lab.onc', decision: 'allow' }],
      ['denied policy_denied', 'denied policy_denied', 'denied policy_denied'],
    ],
  ] as const;
  it.each(policies)(
    'the first match decides when a policy %s, and a refusal is data [GATE-11, GATE-12]',
    async (_what, policy, told) => {
      const adapters = [outside(once), outside(again), outside(asked)];
      for (const adapter of adapters) adapter.answerAll(() => ok({ got: 1 }));
      const { store, world } = await given({ adapters, policy: [...policy] });
      await ask(world, 'x', [start('several', [0, 1, 2])]);
      await world.pump();
      expect(await seen(world, 'x')).toEqual([`got=${JSON.stringify(told)}`]);
      const denied = told.filter((status) => status !== 'ok').length;
      expect(await recordsOf(store, 'denial')).toHaveLength(denied);
      const settled = await recordsOf(store, 'settled');
      expect(settled.map(({ status, code, by }) => [status, code, by])).toEqual(
        Array.from({ length: denied }, () => ['denied', 'policy_denied', 'gate']),
      );
      expect(adapters.flatMap(({ calls }) => calls)).toHaveLength(3 - denied);
      await closeSound(world, store, app);
    },
  );

  it('a world that is reopened without a policy keeps its own', async () => {
    const { store, world } = await given({ policy: [] });
    await world.close();
    const again_ = await openKernelWorld({ store, app });
    await ask(again_, 'x', [start('call')]);
    await again_.pump();
    expect(await seen(again_, 'x')).toEqual(['got="denied policy_denied"']);
    await closeSound(again_, store, app);
  });
});

describe('given effects that are cancelled', () => {
  it('an effect that is cancelled in the step that emits it never starts and has its receipt', async () => {
    const { store, adapter, world } = await given();
    await ask(world, 'x', [start('cancelled')]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=["cancelled",0]']);
    expect(adapter.calls).toEqual([]);
    expect((await recordsOf(store, 'settled')).map(({ status, by }) => [status, by])).toEqual([
      ['cancelled', 'cancel'],
    ]);
    await closeSound(world, store, app);
  });

  it('an effect that its cell cancels in the same frame never starts, and the request is accepted', async () => {
    const { store, adapter, world } = await given();
    await ask(world, 'x', [['when', 'stop', [cancel('all') as unknown as Value]] as Step, start('emitThenStop')]);
    await world.pump();
    expect(adapter.calls).toEqual([]);
    expect(await world.openEffects()).toEqual([]);
    expect((await recordsOf(store, 'plan_ended')).map(({ status }) => status)).toEqual(['cancelled']);
    await closeSound(world, store, app);
  });

  it('a receipt whose frame emits and cancels an effect is not lost', async () => {
    const { app: chained } = lab({
      *first(input, plan) {
        yield* plan.awaitReceipt(plan.emitEffect(once, input));
        plan.emitEffect(once, 'second');
        tellCell(plan, 'stop', 1);
        yield* plan.awaitReceipt(plan.emitEffect(once, 'third'));
      },
    });
    const store = memory();
    const adapter = outside(once);
    const world = await openKernelWorld({ store, app: chained, adapters: [adapter], recheckEvery: 1 });
    await ask(world, 'x', [['when', 'stop', [cancel('all') as unknown as Value]] as Step, start('first')]);
    (await adapter.call(0)).answer(ok({ got: 1 }));
    await world.pump();
    expect(await world.openEffects()).toEqual([]);
    expect(await recordsOf(store, 'receipt')).toHaveLength(1);
    expect(paramsOf(adapter)).toEqual([null]);
    await closeSound(world, store, chained);
  });

  it('a cancel settles a waiting effect, and stops a running one, which is open until its receipt [EFF-19]', async () => {
    const adapter = outside(once, { concurrency: 1 });
    const { store, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [start('call', 0), start('call', 1)]);
    const call = await adapter.call(0);
    await ask(world, 'x', [cancel('all')]);
    expect(call.context.signal.aborted).toBe(true);
    const open = await world.openEffects();
    expect(open.map(({ attempt }) => attempt)).toEqual([1]);
    call.answer(ok({ got: 'finished all the same' }));
    await world.pump();
    expect(await world.openEffects()).toEqual([]);
    expect((await recordsOf(store, 'receipt'))[0]?.receipt.status).toBe('ok');
    expect(await seen(world, 'x')).toEqual([]);
    expect(adapter.calls).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('the end or failure of their cell cancels effects in the same way [EFF-19]', async () => {
    for (const stop of [end(), fail()]) {
      const adapter = outside(once, { concurrency: 1 });
      const { store, world } = await given({ adapters: [adapter] });
      await ask(world, 'x', [start('call', 0), start('call', 1)]);
      const call = await adapter.call(0);
      await ask(world, 'y', [send('x', stop)]);
      expect(call.context.signal.aborted).toBe(true);
      call.answer({ status: 'cancelled' });
      await world.pump();
      expect(await world.openEffects()).toEqual([]);
      expect(adapter.calls).toHaveLength(1);
      await closeSound(world, store, app);
    }
  });

  it('a cancelled effect is not executed again after a crash', async () => {
    const first = outside(again, { concurrency: 1 });
    const { store, world } = await given({ adapters: [first] });
    await ask(world, 'x', [start('callAgain', 0)]);
    await first.call(0);
    await store.crash();
    const second = outside(again, { concurrency: 1 });
    const reopened = await openKernelWorld({ store, app, adapters: [second], drive: 'manual' });
    await ask(reopened, 'x', [cancel('all')]);
    await reopened.pump();
    expect(second.calls).toEqual([]);
    expect(await reopened.openEffects()).toEqual([]);
    expect((await recordsOf(store, 'receipt'))[0]?.receipt.status).toBe('cancelled');
    await closeSound(reopened, store, app);
  });
});

describe('given an effect that is settled', () => {
  it('a second answer of an adapter changes nothing [EFF-13]', async () => {
    const { store, adapter, world } = await given();
    await ask(world, 'x', [start('call')]);
    const call = await adapter.call(0);
    call.answer(ok({ got: 1 }));
    call.answer({ status: 'error', code: 'adapter_error' });
    await world.pump();
    const { head } = world;
    call.break(new Error('late'));
    await world.pump();
    expect(world.head).toEqual(head);
    expect(await seen(world, 'x')).toEqual(['got="ok"']);
    await closeSound(world, store, app);
  });
});

describe('given a world that is drained or closed while effects run', () => {
  const classes = [
    ['an at_most_once effect that throws', 'call', once, 'break', 'outcome_unknown', 0],
    ['an at_most_once effect that finishes', 'call', once, 'finish', 'ok', 0],
    ['an idempotent effect that throws', 'callAgain', again, 'break', 'ok', 1],
    ['an idempotent effect that finishes', 'callAgain', again, 'finish', 'ok', 0],
    ['an effect to be reconciled that throws', 'callAsked', asked, 'break', 'ok', 0],
  ] as const;
  it.each(classes)(
    'closing settles %s now or at the next opening, truthfully [EFF-21]',
    async (...[, plan, effect, how, status, offers]) => {
      const adapter = outside(effect);
      const { store, world } = await given({ adapters: [adapter] });
      await ask(world, 'x', [start(plan, 1)]);
      const call = await adapter.call(0);
      const closing = world.close();
      await until(() => call.context.signal.aborted);
      if (how === 'break') call.break(new Error('stopped'));
      else call.answer(ok({ got: 'finished' }));
      await closing;
      const second = outside(effect);
      second.verdict = { verdict: 'happened', outcome: ok({ got: 'found' }) };
      second.answerAll(() => ok({ got: 'second' }));
      const reopened = await openKernelWorld({ store, app, adapters: [second] });
      await reopened.pump();
      expect(await seen(reopened, 'x')).toEqual([`got="${status}"`]);
      expect(second.calls).toHaveLength(offers);
      await closeSound(reopened, store, app);
    },
  );

  it('a drained world lets running effects finish in time and starts no more [EFF-20]', async () => {
    const adapter = outside(once, { concurrency: 1 });
    const { store, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [start('call', 0), start('call', 1)]);
    const call = await adapter.call(0);
    const draining = world.drain({ within: 1_000 });
    call.answer(ok({ got: 1 }));
    expect(await draining).toEqual({ interrupted: 0 });
    expect(adapter.calls).toHaveLength(1);
    expect(await seen(world, 'x')).toEqual(['got="ok"']);
    await world.close();
    const second = outside(once);
    second.answerAll(() => ok({ got: 2 }));
    const reopened = await openKernelWorld({ store, app, adapters: [second] });
    await reopened.pump();
    expect(paramsOf(second)).toEqual([1]);
    await closeSound(reopened, store, app);
  });

  it('a drained world interrupts and counts the effects that do not finish in time [EFF-20]', async () => {
    const { store, clock, adapter, world } = await given();
    await ask(world, 'x', [start('call', 0)]);
    const call = await adapter.call(0);
    const draining = world.drain({ within: 1_000 });
    expect(await isPending(draining)).toBe(true);
    expect(call.context.signal.aborted).toBe(false);
    clock.advance(1_000);
    await until(() => call.context.signal.aborted);
    call.answer({ status: 'outcome_unknown' });
    expect(await draining).toEqual({ interrupted: 1 });
    await closeSound(world, store, app);
  });

  it('draining in the middle of a pump ends the pump, which reports unfinished work', async () => {
    const adapter = outside(once, { concurrency: 1 });
    const { store, world } = await given({ adapters: [adapter], drive: 'manual' });
    await ask(world, 'x', [start('call', 0), start('call', 1)]);
    const pumping = world.pump();
    const call = await adapter.call(0);
    const draining = world.drain({ within: 1_000 });
    call.answer(ok({ got: 1 }));
    expect(await draining).toEqual({ interrupted: 0 });
    await pumping;
    expect(adapter.calls).toHaveLength(1);
    expect(await world.openEffects()).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('a failure of the store in the middle of a pump ends the pump', async () => {
    const disk = faultyStore(memory());
    const adapter = outside(once, { concurrency: 1 });
    const world = await openKernelWorld({ store: disk, app, adapters: [adapter], drive: 'manual' });
    await ask(world, 'x', [start('call', 0), start('call', 1)]);
    const pumping = world.pump();
    const call = await adapter.call(0);
    disk.appends.push('broken');
    call.answer(ok({ got: 1 }));
    await pumping;
    expect(await codeOf(ask(world, 'x', [add(1)]))).toBe('store_failed');
    await world.close();
    const reopened = await openKernelWorld({ store: disk, app, adapters: [adapter] });
    adapter.answerAll(() => ok({ got: 2 }));
    await reopened.pump();
    expect(await seen(reopened, 'x')).toEqual(['got="outcome_unknown"', 'got="ok"']);
    await closeSound(reopened, disk, app);
  });

  it('closing does not wait for ever for an adapter, and a late answer is ignored [REC-9]', async () => {
    const { store, clock, adapter, world } = await given();
    await ask(world, 'x', [start('call', 0)]);
    const call = await adapter.call(0);
    const closing = world.close();
    await until(() => call.context.signal.aborted);
    clock.advance(10_000);
    await closing;
    call.answer(ok({ got: 'late' }));
    const reopened = await openKernelWorld({ store, app });
    expect(await seen(reopened, 'x')).toEqual(['got="outcome_unknown"']);
    await closeSound(reopened, store, app);
  });

  it('a world that is closed twice and used afterwards reports world_closed [REC-8]', async () => {
    const { store, world } = await given();
    await Promise.all([world.close(), world.close()]);
    const calls: (() => Promise<unknown>)[] = [
      () => ask(world, 'x', [add(1)]),
      () => world.revive(['lab/Cell@1', 'x']),
      () => world.state(['lab/Cell@1', 'x']),
      () => world.openEffects(),
      () => world.snapshot(),
      () => world.verify(),
      () => world.at(0),
      () => world.content.put(Uint8Array.of(1)),
      () => world.log(['lab/Cell@1', 'x'], 'history').next(),
    ];
    for (const call of calls) expect(await codeOf(call()), String(call)).toBe('world_closed');
    expect(await world.pump()).toMatchObject({ quiescent: true });
    expect(await world.drain({ within: 1 })).toEqual({ interrupted: 0 });
    await world.close();
    expect((await framesOf(store)).length).toBe(1);
  });
});

describe('given manual drive', () => {
  it('no effect starts and no timer fires without a pump [EFF-22]', async () => {
    const { store, clock, adapter, world } = await given({ drive: 'manual' });
    await ask(world, 'x', [start('call', 0), ['wake', 'bell', 10]]);
    clock.advance(1_000);
    await isPending(Promise.resolve());
    expect(adapter.calls).toEqual([]);
    expect((await lastFrame(store))[0]?.kind).toBe('request');
    adapter.answerAll(() => ok({ got: 1 }));
    const report = await world.pump();
    expect(report).toEqual({ quiescent: true, nextWakeAt: undefined });
    expect(await seen(world, 'x')).toEqual(['timer bell', 'got="ok"']);
    await closeSound(world, store, app);
  });

  it('the effects that a pump left behind do not start by themselves [EFF-22]', async () => {
    const { store, clock, adapter, world } = await given({ drive: 'manual' });
    adapter.answerAll(() => ok({ got: 1 }));
    await ask(world, 'x', [start('call', 0)]);
    await world.pump();
    await ask(world, 'x', [start('call', 1), ['wake', 'bell', 500]]);
    await isPending(Promise.resolve());
    expect(adapter.calls).toHaveLength(1);
    expect((await world.pump()).nextWakeAt).toBe(world.now + 500);
    expect(adapter.calls).toHaveLength(2);
    clock.advance(500);
    await isPending(Promise.resolve());
    expect(await recordsOf(store, 'timer')).toEqual([]);
    await world.pump();
    expect((await seen(world, 'x'))?.at(-1)).toBe('timer bell');
    await closeSound(world, store, app);
  });
});

describe('given the identity of effects', () => {
  async function idsOf(world: World): Promise<string[]> {
    await ask(world, 'x', [start('call', 1), start('call', 1)]);
    return (await world.openEffects()).map(({ effect }) => effect);
  }

  it('two worlds that do the same have no common effect id [EFF-1]', async () => {
    const [one, two] = [await given({ drive: 'manual' }), await given({ drive: 'manual' })];
    const [a, b] = [await idsOf(one.world), await idsOf(two.world)];
    expect(new Set([...a, ...b]).size).toBe(4);
    await closeSound(one.world, one.store, app);
    await closeSound(two.world, two.store, app);
  });

  it('the same world with the same seed has equal effect ids, and the key is the id [EFF-1]', async () => {
    const random = (length: number) => new Uint8Array(length).fill(3);
    const [one, two] = [await given({ drive: 'manual', random }), await given({ drive: 'manual', random })];
    expect(await idsOf(one.world)).toEqual(await idsOf(two.world));
    one.adapter.answerAll(() => ok({ got: 1 }));
    const ids = (await one.world.openEffects()).map(({ effect }) => effect);
    await one.world.pump();
    expect(one.adapter.calls.map(({ context }) => context.idempotencyKey)).toEqual(ids);
    await closeSound(one.world, one.store, app);
    await two.world.close();
  });
});

describe('given progress and secrets', () => {
  it('the progress and the questions of an adapter reach watchers, and are not journaled [EFF-23]', async () => {
    const notes: unknown[] = [];
    const asking: Adapter = {
      effect: once as never,
      name: 'asking',
      doExecute: async (_params, context) => {
        context.progress({ half: true });
        const secret = await context.secret('key');
        return { status: 'ok', payload: { got: secret.length } };
      },
    };
    const { store, world } = await given({
      adapters: [asking],
      secrets: async (name) => `secret of ${name}`,
      onProgress: (effect, note) => notes.push([effect.length, note]),
    });
    await ask(world, 'x', [start('call')]);
    await world.pump();
    expect(notes).toEqual([[64, { half: true }]]);
    expect(JSON.stringify(await framesOf(store))).not.toContain('secret of');
    await closeSound(world, store, app);
  });

  it('a missing resolver or a throwing watcher affects the adapter alone', async () => {
    const adapter: Adapter = {
      effect: once as never,
      name: 'asking',
      doExecute: async (_params, context) => ({ status: 'ok', payload: { got: await context.secret('key') } }),
    };
    const { store, world } = await given({ adapters: [adapter] });
    await ask(world, 'x', [start('call')]);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got="error adapter_error/threw"']);
    await closeSound(world, store, app);
  });
});
