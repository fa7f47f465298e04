/** Ways to gain what was not given: each is tried, and leads nowhere. */
import type { PolicyRule, Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineEffect, openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, framesOf, recordsOf, until } from '../../../support/judge.js';
import {
  ask,
  cell,
  end,
  kernel,
  lab,
  note,
  once,
  type Step,
  seen,
  send,
  start,
  tellCell,
  wake,
  when,
} from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const spend = defineEffect({
  kind: 'lab.spend@1',
  params: z.strictObject({ tokens: z.number() }),
  receipt: z.strictObject({ got: z.int() }),
  reserves: { tokens: 'tokens' },
});

const { app } = lab(
  {
    *pay(input, plan) {
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
      tellCell(plan, 'paid', [status, code ?? null]);
    },
    // biome-ignore lint/correctness/useYield: it ends at once, on purpose: its effect is on its own from then on
    *leave(input, plan) {
      plan.emitEffect(once, input);
    },
    *spend(input, plan) {
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(spend, { tokens: input as number }));
      tellCell(plan, 'spent', [status, code ?? null]);
    },
  },
  [spend],
);

const APPROVED: readonly PolicyRule[] = [
  { effect: once.name, decision: 'require_approval', to: 'human:ann' },
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];

const OPEN: readonly PolicyRule[] = APPROVED.slice(1);

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

async function given(policy: readonly PolicyRule[] = OPEN) {
  const clock = new TestClock();
  const store = crashable();
  const adapters = [outside(once), outside(spend)] as const;
  const open = () => openKernelWorld({ store, app, clock, recheckEvery: 1, adapters, policy });
  return { clock, store, adapters, open, world: await open() };
}

function setRights(world: World, of: Principal, change: object, as: Principal = 'operator') {
  return world.command('sys/SetRights@1', { holder: of, ...change }, { as });
}

const effects = (...may: string[]) => ({ may: { effect: may } });

describe('given people whose rights are narrowed', () => {
  it('a person who widens their own rights is refused, and may narrow them [GATE-6]', async () => {
    const { world, store } = await given();
    await setRights(world, 'human:bob', { exercise: effects('lab.*') });
    for (const change of [{ exercise: null }, { exercise: effects('*') }, { grant: effects('*') }]) {
      expect(await codeOf(setRights(world, 'human:bob', change, 'human:bob')), JSON.stringify(change)).toBe(
        'rights_exceeded',
      );
    }
    await setRights(world, 'human:bob', { exercise: effects('lab.once@1') }, 'human:bob');
    expect((await world.rights('human:bob')).effective?.exercise).toEqual(effects('lab.once@1'));
    await closeSound(world, store, app);
  });

  it('a person who lifts the bounds of a cell beyond what they may grant is refused', async () => {
    const { world, store } = await given();
    await ask(world, 'x', []);
    await setRights(world, 'human:bob', { exercise: effects('lab.*') });
    await setRights(world, holder('x'), { exercise: effects() });
    expect(await codeOf(setRights(world, holder('x'), { exercise: null }, 'human:bob'))).toBe('rights_exceeded');
    await setRights(world, holder('x'), { exercise: effects('lab.once@1') }, 'human:bob');
    expect((await world.rights(holder('x'))).effective?.exercise).toEqual(effects('lab.once@1'));
    await closeSound(world, store, app);
  });

  it('a person whose effects are charged to an account may not raise its limits', async () => {
    const { world, store } = await given();
    await world.command('sys/SetAccount@1', { account: 'team', parent: null, limits: { calls: 1 } });
    await setRights(world, 'human:bob', { account: 'team' });
    const raise = { account: 'team', parent: null, limits: {} };
    expect(await codeOf(world.command('sys/SetAccount@1', raise, { as: 'human:bob' }))).toBe('cap_denied');
    expect(await codeOf(setRights(world, 'human:bob', { account: null }, 'human:bob'))).toBe('cap_denied');
    expect((await world.account('team'))?.limits).toEqual({ calls: 1 });
    await closeSound(world, store, app);
  });
});

describe('given a principal without the right to approve', () => {
  it('a principal without that right may not store approvals or settle waiting effects, which still wait [ASK-3]', async () => {
    const { world, store, adapters } = await given(APPROVED);
    await ask(world, 'x', [start('pay')]);
    const [item] = await world.pending();
    const approved = { approved: [[once.name, null]] };
    for (const as of ['human:bob', 'human:ann', holder('x'), `adapter:${item?.id}`] as const) {
      expect(await codeOf(setRights(world, holder('x'), approved, as)), as).toBe('cap_denied');
      const paid = { status: 'ok', payload: { got: 1 } } as const;
      expect(await codeOf(world.settle(item?.id as string, paid, { as })), as).toBe('cap_denied');
    }
    await ask(world, 'x', [start('pay')]);
    expect(await world.pending()).toHaveLength(2);
    expect(adapters[0].calls).toHaveLength(0);
    await closeSound(world, store, app);
  });

  it('a cell whose approval is remembered for a day may not extend it', async () => {
    const { world, store, clock, adapters } = await given(APPROVED);
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'x', [start('pay')]);
    const day = clock.wall() + 86_400_000;
    await world.decide((await world.pending())[0] as never, { approve: true, remember: { until: day } });
    const longer = { holder: holder('x'), approved: [[once.name, null]] };
    await ask(world, 'x', [kernel('sys/SetRights@1', longer)]);
    await world.pump();
    expect(await seen(world, 'x')).toContain('CommandRefused cap_denied');
    expect((await world.rights(holder('x'))).declared?.approved).toEqual([[once.name, day]]);
    await closeSound(world, store, app);
  });

  it('a principal may narrow their own rights, whatever they may grant, and never widen them [GATE-5]', async () => {
    const { world, store } = await given();
    const may = (...effect: string[]) => ({ may: { effect } });
    await setRights(world, 'human:bob', { exercise: may('lab.*'), grant: may() });
    await setRights(world, 'human:bob', { exercise: may('lab.once@1', 'lab.again@1') }, 'human:bob');
    const widen = setRights(world, 'human:bob', { exercise: may('lab.*') }, 'human:bob');
    expect(await codeOf(widen)).toBe('rights_exceeded');
    await closeSound(world, store, app);
  });

  it('the cell above may remove the account of a cell below when its own account pays for both', async () => {
    const { world, store } = await given();
    await ask(world, 'top', [send('low', note('made'))]);
    await world.command('sys/SetAccount@1', { account: 'team', parent: null, limits: {} });
    await world.command('sys/SetAccount@1', { account: 'own', parent: 'team', limits: {} });
    await setRights(world, holder('top'), { account: 'team' });
    await setRights(world, holder('low'), { account: 'own' });
    await ask(world, 'low', [kernel('sys/SetRights@1', { holder: holder('low'), account: null })]);
    expect((await seen(world, 'low'))?.at(-1)).toBe('CommandRefused cap_denied');
    await ask(world, 'top', [kernel('sys/SetRights@1', { holder: holder('low'), account: null })]);
    expect(await seen(world, 'top')).toEqual([]);
    expect((await world.rights(holder('low'))).declared?.account).toBe(null);
    await closeSound(world, store, app);
  });

  it('a new cell at the address of a remembered approval needs its own approval [GATE-8]', async () => {
    const { world, store, adapters } = await given(APPROVED);
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'x', [start('pay')]);
    await world.decide((await world.pending())[0] as never, { approve: true, remember: { until: null } });
    await ask(world, 'x', [start('pay')]);
    await world.pump();
    expect(adapters[0].calls).toHaveLength(2);
    await ask(world, 'x', [end()]);
    await ask(world, 'x', [start('pay')]);
    expect(await world.pending()).toHaveLength(1);
    expect(adapters[0].calls).toHaveLength(2);
    await closeSound(world, store, app);
  });

  it('an effect that runs and waits for no person is settled by the operator alone', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'x', [start('pay')]);
    const call = await adapters[0].call(0);
    const [effect] = await world.openEffects();
    const lie = { status: 'ok', payload: { got: 'a lie' } } as const;
    expect(await codeOf(world.settle(effect?.effect as string, lie, { as: 'human:bob' }))).toBe('cap_denied');
    call.answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'x'))?.length === 1);
    await closeSound(world, store, app);
  });
});

describe('given a cell with its own account', () => {
  const budgets = async (world: World) => {
    await world.command('sys/SetAccount@1', { account: 'team', parent: null, limits: { tokens: 100 } });
    await world.command('sys/SetAccount@1', { account: 'kid', parent: 'team', limits: { tokens: 20 } });
    await setRights(world, holder('x'), { account: 'team' });
    await ask(world, 'x', [send('kid', note('made'))]);
    await setRights(world, holder('kid'), { account: 'kid' });
  };

  it('a cell may not move its charges to the account of its parent [GATE-28]', async () => {
    const { world, store } = await given();
    await budgets(world);
    await ask(world, 'kid', [
      kernel('sys/SetRights@1', { holder: holder('kid'), account: null }),
      kernel('sys/SetRights@1', { holder: holder('kid'), account: 'team' }),
    ]);
    expect(await seen(world, 'kid')).toEqual(['made', 'CommandRefused cap_denied', 'CommandRefused cap_denied']);
    expect((await world.rights(holder('kid'))).effective?.account).toBe('kid');
    await closeSound(world, store, app);
  });

  it('a reservation of a negative or fractional amount is denied and nothing is reserved', async () => {
    const { world, store, adapters } = await given();
    await budgets(world);
    await ask(world, 'kid', [start('spend', -50), start('spend', 0.5), start('spend', 2 ** 60)]);
    const denied = 'spent=["denied","validation_error/reserve"]';
    expect(await seen(world, 'kid')).toEqual(['made', denied, denied, denied]);
    expect(adapters[1].calls).toHaveLength(0);
    expect((await world.account('kid'))?.reserved).toEqual({});
    await closeSound(world, store, app);
  });
});

describe('given a cell that may run one effect at a time', () => {
  it('effects that ended plans left behind still count', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'x', []);
    await setRights(world, holder('x'), { exercise: { may: {}, max_parallel: 1 } });
    await ask(world, 'x', [start('leave', 1), start('leave', 2)]);
    await ask(world, 'x', [start('leave', 3)]);
    await ask(world, 'x', [start('pay', 4)]);
    expect(adapters[0].calls).toHaveLength(1);
    expect(await seen(world, 'x')).toEqual(['paid=["denied","cap_denied/parallel"]']);
    adapters[0].answerAll(() => ok({ got: 1 }));
    await world.pump();
    await ask(world, 'x', [start('pay', 5)]);
    await world.pump();
    expect((await seen(world, 'x'))?.at(-1)).toBe('paid=["ok",null]');
    await closeSound(world, store, app);
  });
});

describe('given names that imitate other principals', () => {
  const strange = ['a\nb', 'a\u2028b', 'lab/Cell@1/x', 'x#lab/Do@1', '../x', '*', 'cell:lab/Cell@1/x'];

  it('a journal with refused cells of imitating names can be read, and each principal stays itself', async () => {
    const { world, store } = await given();
    await ask(world, 'x', []);
    for (const key of strange) {
      await ask(world, key, []);
      await setRights(world, holder(key), { exercise: effects() });
      await ask(world, key, [start('pay')]);
      expect(await seen(world, key), key).toEqual(['paid=["denied","cap_denied"]']);
    }
    expect((await world.rights(holder('x'))).declared).toBeUndefined();
    const denials = (await recordsOf(store, 'denial')).map(({ who }) => who);
    expect(denials).toEqual(strange.map(holder));
    await closeSound(world, store, app);
  });

  const nobody = ['cell:x', 'cell:lab/Cell@1', 'cell:lab/Cell@0/x', `cell:lab/Cell@1/${'x'.repeat(300)}`] as const;

  it('a request as an impossible cell, or for its rights, is refused', async () => {
    const { world, store } = await given();
    await setRights(world, 'human:bob', { exercise: effects('lab.*') });
    for (const name of nobody) {
      expect(await codeOf(setRights(world, name, { exercise: null })), name).toBe('invalid_argument');
      expect(await codeOf(ask(world, 'x', [], { as: name })), name).toBe('invalid_argument');
      expect(await codeOf(world.rights(name)), name).toBe('invalid_argument');
      expect(() => world.as(name), name).toThrow('invalid_argument');
    }
    await closeSound(world, store, app);
  });

  it('the rights of the operator and the kernel cannot be set', async () => {
    const { world, store } = await given();
    for (const name of ['operator', 'kernel'] as const) {
      expect(await codeOf(setRights(world, name, { exercise: effects() })), name).toBe('invalid_argument');
    }
    await closeSound(world, store, app);
  });

  it('a cell that names an impossible principal in a command of a timer is notified, and the world continues', async () => {
    const { world, store, clock, open } = await given();
    const steps: Step[] = nobody.map((name) => kernel('sys/SetRights@1', { holder: name, exercise: null }));
    await ask(world, 'x', [when('t', ...steps), wake('t', 10)]);
    clock.advance(10);
    await until(async () => (await seen(world, 'x'))?.length === 5, 'the refusals');
    expect(await seen(world, 'x')).toEqual(['timer t', ...nobody.map(() => 'CommandRefused invalid_argument')]);
    await world.close();
    await closeSound(await open(), store, app);
  });
});

describe('given a child of a cell that ended', () => {
  it('a child neither reads nor reaches a new cell in the place of its ended parent', async () => {
    const { world, store } = await given([{ effect: '*', decision: 'allow' }]);
    await ask(world, 'p', [send('kid', note('made'))]);
    await ask(world, 'p', [end()]);
    await ask(world, 'p', [note('another')]);
    await ask(world, 'kid', [send('p', note('hello'))]);
    expect(await seen(world, 'p')).toEqual(['another']);
    expect(await codeOf(world.as(holder('kid')).state(cell('p')))).toBe('policy_denied');
    await closeSound(world, store, app);
  });
});

describe('given a delivery that sends commands and then throws', () => {
  it('a delivery that throws takes back all of its commands [RED-3]', async () => {
    const { world, store } = await given();
    await ask(world, 'x', [send('kid', note('made'))]);
    const narrow = kernel('sys/SetRights@1', { holder: holder('kid'), exercise: effects() });
    await ask(world, 'y', [send('x', narrow, ['fail', 'error'])]);
    expect((await world.rights(holder('kid'))).declared).toBeUndefined();
    expect((await framesOf(store)).flat().filter(({ kind }) => kind === 'denial')).toEqual([]);
    await closeSound(world, store, app);
  });
});
