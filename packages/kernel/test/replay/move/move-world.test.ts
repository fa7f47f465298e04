/** A world moves into another store whole, is never in use in both, and a move that dies anywhere is continued. */
import { type Ref, RepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import {
  memory,
  moveWorld,
  type OpenStore,
  openKernelWorld,
  type ReadonlyStore,
  type Store,
  verifyStore,
} from '../../../src/index.js';
import { unsettledNote } from '../../../src/replay/move/index.js';
import { codeOf } from '../../support/judge.js';
import { ask, log, note, wake } from '../../support/lab.js';
import { TestClock } from '../../support/test-clock.js';
import { app, given, outsides } from '../fork/given-fork.js';

const text = (words: string) => new TextEncoder().encode(words);

/** The process that uses a store dies at its nth write, before or after that took place. */
function dying(
  inner: Store,
  life: { writes: number; readonly diesAt: number; readonly when: 'before' | 'after' },
): Store {
  const write = async <T>(body: () => Promise<T>): Promise<T> => {
    const dies = life.writes++ === life.diesAt;
    if (dies && life.when === 'before') throw new RepriseError('store_failed', 'the process died');
    const done = await body();
    if (dies) throw new RepriseError('store_failed', 'the process died');
    return done;
  };
  return {
    ...inner,
    open: async () => {
      const open: OpenStore = await inner.open();
      return {
        ...open,
        journal: { ...open.journal, append: (frames, head) => write(() => open.journal.append(frames, head)) },
        content: {
          ...open.content,
          put: (bytes) => write(() => open.content.put(bytes)),
          erase: (refs, by) => write(() => open.content.erase(refs, by)),
        },
        mark: (words) => write(() => open.mark(words)),
      };
    },
  };
}

/** A store whose last process was killed: it has closed nothing. */
const killed = (store: Store): Store => ({
  ...store,
  open: async () => ({ ...(await store.open()), cleanlyClosed: false, ended: 'died' }),
});

/** A closed world with content that was erased, erased and stored again, or kept. */
async function closedWorld(label = 'old'): Promise<{ readonly store: Store; readonly refs: readonly Ref[] }> {
  const { world, store } = await given();
  const refs: Ref[] = [];
  for (const words of ['gone', 'gone and back', 'kept']) {
    const ref = await world.content.put(text(words));
    await ask(world, 'a', [log(ref)]);
    refs.push(ref);
  }
  await world.erase({ refs: refs.slice(0, 2) });
  await ask(world, 'a', [log(await world.content.put(text('gone and back')))]);
  await Promise.all(Array.from({ length: 20 }, () => ask(world, 'a', [note('x')])));
  await world.close();
  return { store: { ...store, label }, refs };
}

/** The code of the error that a call ended with, or `done`. */
const endOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => (error as RepriseError).code,
  );

const opened = (store: Store) => openKernelWorld({ app, store, clock: new TestClock(), adapters: outsides() });

/** Everything that a reader of a store sees, as text. */
async function all({ journal, content }: ReadonlyStore, refs: readonly Ref[]): Promise<string> {
  const lines: string[] = [];
  for await (const { seq, at, kind, head, bytes } of journal.read(0))
    lines.push(`${seq} ${at} ${kind} ${head} ${Buffer.from(bytes).toString('hex')}`);
  const blobs: string[] = [];
  for await (const ref of (content as OpenStore['content']).list())
    blobs.push(`${ref.hex} ${Buffer.from((await content.get(ref)) ?? []).toString('hex')}`);
  for (const ref of refs) lines.push(`${ref.hex} erased by ${await content.erasedBy(ref)}`);
  return [...lines, ...blobs.sort(), `erased through ${await content.erasedThrough()}`].join('\n');
}

async function read(store: Store, refs: readonly Ref[]): Promise<string> {
  const open = await store.openReadonly?.();
  if (open === undefined) throw new Error('the store has no reader');
  try {
    return await all(open, refs);
  } finally {
    await open.close();
  }
}

describe('a world that is moved into another store', () => {
  it('a moved world has every frame, key, blob and tombstone there, goes on there, and is refused where it was [JRN-46]', async () => {
    const { store, refs } = await closedWorld();
    const target = { ...memory(), label: 'new' };
    const before = await read(store, refs);
    const { head, blobs } = await moveWorld(store, target);
    expect(await read(target, refs)).toBe(before);
    expect(blobs).toBeGreaterThan(1);
    expect(await codeOf(opened(store))).toBe('world_elsewhere');
    await expect(opened(store)).rejects.toThrow('new');
    expect(await read(store, refs)).toBe(before);
    const world = await opened(target);
    expect(world.head).toEqual(head);
    await ask(world, 'a', [note('goes on')]);
    expect((await world.verify()).head).toEqual(world.head);
    await world.close();
  });

  it('a moved world can be moved back, with all that has happened meanwhile, an erasure too', async () => {
    const { store, refs } = await closedWorld();
    const target = { ...memory(), label: 'new' };
    await moveWorld(store, target);
    const world = await opened(target);
    await ask(world, 'a', [log(await world.content.put(text('new')))]);
    await world.erase({ refs: refs.slice(2) });
    await world.close();
    await moveWorld(target, store);
    expect(await read(store, refs)).toBe(await read(target, refs));
    expect(await codeOf(opened(target))).toBe('world_elsewhere');
    const back = await opened(store);
    await ask(back, 'a', [note('at home')]);
    await back.close();
    const reader = await store.openReadonly?.();
    expect((await verifyStore(reader as ReadonlyStore, { app })).head).toEqual(back.head);
  });

  for (const when of ['before', 'after'] as const)
    it(`given a process that dies ${when} any of its writes, the world is in use in one store at most, and the next move ends it [JRN-46, JRN-47]`, async () => {
      for (let diesAt = 0, died = true; died; diesAt++) {
        const { store, refs } = await closedWorld();
        const target: Store = { ...memory(), label: 'new' };
        const whole = await read(store, refs);
        const life = { writes: 0, diesAt, when };
        died = (await endOf(moveWorld(dying(store, life), dying(target, life)))) === 'store_failed';
        const usable: string[] = [];
        for (const place of [store, target]) {
          const open = await place.open();
          const { markAtOpen } = open;
          const isEmpty = (await open.journal.head()).seq < 0;
          await open.close();
          if ((markAtOpen === null || markAtOpen === 'leaving') && !isEmpty) usable.push(place.label);
        }
        expect(usable.length, `usable after write ${diesAt}`).toBeLessThan(2);
        // A process that died after the last write has moved the world. One that died before the first note of the move
        // cannot be told from one that used the world.
        const isNoted = diesAt > 0 || when === 'after';
        if (died)
          expect(
            await endOf(isNoted ? moveWorld(killed(store), killed(target)) : moveWorld(store, target)),
            `the move after write ${diesAt}`,
          ).toMatch(/done|world_elsewhere/);
        expect(await read(target, refs), `moved after write ${diesAt}`).toBe(whole);
        expect(await codeOf(opened(store))).toBe('world_elsewhere');
        await (await opened(target)).close();
      }
    });

  it('given a move that was interrupted, the target is refused as a world [JRN-47]', async () => {
    const { store } = await closedWorld();
    const target: Store = { ...memory(), label: 'new' };
    await endOf(moveWorld(store, dying(target, { writes: 0, diesAt: 4, when: 'after' })));
    expect(await codeOf(opened(target))).toBe('move_unfinished');
    await (await opened(store)).close();
  });
});

describe('a move that could harm a world', () => {
  it('given a world that is open, it is refused', async () => {
    const { store } = await closedWorld();
    const world = await opened(store);
    expect(await codeOf(moveWorld(store, memory()))).toBe('world_locked');
    await world.close();
  });

  it('given a world whose process died, it is refused, since what was under way is not settled', async () => {
    const { store } = await closedWorld();
    await expect(moveWorld(killed(store), memory())).rejects.toThrow('ended without closing it');
    await expect(moveWorld(store, memory()), 'the opening that found it out has closed the store').rejects.toThrow(
      'ended without closing it',
    );
    await (await opened(store)).close();
    expect(await endOf(moveWorld(store, memory()))).toBe('done');
  });

  it('given a move that was interrupted and a process that used the world afterwards and died, it is refused', async () => {
    const { store } = await closedWorld();
    await endOf(moveWorld(store, dying({ ...memory(), label: 'new' }, { writes: 0, diesAt: 4, when: 'after' })));
    await (await opened(store)).close();
    await expect(moveWorld(killed(store), memory())).rejects.toThrow('ended without closing it');
  });

  it('given an input that killed two processes, a move that is refused between them does not clear it of suspicion', async () => {
    const { store } = await closedWorld();
    const open = await store.open();
    await open.mark('2 fact');
    await open.close();
    await endOf(moveWorld(killed(store), memory()));
    const next = await store.open();
    expect(next.markAtOpen).toBe('unsettled 2 fact');
    await next.close();
    await endOf(moveWorld(store, memory()));
    const last = await store.open();
    expect([unsettledNote(last), last.markAtOpen]).toEqual(['2 fact', 'unsettled 2 fact']);
    await last.close();
    const marks: (string | null)[] = [];
    const watched: Store = {
      ...store,
      open: async () => {
        const inner = await store.open();
        return { ...inner, mark: (words) => inner.mark(words).then(() => void marks.push(words)) };
      },
    };
    const clock = new TestClock();
    const world = await openKernelWorld({ app, store: watched, clock, adapters: outsides() });
    await ask(world, 'a', [wake('bell', 10)]);
    clock.advance(20);
    await world.pump();
    await world.close();
    expect(marks, 'it is opened as after a death').toContainEqual(expect.stringMatching(/^1 /));
  });

  it('given no world, another world in the target, or a copy of the same one, it is refused and nothing is written', async () => {
    const { store, refs } = await closedWorld();
    const other = (await closedWorld('other')).store;
    expect(await codeOf(moveWorld(memory(), memory()))).toBe('world_absent');
    const before = await read(other, refs);
    expect(await codeOf(moveWorld(store, other))).toBe('invalid_argument');
    expect(await read(other, refs)).toBe(before);
    await (await opened(store)).close();
  });

  it('given a world that has moved, it is not moved again from where it was, and the target is not made', async () => {
    const { store } = await closedWorld();
    await moveWorld(store, { ...memory(), label: 'new' });
    const target: Store = { ...memory(), label: 'another', open: () => expect.fail('an opening would make it') };
    expect(await codeOf(moveWorld(store, target))).toBe('world_elsewhere');
  });

  const FAULTS: readonly (readonly [fault: string, patch: (open: OpenStore) => Partial<OpenStore>])[] = [
    [
      'loses a byte of a frame',
      ({ journal }) => ({
        journal: {
          ...journal,
          append: (frames, head) =>
            journal.append(
              frames.map((frame) => (frame.seq === 3 ? { ...frame, bytes: frame.bytes.subarray(1) } : frame)),
              head,
            ),
        },
      }),
    ],
    [
      'loses the keys of requests',
      ({ journal }) => ({
        journal: {
          ...journal,
          append: (frames, head) =>
            journal.append(
              frames.map(({ key: _, ...frame }) => frame),
              head,
            ),
        },
      }),
    ],
    [
      'loses a blob',
      ({ content }) => ({
        content: {
          ...content,
          put: async (bytes) => (bytes.length === 4 ? content.put(text('kep')) : content.put(bytes)),
        },
      }),
    ],
    ['forgets an erasure', ({ content }) => ({ content: { ...content, erase: async () => undefined } })],
  ];
  it.each(FAULTS)('given a target that %s, the move fails and the world stays where it was', async (_, patch) => {
    const { store } = await closedWorld();
    const inner = memory();
    const target: Store = {
      ...inner,
      open: async () => {
        const open = await inner.open();
        return { ...open, ...patch(open) };
      },
    };
    expect(await codeOf(moveWorld(store, target))).toMatch(/store_failed|blob_missing/);
    await (await opened(store)).close();
  });
});
