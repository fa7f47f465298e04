/** Whose rights count: adapters act for the cell of their effect, cells are who they were, people own what they were given. */
import type { PolicyRule, Principal } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineEffect, openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, recordsOf } from '../../../support/judge.js';
import { ask, cell, command, end, kernel, lab, note, once, seen, send, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';

const wait = defineEffect({
  kind: 'lab.wait@1',
  params: z.strictObject({ on: z.tuple([z.string(), z.string()]) }),
  receipt: z.strictObject({ got: z.string() }),
  settledBy: 'on',
});

const { app } = lab(
  {
    *work(input, plan) {
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
      tellCell(plan, 'work', [status, code ?? null]);
    },
    // biome-ignore lint/correctness/useYield: it leaves its effect behind
    *leave(input, plan) {
      plan.emitEffect(once, input);
    },
    *wait(input, plan) {
      const on: [string, string] = [...cell(String(input))];
      const { status, code } = yield* plan.awaitReceipt(plan.emitEffect(wait, { on }));
      tellCell(plan, 'waited', [status, code ?? null]);
    },
  },
  [wait],
);

const ASKING: readonly PolicyRule[] = [
  { effect: once.name, decision: 'require_approval' },
  { effect: '*', decision: 'allow' },
];

/** Nobody but family is reached. */
const NEAR: readonly PolicyRule[] = [{ effect: '*', decision: 'allow' }];

const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

async function given(policy: readonly PolicyRule[]) {
  const store = crashable();
  const adapter = outside(once);
  const world = await openKernelWorld({ store, app, policy, recheckEvery: 1, adapters: [adapter] });
  return { store, adapter, world };
}

const rights = (world: World, of: Principal, change: object, as: Principal = 'operator') =>
  world.command('sys/SetRights@1', { holder: of, ...change }, { as });

describe('given the adapter of an effect', () => {
  it('an adapter that asks and reads reaches what the cell of its effect reaches, and nothing after the effect has ended [GATE-18]', async () => {
    const { world, store, adapter } = await given(NEAR);
    await ask(world, 'stranger', []);
    await ask(world, 'x', [send('child'), start('work')]);
    const call = await adapter.call(0);
    const as: Principal = `adapter:${call.context.idempotencyKey}`;
    await ask(world, 'x', [note('heard')], { as });
    await ask(world, 'child', [note('heard')], { as });
    expect(await codeOf(ask(world, 'stranger', [note('heard')], { as }))).toBe('policy_denied');
    expect(await codeOf(ask(world, 'made by nobody', [], { as }))).toBe('cap_denied');
    expect(await world.as(as).state(cell('child'))).toBeDefined();
    expect(await codeOf(world.as(as).state(cell('stranger')))).toBe('policy_denied');
    call.answer(ok(1));
    await world.pump();
    expect(await codeOf(ask(world, 'x', [note('too late')], { as }))).toBe('cap_denied');
    expect(await codeOf(world.as(as).state(cell('x')))).toBe('cap_denied');
    await closeSound(world, store, app);
  });

  it('an adapter has the rights of its cell, also narrowed ones, and cannot get its own [GATE-18]', async () => {
    const { world, store, adapter } = await given(NEAR);
    await ask(world, 'x', [send('child'), start('work')]);
    const as: Principal = `adapter:${(await adapter.call(0)).context.idempotencyKey}`;
    await rights(world, holder('x'), { exercise: { may: { read: ['other*'] } } });
    expect(await codeOf(world.as(as).state(cell('child')))).toBe('cap_denied');
    expect(await codeOf(rights(world, as, { exercise: null }))).toBe('invalid_argument');
    const carve = { account: 'own', parent: null, limits: {} };
    expect(await codeOf(world.command('sys/SetAccount@1', carve, { as }))).toBe('cap_denied');
    adapter.answerAll(() => ok(1));
    await closeSound(world, store, app);
  });
});

describe('given requests in the name of a cell', () => {
  it('a request in the name of a cell reaches that cell alone, and makes none, whatever the policy lets its events reach [GATE-30]', async () => {
    const allowed: readonly PolicyRule[] = [{ send: '*', decision: 'allow' }, ...NEAR];
    const { world, store } = await given(allowed);
    await ask(world, 'stranger', []);
    await ask(world, 'x', [send('child')]);
    const as = holder('x');
    await ask(world, 'x', [note('heard')], { as });
    for (const key of ['child', 'stranger', 'made by nobody'])
      expect(await codeOf(ask(world, key, [note('heard')], { as })), key).toBe('policy_denied');
    expect(await codeOf(ask(world, 'nobody', [], { as: holder('nobody') }))).toBe('policy_denied');
    expect(await world.state(cell('made by nobody'))).toBeUndefined();
    await closeSound(world, store, app);
  });
});

describe('given rights of everybody', () => {
  const EVERYBODY = { exercise: { may: { send: [], read: [], settle: [] } } };

  it('the rights of human:* count for each person without rights, for sending, reading and handing on [GATE-31]', async () => {
    const { world, store } = await given(NEAR);
    await ask(world, 'x', []);
    await rights(world, 'human:ann', { exercise: { may: { send: ['*'] } } });
    await rights(world, 'human:*', EVERYBODY);
    expect(await codeOf(ask(world, 'x', [note('heard')], { as: 'human:eve' }))).toBe('cap_denied');
    expect(await codeOf(world.as('human:eve').state(cell('x')))).toBe('cap_denied');
    await ask(world, 'x', [note('heard')], { as: 'human:ann' });
    await ask(world, 'x', [note('heard')]);
    expect(await codeOf(rights(world, 'human:bob', { exercise: { may: {} } }, 'human:eve'))).not.toBeUndefined();
    await closeSound(world, store, app);
  });

  it('a person cannot leave the rights of everybody by setting its own [GATE-31]', async () => {
    const { world, store } = await given(NEAR);
    await ask(world, 'x', []);
    await rights(world, 'human:*', EVERYBODY);
    for (const exercise of [{ may: {} }, { may: { read: [], settle: [] } }, null])
      expect(await codeOf(rights(world, 'human:eve', { exercise }, 'human:eve'))).toBe('rights_exceeded');
    await rights(world, 'human:eve', { exercise: { may: { ...EVERYBODY.exercise.may, tool: [] } } }, 'human:eve');
    expect(await codeOf(ask(world, 'x', [note('heard')], { as: 'human:eve' }))).toBe('cap_denied');
    await rights(world, 'human:eve', { exercise: null });
    await ask(world, 'x', [note('heard')], { as: 'human:eve' });
    await closeSound(world, store, app);
  });
});

describe('given a principal without an account', () => {
  it('a principal without an account may not make or change accounts or charge others; one with an account governs those below [GATE-28]', async () => {
    const { world, store } = await given(NEAR);
    await ask(world, 'x', []);
    const set = (account: string, parent: string | null, as?: Principal) =>
      world.command('sys/SetAccount@1', { account, parent, limits: { calls: 1 } }, as === undefined ? {} : { as });
    await set('tenant', null);
    const as = 'human:ann';
    expect(await codeOf(set('own', null, as))).toBe('cap_denied');
    expect(await codeOf(set('tenant', null, as))).toBe('cap_denied');
    expect(await codeOf(set('below', 'tenant', as))).toBe('cap_denied');
    expect(await codeOf(rights(world, holder('x'), { account: 'tenant' }, as))).toBe('cap_denied');
    await rights(world, as, { account: 'tenant' });
    await set('below', 'tenant', as);
    await rights(world, holder('x'), { account: 'below' }, as);
    expect(await codeOf(set('tenant', null, as))).toBe('cap_denied');
    expect(await codeOf(rights(world, as, { account: null }, as))).toBe('cap_denied');
    await closeSound(world, store, app);
  });
});

describe('given an effect that a cell settles, without a deadline', () => {
  it('an effect without a deadline ends in error when its settling cell ends, and a new cell in its place cannot settle it [ASK-12]', async () => {
    const { world, store } = await given(NEAR);
    await ask(world, 'judge', []);
    await ask(world, 'x', [start('wait', 'judge'), start('wait', 'judge')]);
    const [open] = await world.openEffects();
    const { seq } = await ask(world, 'judge', [end()]);
    expect(world.head.seq).toBe(seq);
    const told = 'waited=["error","adapter_error/no_settler"]';
    expect(await seen(world, 'x')).toEqual([told, told]);
    expect(await world.openEffects()).toEqual([]);
    const outcome = { status: 'ok', payload: { got: 'yes' } };
    await ask(world, 'judge', [kernel('sys/Settle@1', { effect: open?.effect, outcome })]);
    expect(await seen(world, 'x')).toEqual([told, told]);
    expect((await recordsOf(store, 'settled')).map(({ by }) => by)).toEqual(['cell', 'cell']);
    await closeSound(world, store, app);
  });
});

describe('given two cells that send to a missing cell', () => {
  it('the first of two senders creates the missing cell, and the second is judged as a stranger [GATE-15]', async () => {
    const { world, store } = await given(NEAR);
    await ask(world, 'top', [send('a'), send('b')]);
    await ask(world, 'top', [
      send('a', command('new', note('by a'))),
      send('b', command('new', note('by b')), send('new', note('by b'))),
    ]);
    expect(await seen(world, 'new')).toEqual(['by a']);
    expect(await seen(world, 'b')).toEqual(['reply rejected policy_denied', 'Undeliverable denied']);
    const denials = (await recordsOf(store, 'denial')).map(({ who, code }) => [who, code]);
    expect(denials).toEqual(Array(2).fill([holder('b'), 'policy_denied']));
    await ask(world, 'a', [send('new', note('again'))]);
    expect((await seen(world, 'new'))?.at(-1)).toBe('again');
    await closeSound(world, store, app);
  });
});

describe('given an effect that an ended cell left behind', () => {
  it('a waiting effect of an ended cell is not judged by the rights of a new cell at its address, and does not start [GATE-8, GATE-14]', async () => {
    const { world, store, adapter } = await given(ASKING);
    await ask(world, 'warden', [send('kid', note('made'))]);
    await rights(world, 'cell:lab/Cell@1/warden', { grant: { may: { effect: ['lab.*'] } } });
    await ask(world, 'kid', [start('leave')]);
    await ask(world, 'kid', [end()]);
    await ask(world, 'kid', [note('anew')]); // by the host, below nobody
    const [item] = await world.pending();
    await world.decide(item as never, { approve: true, remember: { until: null } });
    expect((await recordsOf(store, 'settled')).at(-1)).toMatchObject({
      status: 'denied',
      code: 'cap_denied/broken_chain',
    });
    expect(adapter.calls).toHaveLength(0);
    expect((await world.rights(holder('kid'))).declared?.approved ?? []).toEqual([]);
    await closeSound(world, store, app);
  });

  it('an open effect of an ended cell does not count for what the new cell may have open at once', async () => {
    const { world, store } = await given(ASKING);
    await ask(world, 'kid', [start('leave')]);
    await ask(world, 'kid', [end()]);
    await ask(world, 'kid', [note('anew')]);
    await rights(world, holder('kid'), { exercise: { may: {}, max_parallel: 1 } });
    await ask(world, 'kid', [start('leave')]);
    expect(await world.openEffects()).toHaveLength(1); // the one left behind lost its chain, the new one has its place
    await ask(world, 'kid', [start('leave')]);
    expect(await world.openEffects()).toHaveLength(1);
    await closeSound(world, store, app);
  });
});

describe('given a cell whose key imitates an address', () => {
  it('a rule about the events of another cell does not apply to it [GATE-15]', async () => {
    const rule = { send: 'lab/Cell@1/a#*', who: 'cell:lab/Cell@1/from', decision: 'allow' } as const;
    const { world, store } = await given([rule, ...NEAR]);
    for (const key of ['a', 'a#b', 'a%23b']) await ask(world, key, []);
    await ask(world, 'from', []);
    await ask(world, 'from', [send('a', note('heard')), send('a#b', note('heard')), send('a%23b', note('heard'))]);
    expect(await seen(world, 'a')).toEqual(['heard']);
    expect(await seen(world, 'a#b')).toEqual([]);
    expect((await recordsOf(store, 'denial')).map(({ what }) => what)).toEqual([
      'lab/Cell@1/a%23b#lab/Do@1',
      'lab/Cell@1/a%2523b#lab/Do@1',
    ]);
    await closeSound(world, store, app);
  });
});
