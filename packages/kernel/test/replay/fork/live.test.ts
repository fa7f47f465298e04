import type { Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import type { World } from '../../../src/index.js';
import { closeSound, codeOf, recordsOf, until } from '../../support/judge.js';
import { ask, cell, end, note, seen, send, start } from '../../support/lab.js';
import { ok } from '../../support/outside.js';
import { app, forked, given } from './given-fork.js';

const EVERYTHING = { grants: { may: {} } } as const;
const LIVE = { mode: 'live', ...EVERYTHING } as const;

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

function setAccount(world: World, account: string, limits: Record<string, number>, parent: string | null = null) {
  return world.command('sys/SetAccount@1', { account, parent, limits });
}

describe('given a live fork', () => {
  it('a live fork without grants executes no effect, and with grants works within them [FORK-6]', async () => {
    const { world, store } = await given();
    await ask(world, 'a', [note('x')]);
    for (const [grants, expected, asked] of [
      [undefined, '["denied","cap_denied",null]', 0],
      [{ may: { effect: ['lab.again@1'] } }, '["denied","cap_denied",null]', 0],
      [{ may: { effect: ['lab.once@1'] } }, '["ok",null,{"got":1}]', 1],
    ] as const) {
      const {
        store: copy,
        fork,
        adapters,
        calls,
      } = await forked(world, {
        mode: 'live',
        ...(grants === undefined ? {} : { grants }),
      });
      adapters[0].answerAll(() => ok({ got: 1 }));
      await ask(fork, 'a', [start('once', 'x')]);
      await fork.pump();
      expect((await seen(fork, 'a'))?.at(-1)).toBe(`once=${expected}`);
      expect(calls()).toBe(asked);
      await closeSound(fork, copy, app);
    }
    await closeSound(world, store, app);
  });

  it('a live fork that repeats the work of the original uses another idempotency key [FORK-1]', async () => {
    const { world, adapters } = await given();
    await ask(world, 'a', [note('x')]);
    const at = world.head.seq;
    await ask(world, 'a', [start('once', 'x')]);
    const original = await adapters[0].call(0);
    const { fork, adapters: others } = await forked(world, { ...LIVE, at });
    await ask(fork, 'a', [start('once', 'x')]);
    const own = await others[0].call(0);
    expect(own.context.idempotencyKey).not.toBe(original.context.idempotencyKey);
    for (const call of [original, own]) call.answer(ok({ got: 1 }));
    await fork.close();
    await world.close();
  });

  it('a right that the original lost after the cut stays revoked in a live fork [GATE-21, FORK-6]', async () => {
    const { world, adapters } = await given();
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'top', [send('low', note('made'))]);
    const at = world.head.seq;
    await world.command('sys/SetRights@1', { holder: holder('top'), grant: { may: { effect: ['lab.again@1'] } } });
    const { store, fork, calls } = await forked(world, { ...LIVE, at });
    await ask(fork, 'low', [start('once', 'x')]);
    await fork.pump();
    expect((await seen(fork, 'low'))?.at(-1)).toBe('once=["denied","cap_denied",null]');
    expect(calls()).toBe(0);
    await closeSound(fork, store, app);
    await world.close();
  });

  it('a live fork does not have a right that the original got after the cut [FORK-6]', async () => {
    const { world } = await given();
    await ask(world, 'a', [note('x')]);
    await world.command('sys/SetRights@1', { holder: holder('a'), exercise: { may: { effect: [] } } });
    const at = world.head.seq;
    await world.command('sys/SetRights@1', { holder: holder('a'), exercise: null });
    const { store, fork, calls } = await forked(world, { ...LIVE, at });
    await ask(fork, 'a', [start('once', 'x')]);
    await fork.pump();
    expect((await seen(fork, 'a'))?.at(-1)).toBe('once=["denied","cap_denied",null]');
    expect(calls()).toBe(0);
    await closeSound(fork, store, app);
    await world.close();
  });

  it('a live fork asks again when the original dropped a remembered approval after the cut', async () => {
    const { world } = await given([
      { effect: '*', decision: 'require_approval' },
      { send: '*', decision: 'allow' },
    ]);
    await ask(world, 'a', [note('x')]);
    await world.command('sys/SetRights@1', { holder: holder('a'), approved: [['lab.once@1', null]] });
    const at = world.head.seq;
    await world.command('sys/SetRights@1', { holder: holder('a'), approved: [] });
    const { store, fork, calls } = await forked(world, { ...LIVE, at });
    await ask(fork, 'a', [start('once', 'x')]);
    await fork.pump();
    expect((await fork.pending()).map(({ kind }) => kind)).toEqual(['approval']);
    expect(calls()).toBe(0);
    await closeSound(fork, store, app);
    await world.close();
  });

  it('a live fork keeps a remembered approval of a later generation of a cell for that generation [GATE-8, FORK-6]', async () => {
    const { world } = await given([
      { effect: '*', decision: 'require_approval' },
      { send: '*', decision: 'allow' },
    ]);
    await ask(world, 'a', [end()]);
    await ask(world, 'a', [note('anew')]);
    await world.command('sys/SetRights@1', { holder: holder('a'), approved: [['lab.once@1', null]] });
    const at = world.head.seq;
    await world.command('sys/SetRights@1', { holder: holder('a'), exercise: { may: { effect: ['lab.*'] } } });
    const { store, fork } = await forked(world, { ...LIVE, at });
    const { declared } = await fork.rights(holder('a'));
    expect([declared?.approved, declared?.inc]).toEqual([[['lab.once@1', null]], 1]);
    await closeSound(fork, store, app);
    await world.close();
  });

  it('the budget that the original spent after the cut is spent in the fork [FORK-7]', async () => {
    const { world, adapters } = await given();
    adapters[2].answerAll(() => ok({ got: 1 }));
    await ask(world, 'a', [note('x')]);
    await setAccount(world, 'all', { tokens: 100 });
    await world.command('sys/SetRights@1', { holder: holder('a'), account: 'all' });
    const at = world.head.seq;
    await ask(world, 'a', [start('costly', { tokens: 80 })]);
    await world.pump();
    expect((await world.account('all'))?.spent).toEqual({ calls: 1, tokens: 80 });
    for (const [budgets, expected, limits] of [
      [undefined, '["denied","cap_denied/budget"]', { calls: 0, parallel: 0, tokens: 0 }],
      [{ all: {} }, '["denied","cap_denied/budget"]', { tokens: 100 }],
      [{ all: { tokens: 200 } }, '["ok",null]', { tokens: 200 }],
    ] as const) {
      const more = budgets === undefined ? {} : { budgets };
      const { store, fork, adapters: others } = await forked(world, { ...LIVE, at, ...more });
      others[2].answerAll(() => ok({ got: 1 }));
      expect(await fork.account('all')).toEqual({
        parent: null,
        limits,
        spent: { calls: 1, tokens: 80 },
        reserved: {},
      });
      await ask(fork, 'a', [start('costly', { tokens: 30 })]);
      await fork.pump();
      expect((await seen(fork, 'a'))?.at(-1)).toBe(`costly=${expected}`);
      await closeSound(fork, store, app);
    }
    expect(await codeOf(forked(world, { ...LIVE, budgets: { none: {} } }))).toBe('account_unknown');
    await world.close();
  });

  it('the reserve of an effect that is open at the cut counts as spent, once', async () => {
    const { world, adapters } = await given();
    await ask(world, 'a', [note('x')]);
    await setAccount(world, 'all', { tokens: 100 });
    await world.command('sys/SetRights@1', { holder: holder('a'), account: 'all' });
    await ask(world, 'a', [start('costly', { tokens: 60 })]);
    await adapters[2].call(0);
    const at = world.head.seq;
    const spentIn = async () => {
      const { store, fork } = await forked(world, { ...LIVE, at, budgets: { all: {} } });
      const account = await fork.account('all');
      await closeSound(fork, store, app);
      return [account?.spent, account?.reserved];
    };
    expect(await spentIn()).toEqual([{ calls: 1, tokens: 60 }, {}]);
    adapters[2].calls[0]?.answer({ status: 'ok', payload: { got: 1 }, usage: { tokens_out: 7 } });
    await until(async () => (await seen(world, 'a'))?.length === 2);
    expect(await spentIn()).toEqual([{ calls: 1, tokens: 7 }, {}]);
    await world.close();
  });

  it('the fork is also charged to an account that the original got after the cut', async () => {
    const { world } = await given();
    await ask(world, 'a', [note('x')]);
    const at = world.head.seq;
    await setAccount(world, 'all', { tokens: 10 });
    await world.command('sys/SetRights@1', { holder: holder('a'), account: 'all' });
    const { store, fork, calls } = await forked(world, { ...LIVE, at });
    await ask(fork, 'a', [start('costly', { tokens: 1 })]);
    await fork.pump();
    expect((await seen(fork, 'a'))?.at(-1)).toBe('costly=["denied","cap_denied/budget"]');
    expect(calls()).toBe(0);
    await closeSound(fork, store, app);
    await world.close();
  });

  it('a fork of a live fork, before its own first frame, permits no more than the first fork got', async () => {
    const { world } = await given();
    await ask(world, 'a', [note('x')]);
    const at = world.head.seq;
    const first = await forked(world, { mode: 'live', grants: { may: { effect: ['lab.again@1'] } } });
    const { store, fork, calls } = await forked(first.fork, { ...LIVE, at });
    await ask(fork, 'a', [start('once', 'x')]);
    await fork.pump();
    expect((await seen(fork, 'a'))?.at(-1)).toBe('once=["denied","cap_denied",null]');
    expect(calls()).toBe(0);
    await closeSound(fork, store, app);
    await first.fork.close();
    await world.close();
  });

  it('a live fork executes the effects of given inputs itself', async () => {
    const { world, store, adapters } = await given();
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'a', [note('x')]);
    const at = world.head.seq;
    await ask(world, 'a', [start('once', 'x')]);
    await world.pump();
    const { store: copy, fork, adapters: others, calls } = await forked(world, { ...LIVE, at });
    others[0].answerAll(() => ok({ got: 2 }));
    await fork.feed(await store.openReadonly());
    expect((await seen(fork, 'a'))?.at(-1)).toBe('once=["ok",null,{"got":2}]');
    expect(calls()).toBe(1);
    expect((await recordsOf(copy, 'receipt')).at(-1)?.recorded).toBeUndefined();
    await closeSound(fork, copy, app);
    await world.close();
  });
});
