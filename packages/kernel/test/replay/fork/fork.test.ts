import { describe, expect, it } from 'vitest';
import { deferEffect, memory, openKernelWorld, type Store } from '../../../src/index.js';
import { closeSound, codeOf, expectSound, recordsOf, until } from '../../support/judge.js';
import { ask, name, note, seen, start } from '../../support/lab.js';
import { ok } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';
import { app, forked, given, outsides } from './given-fork.js';

async function framesOf(store: Store, to: number): Promise<string[]> {
  const open = await store.openReadonly();
  const frames: string[] = [];
  for await (const { seq, at, kind, head, bytes } of open.journal.read(0, to)) {
    frames.push(`${seq} ${at} ${kind} ${head} ${Buffer.from(bytes).toString('hex')}`);
  }
  await open.close();
  return frames;
}

/** Forks where an effect is open: the test says what became of it in the original. */
async function withOpenEffect(plan: 'once' | 'again') {
  const { world, store, adapters } = await given();
  await ask(world, 'a', [start(plan, 'x')]);
  await adapters[plan === 'once' ? 0 : 1].call(0);
  return { world, store, outside: adapters[plan === 'once' ? 0 : 1], at: world.head.seq };
}

describe('given a world', () => {
  it('a fork begins with the same frames, byte for byte, and is another world [FORK-1]', async () => {
    const { world, store, adapters } = await given();
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'a', [name('thing'), start('once', 'x')]);
    await world.pump();
    await world.snapshot();
    await ask(world, 'a', [note('later')]);
    for (let at = 0; at <= world.head.seq; at++) {
      const { store: copy, fork } = await forked(world, { at });
      expect(await framesOf(copy, at)).toEqual(await framesOf(store, at));
      expect([fork.forked?.world, fork.forked?.seq, fork.forked?.mode]).toEqual([world.id, at, 'dry']);
      expect(fork.id).not.toBe(world.id);
      await closeSound(fork, copy, app);
    }
    await closeSound(world, store, app);
  });

  it('a fork and its original draw the same identifiers after the same inputs', async () => {
    const { world, store } = await given();
    await ask(world, 'a', [name('first')]);
    const { store: copy, fork } = await forked(world);
    for (const one of [world, fork]) await ask(one, 'a', [name('second')]);
    expect(await seen(fork, 'a')).toEqual(await seen(world, 'a'));
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });

  it('a fork with invalid options is refused before anything is written [FORK-8]', async () => {
    const { world, store } = await given();
    const junk = [
      { at: 0.5 },
      { at: '0' },
      { mode: 'wet' },
      { random: 7 },
      { mode: 'live', grants: { may: 7 } },
      { mode: 'live', budgets: { team: { tokens: -1 } } },
      { mode: 'live', budgets: { team: 7 } },
    ];
    for (const options of junk) {
      const into = memory();
      expect(await codeOf(world.fork({ ...options, into } as never)), JSON.stringify(options)).toBe('invalid_argument');
      expect(await codeOf(into.openReadonly())).toBe('world_absent');
    }
    await closeSound(world, store, app);
  });

  it('a fork at a missing frame, or into a store with data, is refused [FORK-8]', async () => {
    const { world, store } = await given();
    await ask(world, 'a', [note('x')]);
    const into = memory();
    expect(await codeOf(world.fork({ into, at: 7 }))).toBe('invalid_argument');
    expect(await codeOf(world.fork({ into: store }))).toBe('world_locked');
    await world.fork({ into });
    expect(await codeOf(world.fork({ into }))).toBe('invalid_argument');
    expect(await codeOf(world.fork({ into: memory(), grants: { may: {} } }))).toBe('invalid_argument'); // not live
    expect(await codeOf(world.feed(await store.openReadonly()))).toBe('invalid_argument'); // not a fork
    await expectSound(into, app);
    await closeSound(world, store, app);
  });

  it('a cascade over several frames can be forked only behind its last frame [FORK-8]', async () => {
    const { world, store } = await given();
    const { seq } = await ask(world, 'a', [['many', 300, 'b', [note('x')]]]);
    expect(world.head.seq).toBeGreaterThan(seq);
    expect(await codeOf(world.fork({ into: memory(), at: seq }))).toBe('invalid_argument');
    const { store: copy, fork } = await forked(world);
    expect(await seen(fork, 'b299')).toEqual(['x']);
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });
});

describe('given an effect that is open at the cut', () => {
  it.each(['once', 'again'] as const)(
    'the fork settles the effect with the later receipt of the original (%s), and executes nothing [FORK-2]',
    async (plan) => {
      const { world, store, outside, at } = await withOpenEffect(plan);
      outside.calls[0]?.answer(ok({ got: 5 }));
      await until(async () => (await seen(world, 'a'))?.length === 1);
      for (const mode of ['dry', 'live'] as const) {
        const { store: copy, fork, calls } = await forked(world, { at, mode });
        await fork.pump();
        expect(await seen(fork, 'a')).toEqual(await seen(world, 'a'));
        expect(await fork.openEffects()).toEqual([]);
        expect(calls()).toBe(0);
        await closeSound(fork, copy, app);
      }
      await closeSound(world, store, app);
    },
  );

  it.each(['once', 'again'] as const)(
    'an effect without a receipt in the original (%s) ends with an unknown outcome and is not executed again [FORK-2]',
    async (plan) => {
      const { world, outside, at } = await withOpenEffect(plan);
      for (const mode of ['dry', 'live'] as const) {
        const { store: copy, fork, calls } = await forked(world, { at, mode, ...grantsIn(mode) });
        await fork.pump();
        expect((await seen(fork, 'a'))?.[0]).toContain('outcome_unknown');
        expect((await recordsOf(copy, 'settled')).map(({ by, code }) => [by, code])).toEqual([
          ['fork', 'adapter_error/forked'],
        ]);
        expect(calls()).toBe(0);
        await closeSound(fork, copy, app);
      }
      outside.calls[0]?.answer(ok({ got: 1 }));
      await world.close();
    },
  );

  it('an effect that was never armed is cancelled; one that was armed after the cut has an unknown outcome [FORK-2]', async () => {
    const [store, adapters] = [memory(), outsides()];
    const world = await openKernelWorld({ store, app, clock: new TestClock(), adapters, drive: 'manual' });
    await ask(world, 'a', [start('once', 'x')]);
    const at = world.head.seq;
    const before = await forked(world, { at });
    expect((await seen(before.fork, 'a'))?.[0]).toContain('cancelled');
    await closeSound(before.fork, before.store, app);
    void world.pump();
    await adapters[0].call(0);
    const after = await forked(world, { at });
    expect((await seen(after.fork, 'a'))?.[0]).toContain('outcome_unknown');
    await closeSound(after.fork, after.store, app);
    adapters[0].calls[0]?.answer(ok({ got: 1 }));
    await world.close();
  });

  it('an effect that waits for approval is settled by the later decision, and cancelled without one', async () => {
    const { world, store, adapters } = await given([
      { effect: '*', decision: 'require_approval' },
      { send: '*', decision: 'allow' },
    ]);
    adapters[0].answerAll(() => ok({ got: 1 }));
    await ask(world, 'a', [start('once', 'x')]);
    const at = world.head.seq;
    const undecided = await forked(world, { at });
    expect(await undecided.fork.pending()).toEqual([]);
    expect((await seen(undecided.fork, 'a'))?.[0]).toContain('cancelled');
    await closeSound(undecided.fork, undecided.store, app);
    const [item] = await world.pending();
    await world.decide(item as never, { approve: true });
    await until(async () => (await seen(world, 'a'))?.length === 1);
    const decided = await forked(world, { at });
    expect(await seen(decided.fork, 'a')).toEqual(await seen(world, 'a'));
    await closeSound(decided.fork, decided.store, app);
    await closeSound(world, store, app);
  });

  it('the outcome that another principal reported settles the effect, without one of the adapter', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'a', [start('once', 'x')]);
    (await adapters[0].call(0)).answer(deferEffect());
    await until(async () => (await world.pending()).length === 1);
    const at = world.head.seq;
    const [{ effect } = { effect: '' }] = await world.pending();
    await world.settle(effect, { status: 'ok', payload: { got: 9 } });
    const { store: copy, fork } = await forked(world, { at });
    expect(await seen(fork, 'a')).toEqual(await seen(world, 'a'));
    const again = await fork.settle(effect, { status: 'ok', payload: { got: 1 } });
    expect(again.status).toBe('already_settled');
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });
});

function grantsIn(mode: 'dry' | 'live') {
  return mode === 'live' ? { grants: { may: {} } } : {};
}
