/** Holds: rights that are cut from above whatever state the holder's cell is in, and that nobody below undoes. */
import type { Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { openKernelWorld, type World } from '../../../../src/index.js';
import { HOLDS_MAX } from '../../../../src/pure/engine/leaf/bounds.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, recordsOf } from '../../../support/judge.js';
import { ask, cell, end, fail, kernel, lab, note, once, seen, send, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const { app } = lab({
  *work(input, plan) {
    const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'work', [status, code ?? null]);
  },
});

const NOTHING = { may: { effect: [] as string[] } };
const ANYTHING = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
] as const;
/** Only kin is reached. */
const NEAR = [{ effect: '*', decision: 'allow' }] as const;

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

/** A grandparent `g`, its child `p`, and a grandchild `x`, which has a child `y` of its own. */
async function given(policy: readonly (typeof ANYTHING)[number][] = ANYTHING) {
  const store = crashable();
  const clock = new TestClock();
  const adapter = outside(once);
  const world = await openKernelWorld({ store, app, clock, policy, recheckEvery: 1, adapters: [adapter] });
  await ask(world, 'g', [send('p', send('x', send('y')))]);
  return { store, clock, adapter, world };
}

const hold = (world: World, key: string, change: object, as: Principal = 'operator') =>
  world.command('sys/SetRights@1', { holder: holder(key), ...change } as never, { as });

const lastWord = async (world: World, key: string) => (await seen(world, key))?.at(-1);

describe('given a cell that has failed', () => {
  it('a hold of a cell above it ends what runs below, before anything else [GATE-19, GATE-33]', async () => {
    const { world, store, adapter } = await given();
    await ask(world, 'y', [start('work')]);
    await adapter.call(0);
    await ask(world, 'p', [send('x', fail())]);
    const { seq } = await ask(world, 'g', [kernel('sys/SetRights@1', { holder: holder('x'), hold: NOTHING })]);
    expect(await recordsOf(store, 'denial')).toEqual([]);
    await world.pump();
    expect(await lastWord(world, 'y')).toBe('work=["cancelled","cap_denied/revoked"]');
    await ask(world, 'y', [start('work')]);
    await world.pump();
    expect(await lastWord(world, 'y')).toBe('work=["denied","cap_denied"]');
    expect(adapter.calls).toHaveLength(1);
    expect(world.head.seq).toBeGreaterThan(seq);
    adapter.answerAll(() => ok(1));
    await closeSound(world, store, app);
  });

  it('a hold ends an effect that was armed in its own frame, so that it never starts [GATE-33]', async () => {
    const { world, store, adapter } = await given();
    await ask(world, 'p', [send('x', fail())]);
    await ask(world, 'g', [
      send('y', start('work')),
      send('g', send('g', kernel('sys/SetRights@1', { holder: holder('x'), hold: NOTHING }))), // behind the plan of y
    ]);
    await world.pump();
    expect(await lastWord(world, 'y')).toBe('work=["denied","cap_denied/revoked"]');
    expect(adapter.calls).toHaveLength(0);
    await closeSound(world, store, app);
  });

  it('a process that dies while a held effect is awaited starts it no second time [GATE-33]', async () => {
    const { world, store, adapter } = await given();
    await ask(world, 'y', [start('work')]);
    await adapter.call(0);
    await ask(world, 'p', [send('x', fail())]);
    await ask(world, 'g', [kernel('sys/SetRights@1', { holder: holder('x'), hold: NOTHING })]);
    await store.crash();
    const next = outside(once);
    const opened = await openKernelWorld({ store, app, policy: ANYTHING, recheckEvery: 1, adapters: [next] });
    await opened.pump();
    expect(next.calls).toHaveLength(0);
    expect((await opened.rights(holder('y'))).effective?.exercise).toEqual({ may: { effect: [] } });
    await closeSound(opened, store, app);
  });

  it('reviving a cell lifts no hold [GATE-33]', async () => {
    const { world, store } = await given();
    await ask(world, 'p', [send('x', fail())]);
    await hold(world, 'x', { hold: NOTHING }, holder('g'));
    await world.revive(cell('x'));
    expect((await world.rights(holder('x'))).effective?.exercise).toEqual({ may: { effect: [] } });
    await closeSound(world, store, app);
  });
});

describe('given a cell that a grandparent holds', () => {
  it('no change of sides undoes a hold: neither of the cell, nor of its maker, nor with a version that was read before [GATE-33]', async () => {
    const { world, store } = await given();
    const version = (await world.rights(holder('x'))).declared?.revision ?? 0;
    await hold(world, 'x', { hold: NOTHING }, holder('g'));
    await hold(world, 'x', { exercise: null, grant: null, revision: version }, holder('p'));
    await hold(world, 'x', { exercise: { may: { effect: ['lab.*'] } } }, holder('p'));
    await hold(world, 'x', { exercise: { may: { effect: ['lab.once@1'] } } }, holder('x'));
    for (const key of ['x', 'y'])
      expect((await world.rights(holder(key))).effective?.exercise.may.effect, key).toEqual([]);
    const { declared } = await world.rights(holder('x'));
    expect(declared?.holds).toEqual([[holder('g'), NOTHING, 0]]);
    await closeSound(world, store, app);
  });

  it('only the granter, a cell above it and the operator lift a hold [GATE-34]', async () => {
    const { world, store } = await given();
    await hold(world, 'y', { hold: NOTHING }, holder('p'));
    const lift = (as: Principal, granter?: Principal) =>
      hold(world, 'y', { hold: null, ...(granter === undefined ? {} : { granter }) }, as);
    for (const who of [holder('x'), holder('y'), 'human:ann'] as const)
      expect(await codeOf(lift(who, holder('p'))), who).toBe('cap_denied');
    await lift(holder('g')); // its own: it has none
    expect((await world.rights(holder('y'))).declared?.holds).toHaveLength(1);
    for (const [as, granter] of [
      [holder('p'), undefined],
      [holder('g'), holder('p')],
      ['operator', holder('p')],
    ] as const) {
      await hold(world, 'y', { hold: NOTHING }, holder('p'));
      await lift(as, granter);
      expect((await world.rights(holder('y'))).declared?.holds, as).toBeUndefined();
    }
    await hold(world, 'y', { hold: NOTHING });
    expect(await codeOf(lift(holder('g'), 'operator'))).toBe('cap_denied');
    await lift('operator');
    expect((await world.rights(holder('y'))).effective?.exercise).toEqual({ may: {} });
    await closeSound(world, store, app);
  });

  it.each<[string, (world: World) => Promise<unknown>]>([
    ['lifts', (world) => hold(world, 'x', { hold: null }, holder('g'))],
    [
      'lifts in its reducer',
      (world) => ask(world, 'g', [kernel('sys/SetRights@1', { holder: holder('x'), hold: null })]),
    ],
    ['replaces', (world) => hold(world, 'x', { hold: { may: {} } }, holder('g'))],
  ])(
    'a cell that is made anew at the address of a granter never %s the hold of the one before [GATE-35]',
    async (what, act) => {
      const { world, store } = await given();
      await hold(world, 'x', { hold: NOTHING }, holder('g'));
      for (const key of ['y', 'x', 'p', 'g']) await ask(world, key, [end()]);
      await ask(world, 'g', [send('p', send('x', send('y')))]);
      if (what === 'lifts') expect(await codeOf(act(world))).toBe('cap_denied');
      else await act(world);
      expect((await world.rights(holder('x'))).effective?.exercise).toEqual({ may: { effect: [] } });
      await hold(world, 'x', { hold: null, granter: holder('g') });
      expect((await world.rights(holder('x'))).declared?.holds).toBeUndefined();
      await closeSound(world, store, app);
    },
  );

  it('a cell above a later generation of the granter does not lift the hold of the one before [GATE-35]', async () => {
    const { world, store } = await given();
    await hold(world, 'y', { hold: NOTHING }, holder('p'));
    for (const key of ['y', 'x', 'p']) await ask(world, key, [end()]);
    await ask(world, 'g', [send('p', send('x', send('y')))]);
    expect(await codeOf(hold(world, 'y', { hold: null, granter: holder('p') }, holder('g')))).toBe('cap_denied');
    expect((await world.rights(holder('y'))).declared?.holds).toEqual([[holder('p'), NOTHING, 0]]);
    await closeSound(world, store, app);
  });

  it('lifting a hold restores what the sides say now, and no more [GATE-34]', async () => {
    const { world, store } = await given();
    await hold(world, 'x', { hold: { may: { effect: [], tool: ['a'] } } }, holder('g'));
    await hold(world, 'x', { exercise: { may: { effect: ['lab.once@1'] } } }, holder('p'));
    await hold(world, 'x', { hold: null }, holder('g'));
    expect((await world.rights(holder('x'))).effective?.exercise).toEqual({ may: { effect: ['lab.once@1'] } });
    await closeSound(world, store, app);
  });

  it('a cell that is made anew at the address is held as the one before [GATE-33]', async () => {
    const { world, store } = await given();
    await hold(world, 'x', { hold: NOTHING }, holder('g'));
    await ask(world, 'x', [end()]);
    await ask(world, 'p', [send('x', note('again'))]);
    expect((await world.rights(holder('x'))).effective?.exercise).toEqual({ may: { effect: [] } });
    await closeSound(world, store, app);
  });

  it('the holds of several granters count together, each is replaced by its granter alone, and none counts as a version [GATE-6, GATE-33]', async () => {
    const { world, store } = await given();
    await hold(world, 'x', { hold: { may: { tool: ['a', 'b'] } } }, holder('g'));
    await hold(world, 'x', { hold: { may: { tool: ['b', 'c'] } } }, holder('p'));
    expect((await world.rights(holder('x'))).effective?.exercise).toEqual({ may: { tool: ['b'] } });
    await hold(world, 'x', { hold: { may: { tool: ['a', 'c'] } } }, holder('g'));
    expect((await world.rights(holder('x'))).effective?.exercise).toEqual({ may: { tool: ['c'] } });
    expect((await world.rights(holder('x'))).declared?.revision).toBe(0);
    await closeSound(world, store, app);
  });

  it('a hold that ends by its time ends what is open then, as every right does [GATE-7, GATE-33]', async () => {
    const { world, store, clock, adapter } = await given();
    await ask(world, 'y', [start('work')]);
    await adapter.call(0);
    await hold(world, 'x', { hold: { may: {}, expires_at: clock.wall() + 1_000 } }, holder('g'));
    await ask(world, 'g', []);
    expect(await world.openEffects()).toHaveLength(1);
    clock.advance(1_000);
    await world.pump();
    expect(await lastWord(world, 'y')).toBe('work=["cancelled","cap_denied/expired"]');
    adapter.answerAll(() => ok(1));
    await closeSound(world, store, app);
  });

  it('a hold grants nothing: a cell reaches no stranger that it names [GATE-15, GATE-33]', async () => {
    const { world, store } = await given(NEAR as never);
    await ask(world, 'stranger', []);
    await hold(world, 'x', { hold: { may: { send: ['lab/Cell@1/stranger#*'] } } }, holder('g'));
    await ask(world, 'x', [send('stranger', note('hello')), send('y', note('below'))]);
    expect(await seen(world, 'stranger')).toEqual([]);
    expect(await seen(world, 'y')).toEqual([]);
    await closeSound(world, store, app);
  });
});

describe('given principals that stand above nothing', () => {
  it.each<[string, string, Principal]>([
    ['the cell itself', 'x', holder('x')],
    ['a cell below it', 'p', holder('x')],
    ['a stranger', 'x', holder('stranger')],
    ['a person', 'x', 'human:ann'],
  ])('a hold of %s is refused [GATE-33]', async (_, key, as) => {
    const { world, store } = await given();
    await ask(world, 'stranger', []);
    expect(await codeOf(hold(world, key, { hold: NOTHING }, as))).toBe('cap_denied');
    await closeSound(world, store, app);
  });

  it.each([
    ['on a person', { holder: 'human:ann', hold: NOTHING }],
    ['beside a side', { holder: holder('x'), hold: NOTHING, exercise: null }],
    ['with a version', { holder: holder('x'), hold: NOTHING, revision: 0 }],
    ['in the name of another granter', { holder: holder('x'), hold: NOTHING, granter: holder('g') }],
    ['that is absent, with a granter', { holder: holder('x'), granter: holder('g') }],
  ])('a hold %s is refused [GATE-33]', async (_, change) => {
    const { world, store } = await given();
    expect(await codeOf(world.command('sys/SetRights@1', change as never))).toBe('invalid_argument');
    await closeSound(world, store, app);
  });

  it('a cell has at most one hold of each cell that can stand above it, and of the operator [JRN-26]', async () => {
    const { world, store } = await given();
    for (let n = 0; n < HOLDS_MAX; n++) {
      await ask(world, `top${n}`, [send('moved', note('made'))]);
      await hold(world, 'moved', { hold: NOTHING }, holder(`top${n}`));
      await ask(world, 'moved', [end()]);
    }
    expect((await world.rights(holder('moved'))).declared?.holds).toHaveLength(HOLDS_MAX);
    expect(await codeOf(hold(world, 'moved', { hold: NOTHING }))).toBe('bound_exceeded');
    await hold(world, 'moved', { hold: null, granter: holder('top0') });
    await hold(world, 'moved', { hold: NOTHING });
    await closeSound(world, store, app);
  });
});

describe('given a fork', () => {
  it.each(['dry', 'live'] as const)(
    'a %s fork at a frame where a cell was held holds it [GATE-21, FORK-6]',
    async (mode) => {
      const { world } = await given();
      await hold(world, 'x', { hold: NOTHING }, holder('g'));
      const at = world.head.seq;
      await hold(world, 'x', { hold: null }, holder('g'));
      const store = crashable();
      await world.fork({ mode, at, into: store, ...(mode === 'live' ? { grants: { may: {} } } : {}) });
      const fork = await openKernelWorld({ store, app, policy: ANYTHING, recheckEvery: 1 });
      expect((await fork.rights(holder('x'))).effective?.exercise.may.effect).toEqual([]);
      await closeSound(fork, store, app);
      await world.close();
    },
  );

  it('a live fork before a hold has it, and what a granter lifts there is its own alone [GATE-21, FORK-6]', async () => {
    const { world } = await given();
    await hold(world, 'x', { hold: { may: { tool: ['a', 'b'] } } }, holder('p'));
    const at = world.head.seq;
    await hold(world, 'x', { hold: { may: { tool: ['b'] } } }, holder('p'));
    await hold(world, 'x', { hold: NOTHING }, holder('g'));
    const store = crashable();
    await world.fork({ mode: 'live', at, into: store, grants: { may: {} } });
    const fork = await openKernelWorld({ store, app, policy: ANYTHING, recheckEvery: 1 });
    await hold(fork, 'x', { hold: null }, holder('g'));
    expect((await fork.rights(holder('x'))).effective?.exercise).toEqual({ may: { tool: ['b'] } });
    await closeSound(fork, store, app);
    await world.close();
  });
});
