import type { Value } from '@reprise/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { type EffectDefinition, openKernelWorld, type World } from '../../../src/index.js';
import { type CrashableStore, crashable } from '../../support/crashable-store.js';
import { type FaultyStore, faultyStore } from '../../support/faulty-store.js';
import { closeSound, recordsOf, until } from '../../support/judge.js';
import { again, ask, asked, lab, once, seen, start, tellCell } from '../../support/lab.js';
import { type Outside, ok, outside } from '../../support/outside.js';
import { PLACES } from '../../support/places.js';

const { app } = lab({
  *once(input, plan) {
    tellCell(plan, 'got', statusOf(yield* plan.awaitReceipt(plan.emitEffect(once, input))));
  },
  *again(input, plan) {
    tellCell(plan, 'got', statusOf(yield* plan.awaitReceipt(plan.emitEffect(again, input))));
  },
  *asked(input, plan) {
    tellCell(plan, 'got', statusOf(yield* plan.awaitReceipt(plan.emitEffect(asked, input))));
  },
});

function statusOf(receipt: { readonly status: string; readonly attempts: number; readonly payload?: unknown }): Value {
  return [receipt.status, receipt.attempts, (receipt.payload as Value) ?? null];
}

/** When the process dies, as seen from one effect. */
const MOMENTS = ['before it is armed', 'armed, before it starts', 'while it runs', 'after it ran'] as const;
type Moment = (typeof MOMENTS)[number];

const removals: (() => void)[] = [];
afterEach(() => {
  for (const remove of removals.splice(0)) remove();
});

interface Scene {
  readonly store: FaultyStore;
  readonly disk: CrashableStore;
  readonly first: Outside;
}

/** A world that died at a moment of one effect's life. */
async function diedAt(moment: Moment, effect: EffectDefinition, plan: string, place = PLACES[0]): Promise<Scene> {
  const { store: inner, remove } = (place as (typeof PLACES)[number]).make();
  removals.push(remove);
  const disk = crashable(inner);
  const store = faultyStore(disk);
  const first = outside(effect);
  const world = await openKernelWorld({ store, app, adapters: [first], drive: 'manual', recheckEvery: 1 });
  await ask(world, 'x', [start(plan, 'p')]);
  if (moment !== 'before it is armed') await reach(moment, world, store, first);
  await disk.crash();
  store.slow = undefined;
  store.slowAfter = undefined;
  for (const call of first.calls) call.answer(ok({ got: 'too late' }));
  return { store, disk, first };
}

async function reach(moment: Moment, world: World, store: FaultyStore, first: Outside): Promise<void> {
  const never = new Promise<never>(() => undefined);
  if (moment === 'armed, before it starts') store.slowAfter = never;
  world.pump().catch(() => undefined); // the world dies, and what it was doing may fail long after
  if (moment === 'armed, before it starts') {
    await until(async () => (await recordsOf(store, 'attempt')).length === 1, 'the attempt');
    return;
  }
  const call = await first.call(0);
  if (moment === 'while it runs') return;
  store.slow = never;
  const { tried } = store;
  call.answer(ok({ got: 'lost' }));
  await until(() => store.tried > tried, 'the receipt at the store');
}

/** Opens it again, with another outside, and lets it do what is to be done. */
async function reopened({ store }: Scene, second: Outside | undefined) {
  const world = await openKernelWorld({ store, app, adapters: second === undefined ? [] : [second], recheckEvery: 1 });
  return world;
}

const RAN: Readonly<Record<Moment, number>> = {
  'before it is armed': 0,
  'armed, before it starts': 0,
  'while it runs': 1,
  'after it ran': 1,
};
const ARMED = MOMENTS.filter((moment) => moment !== 'before it is armed');

describe.each(PLACES)('given a process that dies, on $name', (place) => {
  it.each(MOMENTS)('an at_most_once effect is not executed a second time after a death %s [EFF-7]', async (moment) => {
    const scene = await diedAt(moment, once, 'once', place);
    expect(scene.first.calls).toHaveLength(RAN[moment]);
    const second = outside(once);
    second.answerAll(() => ok({ got: 'second' }));
    const world = await reopened(scene, second);
    await world.pump();
    const armed = moment !== 'before it is armed';
    expect(second.calls).toHaveLength(armed ? 0 : 1);
    expect(await seen(world, 'x')).toEqual([
      armed ? 'got=["outcome_unknown",1,null]' : 'got=["ok",1,{"got":"second"}]',
    ]);
    expect(await recordsOf(scene.store, 'receipt')).toHaveLength(1);
    expect(await recordsOf(scene.store, 'attempt')).toHaveLength(1);
    await closeSound(world, scene.store, app);
  });

  it.each(MOMENTS)(
    'an idempotent effect is executed again under the same key after a death %s [EFF-1, EFF-8]',
    async (moment) => {
      const scene = await diedAt(moment, again, 'again', place);
      const second = outside(again);
      second.answerAll(() => ok({ got: 'second' }));
      const world = await reopened(scene, second);
      await world.pump();
      const attempt = moment === 'before it is armed' ? 1 : 2;
      expect(second.calls.map(({ context }) => context.attempt)).toEqual([attempt]);
      const keys = [...scene.first.calls, ...second.calls].map(({ context }) => context.idempotencyKey);
      expect(new Set(keys).size).toBe(1);
      expect(await seen(world, 'x')).toEqual([`got=["ok",${attempt},{"got":"second"}]`]);
      expect((await recordsOf(scene.store, 'attempt')).map((record) => record.attempt)).toEqual(
        attempt === 1 ? [1] : [1, 2],
      );
      await closeSound(world, scene.store, app);
    },
  );
});

describe('given an effect to be reconciled in a process that died', () => {
  it('an effect that was not armed is executed without asking its adapter', async () => {
    const scene = await diedAt('before it is armed', asked, 'asked');
    const second = outside(asked);
    second.answerAll(() => ok({ got: 'second' }));
    const world = await reopened(scene, second);
    await world.pump();
    expect([second.asked, second.calls.length]).toEqual([0, 1]);
    await closeSound(world, scene.store, app);
  });

  it.each(ARMED)(
    'the outcome that the adapter found is the receipt of an effect that happened before a death %s [EFF-9]',
    async (moment) => {
      const scene = await diedAt(moment, asked, 'asked');
      const second = outside(asked);
      second.verdict = { verdict: 'happened', outcome: ok({ got: 'found' }) };
      const world = await reopened(scene, second);
      await world.pump();
      expect([second.asked, second.calls.length]).toEqual([1, 0]);
      expect(await seen(world, 'x')).toEqual(['got=["ok",1,{"got":"found"}]']);
      await closeSound(world, scene.store, app);
    },
  );

  it.each(ARMED)(
    'an effect that cannot have happened before a death %s is executed, as a second attempt [EFF-9]',
    async (moment) => {
      const scene = await diedAt(moment, asked, 'asked');
      const second = outside(asked);
      second.verdict = { verdict: 'cannot_happen' };
      second.answerAll(() => ok({ got: 'second' }));
      const world = await reopened(scene, second);
      await world.pump();
      expect([second.asked, second.calls.length]).toEqual([1, 1]);
      expect(await seen(world, 'x')).toEqual(['got=["ok",2,{"got":"second"}]']);
      await closeSound(world, scene.store, app);
    },
  );

  const unknowing: readonly (readonly [string, Outside['verdict']])[] = [
    ['does not know', { verdict: 'unknown' }],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['answers nonsense', { verdict: 'perhaps' } as never],
    ['answers nothing', () => undefined as never],
    ['found an invalid outcome', { verdict: 'happened', outcome: { status: 'fine' } as never }],
    ['found no outcome', { verdict: 'happened' } as never],
  ];
  it.each(unknowing)(
    'the outcome is unknown and nothing is executed when the outside %s [EFF-9]',
    async (_how, verdict) => {
      const scene = await diedAt('while it runs', asked, 'asked');
      const second = outside(asked);
      second.verdict = verdict;
      const world = await reopened(scene, second);
      await world.pump();
      expect(second.calls).toHaveLength(0);
      expect(await world.openEffects()).toEqual([]);
      const [receipt] = await recordsOf(scene.store, 'receipt');
      expect(['outcome_unknown', 'error']).toContain(receipt?.receipt.status);
      await closeSound(world, scene.store, app);
    },
  );

  it('the outcome is unknown when there is no adapter to ask [EFF-10]', async () => {
    const scene = await diedAt('while it runs', asked, 'asked');
    const world = await reopened(scene, undefined);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=["outcome_unknown",1,null]']);
    await closeSound(world, scene.store, app);
  });

  it('a process that dies while it asks is followed by one that asks again', async () => {
    const scene = await diedAt('while it runs', asked, 'asked');
    const second = outside(asked);
    let asking = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      asking = resolve;
    });
    second.doReconcile = () => {
      asking();
      return new Promise(() => undefined);
    };
    openKernelWorld({ store: scene.store, app, adapters: [second] }).catch(() => undefined); // its store dies
    await reached;
    await scene.disk.crash();
    const third = outside(asked);
    third.verdict = { verdict: 'happened', outcome: ok({ got: 'found' }) };
    const world = await reopened(scene, third);
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=["ok",1,{"got":"found"}]']);
    await closeSound(world, scene.store, app);
  });
});

describe('given effects of several classes in a process that died', () => {
  it('the next opening settles the effects that are not executed again in the order of emission, before any effect starts [EFF-12]', async () => {
    const disk = crashable();
    const adapters = () => [outside(once), outside(again), outside(asked)] as const;
    const before = adapters();
    const dying = await openKernelWorld({ store: disk, app, adapters: before });
    // Each in a frame of its own, so that no order but that of emission is theirs by chance.
    for (const plan of ['once', 'again', 'asked', 'once', 'asked', 'once']) await ask(dying, 'x', [start(plan)]);
    await until(() => before.flatMap(({ calls }) => calls).length === 6);
    const emitted = (await recordsOf(disk, 'effect')).filter(({ name }) => name !== again.name);
    await disk.crash();
    const after = adapters();
    const settledAtStart: number[] = [];
    const doExecute: Outside['doExecute'] = async () => {
      settledAtStart.push((await recordsOf(disk, 'receipt')).length);
      return ok({ got: 1 });
    };
    const world = await openKernelWorld({
      store: disk,
      app,
      adapters: [after[0], { ...after[1], doExecute }, after[2]],
    });
    await world.pump();
    const settled = (await recordsOf(disk, 'receipt')).map(({ effect }) => effect);
    expect(settled.slice(0, 5)).toEqual(emitted.map(({ effect }) => effect));
    expect(settledAtStart).toEqual([5]);
    await closeSound(world, disk, app);
  });

  it('the next opening settles each effect by its guarantee [REC-1]', async () => {
    const { app: mixed } = lab({
      *mixed(_input, plan) {
        const handles = [
          plan.emitEffect(again, 0),
          plan.emitEffect(once, 1),
          plan.emitEffect(asked, 2),
          plan.emitEffect(once, 3),
        ];
        const receipts = yield* plan.awaitAll(handles);
        tellCell(plan, 'got', receipts?.map(({ status, attempts }) => [status, attempts]) ?? null);
      },
    });
    const disk = crashable();
    const adapters = () => [outside(once), outside(again), outside(asked)] as const;
    const before = adapters();
    const dying = await openKernelWorld({ store: disk, app: mixed, adapters: before });
    await ask(dying, 'x', [start('mixed')]);
    await until(() => before.flatMap(({ calls }) => calls).length === 4);
    await disk.crash();
    const after = adapters();
    after[1].answerAll(() => ok({ got: 1 }));
    after[2].verdict = { verdict: 'cannot_happen' };
    after[2].answerAll(() => ok({ got: 2 }));
    const world = await openKernelWorld({ store: disk, app: mixed, adapters: after });
    await world.pump();
    expect(await seen(world, 'x')).toEqual(['got=[["ok",2],["outcome_unknown",1],["ok",2],["outcome_unknown",1]]']);
    expect(after[0].calls).toEqual([]);
    await closeSound(world, disk, mixed);
  });

  it('an effect that was cancelled while it ran is not executed again [EFF-11]', async () => {
    for (const [effect, word] of [
      [again, 'again'],
      [asked, 'asked'],
    ] as const) {
      const disk = crashable();
      const first = outside(effect);
      const dying = await openKernelWorld({ store: disk, app, adapters: [first] });
      await ask(dying, 'x', [start(word)]);
      const call = await first.call(0);
      await ask(dying, 'x', [['cancel', 'all']]);
      expect(call.context.signal.aborted).toBe(true);
      await disk.crash();
      const second = outside(effect);
      second.verdict = { verdict: 'cannot_happen' };
      second.answerAll(() => ok({ got: 'second' }));
      const world = await openKernelWorld({ store: disk, app, adapters: [second] });
      await world.pump();
      expect(second.calls).toHaveLength(0);
      expect(await world.openEffects()).toEqual([]);
      await closeSound(world, disk, app);
    }
  });
});
