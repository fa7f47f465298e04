import { describe, expect, it } from 'vitest';
import { forkReport, openKernelWorld, type Store } from '../../../src/index.js';
import { closeSound, codeOf, recordsOf, until } from '../../support/judge.js';
import { ask, cell, note, seen, start } from '../../support/lab.js';
import { ok } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';
import { app, forked, given, outsides } from './given-fork.js';

async function reportOf(store: Store, original?: Store) {
  const [fork, from] = [await store.openReadonly(), await original?.openReadonly()];
  return forkReport(fork, from);
}

/** A world with a past: two requests, each with effects that were answered. */
async function past() {
  const { world, store, adapters } = await given();
  let n = 0;
  adapters[0].answerAll(() => ok({ got: ++n }));
  await ask(world, 'a', [note('begins')], { id: 'r0' });
  await ask(world, 'a', [start('twice', 'x')], { id: 'r1' });
  await world.pump();
  await ask(world, 'b', [start('once', 'y')], { id: 'r2' });
  await world.pump();
  return { world, store, original: await store.openReadonly() };
}

describe('given a dry fork', () => {
  it('a dry fork with the inputs of the original reaches the same states and executes no effect [FORK-3]', async () => {
    const { world, store, original } = await past();
    for (let at = 1; at < world.head.seq; at++) {
      const { store: copy, fork, calls } = await forked(world, { at }, { drive: 'manual' });
      const { refused } = await fork.feed(original);
      expect(refused).toEqual([]);
      for (const key of ['a', 'b']) expect(await seen(fork, key), `at ${at}`).toEqual(await seen(world, key));
      expect(calls()).toBe(0);
      const report = await reportOf(copy, store);
      expect([report.unmatched, report.unused, report.departure]).toEqual([[], [], undefined]);
      await closeSound(fork, copy, app);
    }
    await closeSound(world, store, app);
  });

  it('another effect in a dry fork is denied, and the report shows both [FORK-3, FORK-4]', async () => {
    const { world, store } = await past();
    const { store: copy, fork, calls } = await forked(world, { at: 1 });
    await ask(fork, 'b', [start('once', 'other')], { id: 'r2' });
    await fork.pump();
    expect(await seen(fork, 'b')).toEqual(['once=["denied","policy_denied/fork_dry",null]']);
    expect(calls()).toBe(0);
    const { matched, unmatched, unused, departure } = await reportOf(copy, store);
    expect(matched).toEqual([]);
    expect(unmatched.map(({ name, params, cell: of }) => [name, params, of])).toEqual([
      ['lab.once@1', 'other', cell('b')],
    ]);
    expect(unused.map(({ name, cell: [, key], receipt }) => [name, key, receipt.payload])).toEqual([
      ['lab.once@1', 'a', { got: 1 }],
      ['lab.once@1', 'a', { got: 2 }],
      ['lab.once@1', 'b', { got: 3 }],
    ]);
    const [, , request] = (await recordsOf(store, 'request')).map(({ seq }) => seq);
    expect(departure?.original).toBe(request);
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });

  it('a dry fork that is closed and reopened still knows the receipts, and still executes no effect [FORK-3]', async () => {
    const { world, store } = await past();
    const { store: copy, fork } = await forked(world, { at: 1 });
    await fork.close();
    const adapters = outsides();
    const reopened = await openKernelWorld({ store: copy, app, adapters, clock: new TestClock() });
    await ask(reopened, 'a', [start('twice', 'x')]);
    await reopened.pump();
    expect((await seen(reopened, 'a'))?.at(-1)).toBe('twice=["ok","ok"]');
    expect(adapters.flatMap(({ calls }) => calls)).toEqual([]);
    expect((await recordsOf(copy, 'receipt')).map(({ recorded }) => typeof recorded)).toEqual(['string', 'string']);
    await closeSound(reopened, copy, app);
    await closeSound(world, store, app);
  });

  it('inputs for some cells leave the others unchanged, and inputs that are repeated have no second effect [FORK-5]', async () => {
    const { world, original } = await past();
    const { store: copy, fork } = await forked(world, { at: 1 });
    expect(await fork.feed(original, { cells: [cell('b')] })).toEqual({ sent: 1, refused: [] });
    expect([await seen(fork, 'a'), await seen(fork, 'b')]).toEqual([['begins'], await seen(world, 'b')]);
    const { head } = fork;
    expect(await fork.feed(original, { cells: [cell('b')] })).toEqual({ sent: 1, refused: [] });
    expect(fork.head).toEqual(head);
    const other = await given();
    await ask(other.world, 'a', [note('x')]);
    await ask(other.world, 'a', [note('x')]);
    expect(await codeOf(fork.feed(await other.store.openReadonly()))).toBe('invalid_argument');
    await closeSound(fork, copy, app);
    await other.world.close();
    await world.close();
  });

  it('a dry fork gets its answers in the order in which the original got them', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'a', [note('x')]);
    const at = world.head.seq;
    await ask(world, 'a', [start('once', 1), start('once', 2), start('again', 3)]);
    const calls = [await adapters[0].call(0), await adapters[0].call(1), await adapters[1].call(0)];
    for (const [i, index] of [2, 0, 1].entries()) {
      calls[index]?.answer(ok({ got: index }));
      await until(async () => (await seen(world, 'a'))?.length === 2 + i);
    }
    const { store: copy, fork } = await forked(world, { at });
    await fork.feed(await store.openReadonly());
    expect(await seen(fork, 'a')).toEqual(await seen(world, 'a'));
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });

  it('an effect that ended although the original asked it to stop ends in the fork as well', async () => {
    const { world, store, adapters } = await given();
    await ask(world, 'a', [note('x')]);
    const at = world.head.seq;
    await ask(world, 'a', [start('stopping', 1)]);
    (await adapters[1].call(0)).answer(ok({ got: 1 }));
    const told = await adapters[0].call(0);
    await until(() => told.context.signal.aborted);
    told.answer(ok({ got: 2 }));
    await until(async () => (await seen(world, 'a'))?.length === 2);
    const { store: copy, fork } = await forked(world, { at });
    await fork.feed(await store.openReadonly());
    expect(await seen(fork, 'a')).toEqual(['x', 'stopping="ok"']);
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });

  it('a fork of a dry fork, before or after its own first frame, gets receipts of both worlds', async () => {
    const { world } = await past();
    const first = await forked(world, { at: 1 });
    await ask(first.fork, 'a', [start('twice', 'x')]);
    await first.fork.pump();
    const behind = await forked(first.fork, { at: 1 });
    const after = await forked(first.fork, { at: 3 });
    for (const { store, fork, calls } of [behind, after]) {
      await ask(fork, 'a', [start('twice', 'x')]);
      await fork.pump();
      expect((await seen(fork, 'a'))?.at(-1)).toBe('twice=["ok","ok"]');
      expect(calls()).toBe(0);
      await closeSound(fork, store, app);
    }
    expect(await codeOf(forked(first.fork, { mode: 'live', grants: { may: {} } }))).toBe('invalid_argument');
    await closeSound(first.fork, first.store, app);
    await world.close();
  });
});
