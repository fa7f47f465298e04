import { RepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { forkWorld, memory, type OpenStore, openKernelWorld, type Store, verifyStore } from '../../../src/index.js';
import { closeSound, codeOf } from '../../support/judge.js';
import { ask, log, note, start } from '../../support/lab.js';
import { nativeHash } from '../../support/laws/run-schedule.js';
import { ok } from '../../support/outside.js';
import { TestClock } from '../../support/test-clock.js';
import { app, forked, given, outsides } from './given-fork.js';

/** A store whose holder dies at its nth write, before or after that took place. */
function mortal(inner: Store, diesAt: number, when: 'before' | 'after') {
  let writes = 0;
  const write = async <T>(body: () => Promise<T>): Promise<T> => {
    const dies = writes++ === diesAt;
    if (dies && when === 'before') throw new RepriseError('store_failed', 'the process died');
    const done = await body();
    if (dies) throw new RepriseError('store_failed', 'the process died');
    return done;
  };
  const store: Store = {
    ...inner,
    open: async () => {
      const open: OpenStore = await inner.open();
      return {
        ...open,
        journal: { ...open.journal, append: (frames, head) => write(() => open.journal.append(frames, head)) },
        content: { ...open.content, erase: (refs, by) => write(() => open.content.erase(refs, by)) },
        mark: (text) => write(() => open.mark(text)),
      };
    },
  };
  return { store, writes: () => writes };
}

/** A world with content that was erased on either side of the cut. */
async function past(notes: number) {
  const { world, store, adapters } = await given();
  adapters[0].answerAll(() => ok({ got: 1 }));
  const refs = [];
  for (const text of ['gone early', 'gone late', 'stays']) {
    const ref = await world.content.put(new TextEncoder().encode(text));
    await ask(world, 'a', [log(ref)]);
    refs.push(ref);
  }
  const [early, late] = refs;
  await Promise.all(Array.from({ length: notes }, () => ask(world, 'a', [note('x')])));
  await world.erase({ refs: [early as never] });
  await ask(world, 'a', [start('again', 'open')]);
  await adapters[1].call(0);
  const at = world.head.seq;
  await world.erase({ refs: [late as never] });
  adapters[1].calls[0]?.answer(ok({ got: 1 }));
  await world.pump();
  return { world, store, at, refs };
}

describe('given a fork that is being made [FORK-9]', () => {
  it.each([
    ['at once', 1, 5],
    ['in several batches', 520, 7],
  ])(
    'a fork whose maker dies at any write of one written %s does not open, and making it again completes it [FORK-10]',
    async (_, notes, writes) => {
      const { world, store, at, refs } = await past(notes);
      const source = await store.openReadonly();
      const whole = mortal(memory({ hash: nativeHash }), Number.POSITIVE_INFINITY, 'before');
      await forkWorld(source, { app, at, into: whole.store });
      expect(whole.writes()).toBeGreaterThanOrEqual(writes);
      const refused = { unfinished: 0, whole: 0 };
      for (let diesAt = 0; diesAt < whole.writes(); diesAt++) {
        for (const when of ['before', 'after'] as const) {
          const into = memory({ hash: nativeHash });
          expect(await codeOf(forkWorld(source, { app, at, into: mortal(into, diesAt, when).store }))).toBe(
            'store_failed',
          );
          const noted = diesAt > 0 || when === 'after';
          const opened = noted ? await tryOpen(into) : 'empty';
          if (opened === 'unfinished' || opened === 'empty') await forkWorld(source, { app, at, into });
          if (opened !== 'empty') refused[opened]++;
          expect(await expectFork(into, world.id, at)).toMatchObject({ erased: 2, returned: 0 });
          const content = (await into.openReadonly()).content;
          const there = await Promise.all(refs.map((ref) => content.has(ref)));
          expect(there).toEqual([false, false, true]);
        }
      }
      expect(refused.unfinished).toBeGreaterThan(writes - 2);
      expect(refused.whole).toBeGreaterThan(1);
      await closeSound(world, store, app);
    },
  );

  it('an unfinished fork can be continued only from the same world', async () => {
    const { world, store } = await given();
    const into = memory({ hash: nativeHash });
    for (const word of ['x', 'y']) await ask(world, 'a', [note(word)]);
    const source = await store.openReadonly();
    const dying = mortal(into, 2, 'before'); // the note and the shared frames are there
    expect(await codeOf(forkWorld(source, { app, into: dying.store }))).toBe('store_failed');
    const other = await given();
    for (const word of ['x', 'y', 'z']) await ask(other.world, 'a', [note(word)]);
    expect(await codeOf(other.world.fork({ into }))).toBe('invalid_argument');
    expect(await codeOf(world.fork({ into, at: 1 }))).toBe('invalid_argument'); // more is there than that
    await ask(world, 'a', [note('z')]);
    await world.fork({ into });
    await expectFork(into, world.id, 3);
    await other.world.close();
    await closeSound(world, store, app);
  });
});

/** Whole when it opens as a world of its own; never as the original. */
async function tryOpen(into: Store): Promise<'unfinished' | 'whole'> {
  try {
    const fork = await openKernelWorld({ store: into, app, clock: new TestClock(), drive: 'manual' });
    expect(fork.forked).toBeDefined();
    await fork.close();
    return 'whole';
  } catch (error) {
    expect((error as RepriseError).code).toBe('fork_unfinished');
    return 'unfinished';
  }
}

async function expectFork(into: Store, original: string, at: number) {
  const report = await verifyStore(await into.openReadonly(), { app });
  const adapters = outsides();
  const fork = await openKernelWorld({ store: into, app, adapters, clock: new TestClock() });
  await fork.pump();
  expect([fork.forked?.world, fork.forked?.seq]).toEqual([original, at]);
  expect(fork.id).not.toBe(original);
  expect(adapters.flatMap(({ calls }) => calls)).toEqual([]);
  await fork.close();
  return report;
}

describe('given content that was erased from the original', () => {
  it('content that an unfinished fork has already is erased there as well when the fork is completed [FORK-10]', async () => {
    const { world, store } = await given();
    const ref = await world.content.put(new TextEncoder().encode('copied too early'));
    await ask(world, 'a', [log(ref)]);
    const at = world.head.seq;
    const into = memory({ hash: nativeHash });
    const dying = mortal(into, 2, 'before'); // the shared frames and what they link are there
    expect(await codeOf(world.fork({ into: dying.store, at }))).toBe('store_failed');
    const half = await into.openReadonly();
    expect(await half.content.has(ref)).toBe(true);
    await half.close();
    await world.erase({ refs: [ref] });
    await world.fork({ into, at });
    const whole = await into.openReadonly();
    expect(await whole.content.has(ref)).toBe(false);
    await whole.close();
    await expectFork(into, world.id, at);
    await closeSound(world, store, app);
  });

  it('content that a later message stored again is in the fork as in the original [FORK-10]', async () => {
    const { world, store } = await given();
    const put = () => world.content.put(new TextEncoder().encode('comes and goes'));
    const ref = await put();
    await ask(world, 'a', [log(ref)]);
    await world.erase({ refs: [ref] });
    await put();
    await ask(world, 'a', [log(ref)]);
    const { store: copy, fork } = await forked(world);
    expect(await fork.content.get(ref)).toEqual(new TextEncoder().encode('comes and goes'));
    await closeSound(fork, copy, app);
    await closeSound(world, store, app);
  });
});
