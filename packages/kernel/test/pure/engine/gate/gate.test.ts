import type { PolicyRule, Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineEffect, openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, recordsOf, refusal, until } from '../../../support/judge.js';
import {
  ask,
  cell,
  command,
  end,
  kernel,
  lab,
  note,
  once,
  seen,
  send,
  start,
  tellCell,
  when,
} from '../../../support/lab.js';
import { type Outside, ok, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';

const use = defineEffect({
  kind: 'lab.use@1',
  params: z.strictObject({ tool: z.string(), tokens: z.int().min(0) }),
  receipt: z.strictObject({ got: z.int() }),
  rights: { tool: 'tool' },
  reserves: { tokens: 'tokens' },
});

const { app } = lab(
  {
    *work(input, plan) {
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
      tellCell(plan, 'work', [status, code ?? null]);
    },
    *use(input, plan) {
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(use, input as never));
      tellCell(plan, 'use', [status, code ?? null]);
    },
  },
  [use],
);

/** Whatever still runs answers: a world that closes waits for it. */
function answerRest(adapters: readonly Outside[]): void {
  for (const adapter of adapters) adapter.answerAll(() => ok({ got: 1 }));
}

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

async function given(policy?: readonly PolicyRule[]) {
  const clock = new TestClock();
  const store = crashable();
  const adapters = [outside(once, { concurrency: 1 }), outside(use)] as const;
  const open = () =>
    openKernelWorld({ store, app, clock, recheckEvery: 1, adapters, ...(policy === undefined ? {} : { policy }) });
  return { clock, store, adapters, open, world: await open() };
}

function rights(world: World, key: string, change: object, as: Principal = 'operator') {
  return world.command('sys/SetRights@1', { holder: holder(key), ...change }, { as });
}

const only = (effect: readonly string[]) => ({ exercise: { may: { effect: [...effect] } } });

describe('given a chain of cells', () => {
  it('narrowing the rights of a cell narrows the rights of all cells below, whatever was set for them [GATE-4]', async () => {
    const { world, store, adapters } = await given();
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'top', [send('middle', send('low', note('made')))]);
    await rights(world, 'low', only(['lab.*']));
    await ask(world, 'low', [start('work')]);
    await world.pump();
    await rights(world, 'top', { grant: { may: { effect: ['other.*'] } } });
    await ask(world, 'low', [start('work')]);
    await ask(world, 'top', [start('work')]);
    await world.pump();
    expect(await seen(world, 'low')).toEqual(['made', 'work=["ok",null]', 'work=["denied","cap_denied"]']);
    expect((await seen(world, 'top'))?.at(-1)).toBe('work=["ok",null]'); // what it may hand on is not what it may do
    expect((await world.rights(holder('low'))).effective?.exercise).toEqual({ may: { effect: [] } });
    await closeSound(world, store, app);
  });

  it('a coordinator that may call no tool can still pass on the tools that it may grant [GATE-5]', async () => {
    const { world, store, adapters } = await given();
    adapters[1].answerAll(() => ok({ got: 1 }));
    await rights(world, 'lead', { exercise: { may: { tool: [] } }, grant: { may: { tool: ['git.*'] } } });
    await ask(world, 'lead', [start('use', { tool: 'git.log', tokens: 1 }), send('hand', note('made'))]);
    await ask(world, 'hand', [start('use', { tool: 'git.log', tokens: 1 }), start('use', { tool: 'rm', tokens: 1 })]);
    await world.pump();
    expect(await seen(world, 'lead')).toEqual(['use=["denied","cap_denied"]']);
    expect(await seen(world, 'hand')).toEqual(['made', 'use=["denied","cap_denied"]', 'use=["ok",null]']);
    const widen = { holder: holder('hand'), exercise: { may: { tool: ['*'] } } };
    await ask(world, 'lead', [kernel('sys/SetRights@1', widen)]);
    expect((await seen(world, 'lead'))?.at(-1)).toBe('CommandRefused rights_exceeded');
    await closeSound(world, store, app);
  });

  it('children of an ended cell gain nothing when another parent makes the cell anew [GATE-8]', async () => {
    const { world, store } = await given();
    await ask(world, 'warden', [send('mid', send('child', note('made')))]);
    await rights(world, 'warden', { grant: { may: { effect: [] } } });
    await ask(world, 'mid', [end()]);
    await ask(world, 'child', [start('work')]);
    await ask(world, 'mid', [note('anew')]); // by the host, below nobody
    await ask(world, 'child', [start('work')]);
    expect(await seen(world, 'child')).toEqual([
      'made',
      'work=["denied","cap_denied"]',
      'work=["denied","cap_denied/broken_chain"]',
    ]);
    await closeSound(world, store, app);
  });

  it('a cell made by a new generation stands below that generation, and loses what it loses [GATE-8]', async () => {
    const { world, store, adapters } = await given();
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'mid', [end()]);
    await ask(world, 'mid', [send('child', note('made'))]);
    await ask(world, 'child', [start('work')]);
    await world.pump();
    await rights(world, 'mid', { grant: { may: { effect: [] } } });
    await ask(world, 'child', [start('work')]);
    expect(await seen(world, 'child')).toEqual(['made', 'work=["ok",null]', 'work=["denied","cap_denied"]']);
    await closeSound(world, store, app);
  });

  it('a person who may send to one cell alone is refused at another, and the operator is not asked [GATE-15]', async () => {
    const { world, store } = await given();
    const exercise = { may: { send: [`${cell('open').join('/')}#*`] } };
    await world.command('sys/SetRights@1', { holder: 'human:ann', exercise });
    const { head } = world;
    expect(await codeOf(ask(world, 'shut', [note('x')], { as: 'human:ann' }))).toBe('cap_denied');
    expect(world.head).toEqual(head);
    await ask(world, 'open', [note('x')], { as: 'human:ann' });
    await ask(world, 'shut', [note('x')]);
    await closeSound(world, store, app);
  });

  it('the second of two concurrent changes of the same rights is refused [GATE-6]', async () => {
    const { world, store } = await given();
    await ask(world, 'x', []);
    await rights(world, 'x', { ...only(['a*']), revision: 0 });
    expect(await codeOf(rights(world, 'x', { ...only(['*']), revision: 0 }))).toBe('revision_conflict');
    await closeSound(world, store, app);
  });

  it('a grant beyond the rights of its giver changes nothing, and the error names the dimension [GATE-5]', async () => {
    const { world, store } = await given();
    await world.command('sys/SetRights@1', { holder: 'human:ann', exercise: { may: { effect: ['lab.*'] } } });
    await ask(world, 'x', []);
    const error = await refusal(rights(world, 'x', only(['*']), 'human:ann'));
    expect([error.code, error.details.where, error.details.expected, error.details.actual]).toEqual([
      'rights_exceeded',
      `${holder('x')} may.effect`,
      ['lab.*'],
      '*',
    ]);
    await rights(world, 'x', only(['lab.once@1']), 'human:ann');
    expect((await world.rights(holder('x'))).declared?.revision).toBe(1);
    await closeSound(world, store, app);
  });

  it('a cell may not change the rights of a cell that is not below it, nor widen its own [GATE-6]', async () => {
    const { world, store } = await given();
    await ask(world, 'a', [send('kid', note('made'))]);
    await ask(world, 'b', []);
    await rights(world, 'a', only(['lab.*']));
    const change = (of: string, may: object) => kernel('sys/SetRights@1', { holder: holder(of), exercise: { may } });
    await ask(world, 'a', [change('b', { effect: [] })]);
    await ask(world, 'kid', [change('a', { effect: [] })]);
    await ask(world, 'a', [change('a', {})]);
    await ask(world, 'a', [change('kid', { effect: [] }), change('a', { effect: ['lab.once@1'] })]);
    expect(await seen(world, 'a')).toEqual(['CommandRefused cap_denied', 'CommandRefused cap_denied']);
    expect(await seen(world, 'kid')).toEqual(['made', 'CommandRefused cap_denied']);
    expect((await world.rights(holder('kid'))).effective?.exercise).toEqual({ may: { effect: [] } });
    expect((await world.rights(holder('b'))).declared).toBeUndefined();
    await closeSound(world, store, app);
  });
});

describe('given a right that is revoked', () => {
  it('effects that wait, run and are parked all end in the frame that revokes the right, and running ones are stopped [GATE-19]', async () => {
    const { world, store, adapters } = await given([
      { effect: use.name, decision: 'require_approval' },
      { effect: '*', decision: 'allow' },
    ]);
    await ask(world, 'x', [start('work', 1), start('work', 2), start('use', { tool: 't', tokens: 1 })]);
    const running = await adapters[0].call(0);
    const { seq } = await rights(world, 'x', only([]));
    const [frame] = [(await recordsOf(store, 'settled')).map(({ status, code, by }) => [status, code, by])];
    expect(frame).toEqual([
      ['cancelled', 'cap_denied/revoked', 'revoked'],
      ['denied', 'cap_denied/revoked', 'gate'],
      ['denied', 'cap_denied/revoked', 'gate'],
    ]);
    expect(world.head.seq).toBe(seq);
    expect(running.context.signal.aborted).toBe(true);
    expect(await seen(world, 'x')).toEqual([
      'work=["cancelled","cap_denied/revoked"]',
      'work=["denied","cap_denied/revoked"]',
      'use=["denied","cap_denied/revoked"]',
    ]);
    running.answer(ok({ got: 'it happened' }));
    await until(async () => (await recordsOf(store, 'late')).length === 1, 'the late answer');
    expect(adapters[0].calls).toHaveLength(1);
    await closeSound(world, store, app);
  });

  it('effects end at the time when the right expires, and none starts after it [GATE-7]', async () => {
    const { world, store, adapters, clock } = await given();
    await ask(world, 'x', [start('work', 1), start('work', 2)]);
    await adapters[0].call(0);
    const expires_at = clock.wall() + 1_000;
    await rights(world, 'x', { exercise: { may: {}, expires_at } });
    expect(await seen(world, 'x')).toEqual([]);
    clock.advance(1_000);
    await until(async () => (await seen(world, 'x'))?.length === 2, 'the end');
    expect(await seen(world, 'x')).toEqual([
      'work=["cancelled","cap_denied/expired"]',
      'work=["denied","cap_denied/expired"]',
    ]);
    await ask(world, 'x', [start('work', 3)]);
    expect((await seen(world, 'x'))?.at(-1)).toBe('work=["denied","cap_denied/expired"]');
    answerRest(adapters);
    await closeSound(world, store, app);
  });

  it('a waiting effect does not start when the process died and its right expired meanwhile [GATE-13]', async () => {
    const { world, store, adapters, clock, open } = await given();
    await rights(world, 'x', { exercise: { may: {}, expires_at: clock.wall() + 1_000 } });
    await ask(world, 'x', [start('work', 1), start('work', 2)]);
    await adapters[0].call(0);
    await store.crash();
    clock.advance(5_000);
    const next = await open();
    await next.pump();
    expect(adapters[0].calls).toHaveLength(1);
    expect(await next.openEffects()).toEqual([]);
    await closeSound(next, store, app);
  });
});

describe('given an account', () => {
  const accounts = async (world: World, limits: object, above: object = {}) => {
    await world.command('sys/SetAccount@1', { account: 'tenant', parent: null, limits: above as never });
    await world.command('sys/SetAccount@1', { account: 'team', parent: 'tenant', limits: limits as never });
    await rights(world, 'x', { account: 'team' });
  };
  const want = (tokens: number) => start('use', { tool: 't', tokens });

  it('an effect that reserves more than the balance, here or above, is denied and nothing is reserved [GATE-11, GATE-22]', async () => {
    const { world, store, adapters } = await given();
    await accounts(world, { tokens: 100 }, { tokens: 50 });
    await ask(world, 'x', [want(30), want(30)]);
    expect(adapters[1].calls).toHaveLength(1);
    expect(await seen(world, 'x')).toEqual(['use=["denied","cap_denied/budget"]']);
    expect((await world.account('team'))?.reserved).toEqual({ calls: 1, parallel: 1, tokens: 30 });
    expect((await world.account('tenant'))?.reserved).toEqual({ calls: 1, parallel: 1, tokens: 30 });
    adapters[1].calls[0]?.answer({
      status: 'ok',
      payload: { got: 1 },
      usage: { tokens_in: 4, tokens_out: 6, calls: 1 },
    });
    await until(async () => (await seen(world, 'x'))?.length === 2);
    expect(await world.account('tenant')).toMatchObject({ spent: { calls: 1, tokens: 10 }, reserved: {} });
    await ask(world, 'x', [want(40), want(1)]);
    expect((await seen(world, 'x'))?.at(-1)).toBe('use=["denied","cap_denied/budget"]');
    answerRest(adapters);
    await closeSound(world, store, app);
  });

  it('the reserve of an effect that is cancelled after its start counts as spent, and a late report corrects it once [GATE-24]', async () => {
    const { world, store, adapters, clock } = await given();
    await accounts(world, { tokens: 100 });
    await ask(world, 'x', [want(60)]);
    const call = await adapters[1].call(0);
    const [open] = await world.openEffects();
    await world.cancel(open?.effect as string, { graceMs: 10 });
    clock.advance(10);
    await until(async () => (await seen(world, 'x'))?.length === 1, 'the end of the grace');
    expect(await world.account('team')).toMatchObject({ spent: { calls: 1, tokens: 60 }, reserved: {} });
    await ask(world, 'x', [want(60)]);
    expect((await seen(world, 'x'))?.at(-1)).toBe('use=["denied","cap_denied/budget"]');
    call.answer({ status: 'ok', payload: { got: 1 }, usage: { tokens_in: 5, calls: 1 } });
    await until(async () => (await recordsOf(store, 'late')).length === 1, 'the late answer');
    expect(await world.account('team')).toMatchObject({ spent: { calls: 1, tokens: 5 }, reserved: {} });
    await closeSound(world, store, app);
  });

  it('the answer of an effect whose right was revoked is late, corrects the spent amount, and changes nothing else [GATE-20]', async () => {
    const { world, store, adapters } = await given();
    await accounts(world, { tokens: 100 });
    await ask(world, 'x', [want(60)]);
    const running = await adapters[1].call(0);
    await rights(world, 'x', only([]));
    const before = await world.state(cell('x'));
    expect(await seen(world, 'x')).toEqual(['use=["cancelled","cap_denied/revoked"]']);
    expect(await world.account('team')).toMatchObject({ spent: { calls: 1, tokens: 60 }, reserved: {} });
    running.answer({ status: 'ok', payload: { got: 1 }, usage: { tokens_in: 5, calls: 1 } });
    await until(async () => (await recordsOf(store, 'late')).length === 1, 'the late answer');
    expect((await recordsOf(store, 'late')).map(({ status, settled }) => [status, settled])).toEqual([
      ['ok', 'cancelled'],
    ]);
    expect(await world.account('team')).toMatchObject({ spent: { calls: 1, tokens: 5 }, reserved: {} });
    expect(await world.state(cell('x'))).toEqual(before);
    expect((await world.rights(holder('x'))).effective?.exercise).toEqual({ may: { effect: [] } });
    await closeSound(world, store, app);
  });

  it('an effect that used more than it reserved leaves an overdraft, and nothing more is granted [GATE-26]', async () => {
    const { world, store, adapters } = await given();
    await accounts(world, { tokens: 100 });
    await ask(world, 'x', [want(10)]);
    (await adapters[1].call(0)).answer({ status: 'error', code: 'adapter_error/x', usage: { tokens_in: 150 } });
    await until(async () => (await seen(world, 'x'))?.length === 1);
    expect((await world.account('team'))?.spent).toEqual({ calls: 1, tokens: 150 });
    await ask(world, 'x', [want(0)]);
    expect((await seen(world, 'x'))?.at(-1)).toBe('use=["denied","cap_denied/budget"]');
    await closeSound(world, store, app);
  });

  it('with a limit on parallel effects, the next one starts when one has ended', async () => {
    const { world, store, adapters } = await given();
    await accounts(world, { parallel: 1 });
    await ask(world, 'x', [want(1), want(1)]);
    expect(await seen(world, 'x')).toEqual(['use=["denied","cap_denied/budget"]']);
    (await adapters[1].call(0)).answer(ok({ got: 1 }));
    await until(async () => (await seen(world, 'x'))?.length === 2);
    await ask(world, 'x', [want(1)]);
    await adapters[1].call(1);
    answerRest(adapters);
    await closeSound(world, store, app);
  });

  it('a sub-account is bounded by both accounts, and a cell may not change the accounts of others [GATE-28]', async () => {
    const { world, store, adapters } = await given();
    await accounts(world, { tokens: 100 });
    await world.command('sys/SetAccount@1', { account: 'foreign', parent: null, limits: {} });
    await ask(world, 'x', [
      send('kid', note('made')),
      kernel('sys/SetAccount@1', { account: 'kid', parent: 'team', limits: { tokens: 20 } }),
      kernel('sys/SetAccount@1', { account: 'mine', parent: null, limits: {} }),
      kernel('sys/SetAccount@1', { account: 'foreign', parent: null, limits: { tokens: 0 } }),
    ]);
    await ask(world, 'x', [kernel('sys/SetRights@1', { holder: holder('kid'), account: 'kid' })]);
    await ask(world, 'x', [kernel('sys/SetRights@1', { holder: holder('kid'), account: 'foreign' })]);
    await ask(world, 'kid', [want(30), want(15)]);
    expect(await seen(world, 'x')).toEqual([
      'CommandRefused cap_denied',
      'CommandRefused cap_denied',
      'CommandRefused cap_denied',
    ]);
    expect(await seen(world, 'kid')).toEqual(['made', 'use=["denied","cap_denied/budget"]']);
    expect(adapters[1].calls).toHaveLength(1);
    expect((await world.account('tenant'))?.reserved.tokens).toBe(15);
    answerRest(adapters);
    await closeSound(world, store, app);
  });

  it('an account that is made without a parent, moved, or too deep is refused', async () => {
    const { world, store } = await given();
    const make = (account: string, parent: string | null) =>
      world.command('sys/SetAccount@1', { account, parent, limits: {} });
    expect(await codeOf(make('a', 'nowhere'))).toBe('account_unknown');
    await make('0', null);
    for (let i = 1; i < 16; i++) await make(`${i}`, `${i - 1}`);
    expect(await codeOf(make('16', '15'))).toBe('bound_exceeded');
    expect(await codeOf(make('1', null))).toBe('invalid_argument');
    await ask(world, 'x', []);
    expect(await codeOf(rights(world, 'x', { account: 'nowhere' }))).toBe('account_unknown');
    await closeSound(world, store, app);
  });
});

describe('given an effect that several checks would refuse', () => {
  it('an effect is refused with the reason of the first check that fails [GATE-10]', async () => {
    const { world, store } = await given([{ effect: 'lab.use@1', decision: 'deny' }]);
    await world.command('sys/SetAccount@1', { account: 'small', parent: null, limits: { tokens: 10 } });
    await rights(world, 'x', { ...only(['lab.once@1']), account: 'small' });
    const told = async (tokens: number): Promise<string | undefined> => {
      await ask(world, 'x', [start('use', { tool: 't', tokens })]);
      await world.pump();
      return (await seen(world, 'x'))?.at(-1);
    };
    expect(await told(-60)).toBe('use=["denied","validation_error"]');
    expect(await told(60)).toBe('use=["denied","cap_denied"]');
    await rights(world, 'x', { ...only(['lab.*']), account: 'small' });
    expect(await told(60)).toBe('use=["denied","cap_denied/budget"]');
    expect(await told(6)).toBe('use=["denied","policy_denied"]');
    await closeSound(world, store, app);
  });
});

describe('given a policy that names no events', () => {
  const POLICY: readonly PolicyRule[] = [{ effect: '*', decision: 'allow' }];

  it('a cell may send to its parent, itself and its descendants; a send to a sibling is refused as data [GATE-15]', async () => {
    const { world, store } = await given(POLICY);
    await ask(world, 'p', [send('a', note('made'), send('a1', note('made'))), send('b', note('made'))]);
    await ask(world, 'a', [send('p', note('up')), send('a1', note('down')), send('a', note('self'))]);
    await ask(world, 'p', [send('a1', note('grandchild'))]);
    await ask(world, 'a', [send('b', note('sibling'))]);
    await ask(world, 'a', [command('b', note('sibling'))]);
    expect(await seen(world, 'p')).toEqual(['up']);
    expect(await seen(world, 'a1')).toEqual(['made', 'down', 'grandchild']);
    expect(await seen(world, 'b')).toEqual(['made']);
    expect(await seen(world, 'a')).toEqual(['made', 'self', 'Undeliverable denied', 'reply rejected policy_denied']);
    const denials = (await recordsOf(store, 'denial')).map(({ who, what, code }) => [who, what, code]);
    const denial = [holder('a'), `${cell('b').join('/')}#lab/Do@1`, 'policy_denied'];
    expect(denials).toEqual([denial, denial]);
    await closeSound(world, store, app);
  });

  it('a cell that may send to no cell still reaches its parent and itself, and no other [GATE-15]', async () => {
    const { world, store } = await given(POLICY);
    await ask(world, 'p', [send('a', note('made'), send('a1', note('made'))), send('b', note('made'))]);
    await rights(world, 'a', { exercise: { may: { send: [] } } });
    await ask(world, 'a', [send('p', note('up')), send('a', note('self'))]);
    await ask(world, 'a', [send('a1', note('down')), send('b', note('sibling'))]);
    expect(await seen(world, 'p')).toEqual(['up']);
    expect(await seen(world, 'a1')).toEqual(['made']);
    expect(await seen(world, 'b')).toEqual(['made']);
    expect(await seen(world, 'a')).toEqual(['made', 'self', 'Undeliverable denied', 'Undeliverable denied']);
    expect((await recordsOf(store, 'denial')).map(({ code }) => code)).toEqual(['cap_denied', 'cap_denied']);
    await closeSound(world, store, app);
  });

  it('a `send` right of a cell bounds what it and its descendants may reach and create [GATE-15]', async () => {
    const { world, store } = await given(POLICY);
    await ask(world, 'p', [send('a', note('made'), send('a1', note('made'), send('a2', note('made'))))]);
    await ask(world, 'p', [send('a', send('b1', note('made')))]);
    await rights(world, 'a', {
      exercise: { may: { send: [`${cell('a2').join('/')}#*`, `${cell('new').join('/')}#*`] } },
    });
    await ask(world, 'a', [send('a1', note('child')), send('a2', note('permitted')), send('b1', note('other child'))]);
    await ask(world, 'a', [send('new', note('permitted')), send('newer', note('not permitted'))]);
    // What is above narrows what is below: `a1` names nothing itself, and reaches its child since `a` may.
    await ask(world, 'a1', [send('a2', note('from a1')), send('made', note('not permitted')), send('a', note('up'))]);
    expect(await seen(world, 'a')).toEqual([
      'made',
      ...['Undeliverable denied', 'Undeliverable denied', 'Undeliverable denied', 'up'],
    ]);
    expect(await seen(world, 'a1')).toEqual(['made', 'Undeliverable denied']);
    expect(await seen(world, 'a2')).toEqual(['made', 'permitted', 'from a1']);
    expect(await seen(world, 'b1')).toEqual(['made']);
    expect(await seen(world, 'new')).toEqual(['permitted']);
    expect([await world.state(cell('newer')), await world.state(cell('made'))]).toEqual([undefined, undefined]);
    expect(new Set((await recordsOf(store, 'denial')).map(({ code }) => code))).toEqual(new Set(['cap_denied']));
    await closeSound(world, store, app);
  });

  it('a rule permits the sends that it names, and can bind people and the operator as well', async () => {
    const { world, store } = await given([
      { send: `${cell('b').join('/')}#*`, who: 'human:*', decision: 'deny' },
      { send: `${cell('b').join('/')}#lab/Do@1`, who: `${holder('a')}`, decision: 'allow' },
      ...POLICY,
    ]);
    await ask(world, 'a', []);
    await ask(world, 'b', []);
    await ask(world, 'c', [send('b', note('from c'))]);
    await ask(world, 'a', [send('b', note('from a'))]);
    expect(await seen(world, 'b')).toEqual(['from a']);
    expect(await codeOf(ask(world, 'b', [note('x')], { as: 'human:ann' }))).toBe('policy_denied');
    await closeSound(world, store, app);
  });

  it('a read under the reader’s own rights shows cells their own data, and rules bind people [GATE-16]', async () => {
    const { world, store } = await given([
      { read: `${cell('secret').join('/')}`, who: 'human:*', decision: 'deny' },
      ...POLICY,
    ]);
    await ask(world, 'p', [send('kid', note('made'))]);
    await ask(world, 'secret', [note('s')]);
    const kid = world.as(holder('kid'));
    expect(await kid.state(cell('p'))).toBeDefined();
    expect(await codeOf(kid.state(cell('secret')))).toBe('policy_denied');
    expect(await codeOf(world.as('human:ann').state(cell('secret')))).toBe('policy_denied');
    expect(await world.as('human:ann').state(cell('kid'))).toBeDefined();
    expect(await world.as('operator').state(cell('secret'))).toBeDefined();
    await closeSound(world, store, app);
  });
});

describe('given content to erase', () => {
  it('the operator alone erases by default; a rule can let people erase the content of some cells [CON-15]', async () => {
    const policy: readonly PolicyRule[] = [
      { erase: `${cell('mine').join('/')}`, who: 'human:ann', decision: 'allow' },
      { effect: '*', decision: 'allow' },
    ];
    const { world, store } = await given(policy);
    await ask(world, 'mine', [note('x')]);
    await ask(world, 'theirs', [note('x')]);
    expect(await codeOf(world.erase({ cell: cell('theirs') }, { as: 'human:ann' }))).toBe('policy_denied');
    expect(await codeOf(world.erase({ refs: [await world.content.put(Uint8Array.of(1))] }, { as: 'human:ann' }))).toBe(
      'policy_denied',
    );
    expect((await world.erase({ cell: cell('mine') }, { as: 'human:ann' })).erased).toBe(0);
    expect((await world.erase({ cell: cell('theirs') })).erased).toBe(0);
    await closeSound(world, store, app);
  });
});

describe('given an effect that a cell settles', () => {
  const wait = defineEffect({
    kind: 'lab.wait@1',
    params: z.strictObject({ on: z.tuple([z.string(), z.string()]) }),
    receipt: z.strictObject({ got: z.string() }),
    settledBy: 'on',
  });
  const waiting = lab(
    {
      *wait(input, plan) {
        const on = [...cell(String(input))] as [string, string];
        const { status, code, by } = yield* plan.awaitReceipt(plan.emitEffect(wait, { on }, { timeoutMs: 1_000 }));
        tellCell(plan, 'waited', [status, code ?? null, by ?? null]);
      },
    },
    [wait],
  );

  it('the plan continues in the frame in which the cell settles its effect, and no adapter is asked [EFF-13]', async () => {
    const store = crashable();
    const world = await openKernelWorld({ store, app: waiting.app, recheckEvery: 1 });
    await ask(world, 'judge', [when('settle', ['outcome', { status: 'ok', payload: { got: 'yes' } }])]);
    const { seq } = await ask(world, 'x', [start('wait', 'judge')]);
    expect(world.head.seq).toBe(seq);
    expect(await seen(world, 'judge')).toEqual([`opened ${wait.name}`]);
    expect(await seen(world, 'x')).toEqual([`waited=["ok",null,"${holder('judge')}"]`]);
    await closeSound(world, store, waiting.app);
  });

  it('an effect for a missing settling cell is an error at once; one for a silent cell times out [ASK-12]', async () => {
    const clock = new TestClock();
    const store = crashable();
    const world = await openKernelWorld({ store, app: waiting.app, clock, recheckEvery: 1 });
    await ask(world, 'x', [start('wait', 'nobody')]);
    expect(await seen(world, 'x')).toEqual(['waited=["error","adapter_error/no_settler",null]']);
    await ask(world, 'judge', []);
    await ask(world, 'x', [start('wait', 'judge')]);
    clock.advance(1_000);
    await until(async () => (await seen(world, 'x'))?.length === 2, 'the timeout');
    expect((await seen(world, 'x'))?.at(-1)).toBe('waited=["timeout","adapter_timeout",null]');
    await closeSound(world, store, waiting.app);
  });
});
