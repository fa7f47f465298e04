/** Erasure: what is gone is gone and accounted for, everything else is as it was. */
import { Ref, RepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import {
  getErasable,
  getValue,
  memory,
  type OpenStore,
  openKernelWorld,
  putErasable,
  putValue,
  type Store,
  toHex,
  verifyStore,
  type World,
} from '../../../../src/index.js';
import { readLog } from '../../../../src/ports/content/log-reader.js';
import { crashable } from '../../../support/crashable-store.js';
import { codeOf, recordsOf } from '../../../support/judge.js';
import { ask, cell, end, lab, log, once, type Step, send, start } from '../../../support/lab.js';
import { outside } from '../../../support/outside.js';

const { app } = lab({
  *call(input, plan) {
    yield* plan.awaitReceipt(plan.emitEffect(once, input));
  },
});

const text = (said: string) => new TextEncoder().encode(said);

/** Appends an item to a cell's log that links this content. */
const note = (ref: Ref): Step => log({ said: ref });

async function tellAll(world: World, key: string, count: number): Promise<Ref[]> {
  const refs: Ref[] = [];
  for (let i = 0; i < count; i++) {
    const ref = await putErasable(world.content, text(`secret ${key} ${i}`));
    await ask(world, key, [note(ref)]);
    refs.push(ref);
  }
  return refs;
}

async function tombstones(store: Store): Promise<readonly (readonly string[])[]> {
  return (await recordsOf(store, 'erase')).map(({ digests }) => digests);
}

async function verified(store: Store) {
  const open = await store.openReadonly();
  try {
    return await verifyStore(open, { app });
  } finally {
    await open.close();
  }
}

describe('given content that was stored as erasable', () => {
  it('equal texts that are stored twice are two blobs, and both are read back [CON-8]', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const [one, other] = [await putErasable(world.content, text('yes')), await putErasable(world.content, text('yes'))];
    expect(one.hex).not.toBe(other.hex);
    expect((await world.content.get(one))?.length).toBe(16 + 3);
    for (const ref of [one, other]) expect(toHex(await getErasable(world.content, ref))).toBe(toHex(text('yes')));
  });

  it('the same text with the same salt is the same blob, so that a request can be repeated', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const salt = () => new Uint8Array(16).fill(7);
    const put = () => putErasable(world.content, text('yes'), salt);
    expect((await put()).hex).toBe((await put()).hex);
  });

  it('an empty text is read back as empty', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    expect(await getErasable(world.content, await putErasable(world.content, text('')))).toEqual(text(''));
  });

  it('content shorter than a salt is damaged when it is read as salted', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const ref = await world.content.put(text('short'));
    expect(await codeOf(getErasable(world.content, ref))).toBe('blob_damaged');
  });
});

describe('given a verification of a world that its owner writes to', () => {
  type Reader = Awaited<ReturnType<Store['openReadonly']>>;
  type Looks = Pick<Reader['content'], 'get' | 'has' | 'erasedBy'>;

  /** Verifies the frames that a world has now, with other answers about its content. */
  async function verifyMeanwhile(store: Store, answers: (content: Reader['content']) => Partial<Looks>) {
    const { journal, content, ...rest } = await store.openReadonly();
    const { seq } = await journal.head();
    const upToNow = { ...journal, read: (from: number, to?: number) => journal.read(from, to ?? Math.max(from, seq)) };
    const { get, has, erasedBy, erasedThrough, list } = content;
    const answering = { get, has, erasedBy, erasedThrough, list, ...answers(content) };
    return verifyStore({ ...rest, journal: upToNow, content: answering }, { app });
  }

  it.each(['get', 'has'] as const)(
    'content that is erased just before the verification asks for it (%s) is not reported as missing [CON-14]',
    async (asked) => {
      const store = memory();
      await using world = await openKernelWorld({ store, app });
      const [ref] = (await tellAll(world, 'a', 3)) as [Ref];
      let isErased = false;
      const erase = async ({ hex }: Ref) => {
        if (hex !== ref.hex || isErased) return;
        isErased = true;
        await world.erase({ refs: [ref] });
      };
      const report = await verifyMeanwhile(store, ({ get, has }) =>
        asked === 'get'
          ? { get: (about) => erase(about).then(() => get(about)) }
          : { has: (about) => erase(about).then(() => has(about)) },
      );
      expect(report).toMatchObject({ unverified: 0 });
      expect(isErased).toBe(true);
    },
  );

  it.each(['get', 'has'] as const)(
    'content that is gone (%s), with a tombstone of which no frame knows, is reported as missing [CON-22]',
    async (asked) => {
      const store = memory();
      await using world = await openKernelWorld({ store, app });
      const [ref] = (await tellAll(world, 'a', 3)) as [Ref];
      for (const by of [0, world.head.seq, world.head.seq + 1]) {
        const verification = verifyMeanwhile(store, (content) => ({
          get: async (about) => (about.hex === ref.hex ? undefined : content.get(about)),
          has: async (about) => (asked === 'get' || about.hex !== ref.hex) && content.has(about),
          erasedBy: async (about) => (about.hex === ref.hex ? by : content.erasedBy(about)),
        }));
        expect(await codeOf(verification)).toBe('blob_missing');
      }
    },
  );
});

describe('given an erasure', () => {
  it('erased content is gone, has its tombstone, and the world replays as before [CON-9]', async () => {
    const store = memory();
    const world = await openKernelWorld({ store, app });
    const refs = await tellAll(world, 'a', 40);
    const before = await world.state(cell('a'));
    const report = await world.erase({ refs }, { id: 'gdpr-1', as: 'human:dpo', reason: 'request 17' });
    expect(report).toMatchObject({ duplicate: false, erased: 40, shared: [], remaining: 0 });
    expect(report.head).toBe(world.head.digest);
    for (const ref of refs) {
      expect(await world.content.has(ref)).toBe(false);
      expect(await codeOf(getErasable(world.content, ref))).toBe('blob_erased');
    }
    expect(await world.state(cell('a'))).toEqual(before);
    expect(await world.verify()).toMatchObject({ erased: 40, returned: 0, unverified: 0 });
    await world.close();
    expect(await verified(store)).toMatchObject({ erased: 40, replayed: report.seq + 1 });
    await (await openKernelWorld({ store, app })).close();
    expect((await recordsOf(store, 'erase'))[0]).toMatchObject({
      principal: 'human:dpo',
      id: 'gdpr-1',
      reason: 'request 17',
      cell: null,
    });
  });

  it('the erasure of a cell removes the content that its facts link, and keeps the content of other cells [CON-9]', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const [own, others] = [
      await putErasable(world.content, text('own')),
      await putErasable(world.content, text('other')),
    ];
    await ask(world, 'a', [['when', 'go', [['fact', own as never]]]]);
    await ask(world, 'a', [['does', 'go']]);
    await ask(world, 'b', [['fact', others as never]]);
    await world.erase({ cell: cell('a') });
    expect([await world.content.has(own), await world.content.has(others)]).toEqual([false, true]);
  });

  it('a repeated erasure journals nothing; one with other content is a conflict', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const refs = await tellAll(world, 'a', 3);
    const first = await world.erase({ refs }, { id: 'e' });
    const again = await world.erase({ refs: refs.toReversed() }, { id: 'e' });
    expect(again).toEqual({ ...first, duplicate: true, remaining: 3 });
    expect(world.head.seq).toBe(first.seq);
    expect(await codeOf(world.erase({ refs: refs.slice(1) }, { id: 'e' }))).toBe('request_conflict');
    expect(await codeOf(ask(world, 'a', [], { id: 'e' }))).toBe('request_conflict');
    expect(await codeOf(world.erase({ cell: cell('a') }, { id: 'e' }))).toBe('request_conflict');
  });

  it('erased content cannot be linked anew, and may stand inside stored values [CON-13]', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const ref = await putErasable(world.content, text('secret'));
    const holder = await putValue(world.content, { holds: ref });
    await ask(world, 'a', [note(holder)]);
    await world.erase({ refs: [ref] });
    expect(await codeOf(ask(world, 'a', [note(ref)]))).toBe('blob_erased');
    await ask(world, 'b', [note(holder)]);
    await world.erase({ refs: [holder] });
    expect(await codeOf(ask(world, 'b', [note(holder)])), 'what was known to be whole is looked at again').toBe(
      'blob_erased',
    );
    expect(await codeOf(getValue(world.content, holder))).toBe('blob_erased');
    expect(await world.verify()).toMatchObject({ erased: 2 });
  });

  it('an effect whose adapter answers with erased content reports that', async () => {
    const store = memory();
    const adapter = outside(once);
    const world = await openKernelWorld({ store, app, adapters: [adapter] });
    const ref = await putErasable(world.content, text('secret'));
    await world.erase({ refs: [ref] });
    await ask(world, 'a', [start('call')]);
    (await adapter.call(0)).answer({ status: 'ok', payload: { got: ref } });
    await world.pump();
    await world.close();
    expect((await recordsOf(store, 'receipt'))[0]?.receipt).toMatchObject({
      status: 'error',
      code: 'validation_error/blob_erased',
    });
  });

  it('bytes that are stored again after an erasure exist again, and an opening keeps them [CON-13]', async () => {
    const store = memory();
    const world = await openKernelWorld({ store, app });
    const ref = await world.content.put(text('public'));
    await ask(world, 'a', [note(ref)]);
    await world.erase({ refs: [ref] });
    await world.content.put(text('public'));
    await ask(world, 'a', [note(ref)]);
    await world.close();
    expect(await verified(store)).toMatchObject({ erased: 0, returned: 1 });
    const again = await openKernelWorld({ store, app });
    expect(await again.content.has(ref)).toBe(true);
    await again.erase({ refs: [ref] });
    expect(await again.content.has(ref)).toBe(false);
    await again.close();
    expect(await verified(store)).toMatchObject({ erased: 1, returned: 0 });
  });
});

describe('given a cell whose content is to be erased', () => {
  it('the erasure of a cell removes the content that it alone linked, and keeps and reports shared content [CON-10]', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const mine = await tellAll(world, 'a', 70);
    const theirs = await tellAll(world, 'b', 2);
    const common = await putErasable(world.content, text('common'));
    for (const key of ['a', 'b']) await ask(world, key, [note(common)]);
    const report = await world.erase({ cell: cell('a') });
    expect(report).toMatchObject({ erased: 70, remaining: 0 });
    expect(report.shared.map(({ hex }) => hex)).toEqual([common.hex]);
    for (const ref of mine) expect(await world.content.has(ref)).toBe(false);
    for (const ref of [...theirs, common]) expect(await world.content.has(ref)).toBe(true);
    // The chunks stay: the log is read as before, and says of each item that its text is gone.
    let items = 0;
    for await (const item of world.log(cell('a'), 'history')) {
      items++;
      const { said } = item as unknown as { said: Ref };
      if (said.hex !== common.hex) expect(await codeOf(getErasable(world.content, said))).toBe('blob_erased');
    }
    expect(items).toBe(71);
    expect(await world.erase({ cell: cell('a') })).toMatchObject({ erased: 0 });
    expect(await world.verify()).toMatchObject({ erased: 70 });
  });

  it('the cells that passed content on do not keep it, and those that keep it are named [CON-10] [CON-20] [CON-21]', async () => {
    const adapter = outside(once);
    await using world = await openKernelWorld({ store: memory(), app, adapters: [adapter] });
    const put = (said: string) => putErasable(world.content, text(said));
    const [passed, fetched, kept] = [await put('passed'), await put('fetched'), await put('kept')];
    await ask(world, 'from', [send('a', note(passed))]);
    await ask(world, 'from', [start('call')]);
    (await adapter.call(0)).answer({ status: 'ok', payload: { got: fetched } });
    await world.pump();
    for (const ref of [fetched, kept]) await ask(world, 'a', [note(ref)]);
    await ask(world, 'b', [note(kept)]);
    const named = await world.erase({ cell: cell('a'), passedBy: [cell('b')] });
    expect(named).toMatchObject({ erased: 1, keptBy: [cell('from')] });
    expect(named.shared.map(({ hex }) => hex).sort()).toEqual([passed.hex, fetched.hex].sort());
    expect(await world.erase({ cell: cell('a'), passedBy: [cell('from')] })).toMatchObject({
      erased: 2,
      shared: [],
      keptBy: [],
    });
    for (const ref of [passed, fetched, kept]) expect(await world.content.has(ref)).toBe(false);
    expect(await world.verify()).toMatchObject({ erased: 3 });
  });

  it('what a passing cell alone links is not erased, and anything but a list of addresses is refused [CON-21]', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const [mine, theirs] = [await tellAll(world, 'a', 1), await tellAll(world, 'b', 1)];
    for (const passedBy of [cell('b'), 'b', [['x']]])
      expect(await codeOf(world.erase({ cell: cell('a'), passedBy: passedBy as never }))).toBe('invalid_argument');
    expect(await world.erase({ cell: cell('a'), passedBy: [cell('b'), cell('a')] })).toMatchObject({ erased: 1 });
    expect([await world.content.has(mine[0] as Ref), await world.content.has(theirs[0] as Ref)]).toEqual([false, true]);
  });

  it('content that stands only inside linked values, at any depth, is erased with the cell, and kept for another cell that links it so [CON-10]', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const [mine, common] = [
      await putErasable(world.content, text('mine')),
      await putErasable(world.content, text('common')),
    ];
    const inner = await putValue(world.content, { said: [mine, common] });
    await ask(world, 'a', [note(await putValue(world.content, { inner }))]);
    await ask(world, 'b', [note(await putValue(world.content, { said: common }))]);
    const report = await world.erase({ cell: cell('a') });
    expect(report.shared.map(({ hex }) => hex)).toEqual([common.hex]);
    expect([await world.content.has(mine), await world.content.has(common)]).toEqual([false, true]);
    expect(await world.content.has(inner)).toBe(false);
  });

  it('the content that effects of the cell stored is found, although no state links it [CON-10]', async () => {
    const adapter = outside(once);
    await using world = await openKernelWorld({ store: memory(), app, adapters: [adapter] });
    await ask(world, 'a', [start('call')]);
    const stored = await putErasable(world.content, text('what the outside said'));
    (await adapter.call(0)).answer({ status: 'ok', payload: { got: stored } });
    await world.pump();
    expect(await world.erase({ cell: cell('a') })).toMatchObject({ erased: 1, shared: [] });
    expect(await world.content.has(stored)).toBe(false);
  });

  it('the content of an ended cell is found as well', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const refs = await tellAll(world, 'a', 2);
    await ask(world, 'a', [end()]);
    expect(await world.erase({ cell: cell('a') })).toMatchObject({ erased: 2 });
    for (const ref of refs) expect(await world.content.has(ref)).toBe(false);
  });

  it('content that passed between a cell and its descendants is not shared when they are included', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const ref = await putErasable(world.content, text('passed on'));
    await ask(world, 'top', [send('below', note(ref))]);
    expect(await world.erase({ cell: cell('top') })).toMatchObject({ erased: 0, shared: [{ hex: ref.hex }] });
    expect(await world.erase({ cell: cell('top'), subtree: true })).toMatchObject({ erased: 1, shared: [] });
  });

  it('the erasure of a missing cell is refused', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    expect(await codeOf(world.erase({ cell: cell('nobody') }))).toBe('cell_absent');
  });
});

describe('given content that may not be erased', () => {
  it('a chunk of a log or a node of a snapshot is not erased [CON-11]', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const refs = await tellAll(world, 'a', 40);
    const known = new Set(refs.map(({ hex }) => hex));
    await world.snapshot();
    await tellAll(world, 'b', 1);
    await world.snapshot();
    const { seq } = world.head;
    let parts = 0;
    for await (const ref of world.content.list()) {
      const bytes = await world.content.get(ref);
      if (known.has(ref.hex) || (bytes?.length ?? 0) < 34 || !isOfTheWorld(bytes)) continue;
      parts++;
      expect(await codeOf(world.erase({ refs: [...refs, ref] })), ref.toString()).toBe('erase_refused');
    }
    expect(parts).toBeGreaterThan(5); // two roots, their buckets, a chunk
    expect(world.head.seq).toBe(seq);
    expect(await world.content.has(refs[0] as Ref)).toBe(true);
    await world.verify();
  });

  it('missing content is reported as missing, and an invalid target is refused', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const junk: unknown[] = [
      undefined,
      {},
      { refs: 'x' },
      { refs: ['x'] },
      { cell: 'x' },
      { cell: cell('a'), subtree: 1 },
    ];
    for (const target of junk) expect(await codeOf(world.erase(target as never))).toBe('invalid_argument');
    for (const options of [{ id: '' }, { as: 'kernel' }, { reason: 'x'.repeat(257) }, { reason: 1 }])
      expect(await codeOf(world.erase({ refs: [] }, options as never))).toBe('invalid_argument');
    expect(await codeOf(world.erase({ refs: [Ref.fromHex('a'.repeat(64))] }))).toBe('blob_missing');
    expect(world.head.seq).toBe(0);
  });

  it('an erasure of more than fits a tombstone is refused; the content of a cell is erased in several steps', async () => {
    await using world = await openKernelWorld({ store: memory(), app });
    const many = Array.from({ length: 10_001 }, (_, i) => Ref.fromHex(i.toString(16).padStart(64, '0')));
    expect(await codeOf(world.erase({ refs: many }))).toBe('bound_exceeded');
    for (const ref of many) await world.content.put(text(ref.hex));
    const put = await Promise.all(many.map(({ hex }) => world.content.put(text(hex))));
    expect(await world.erase({ refs: put.slice(0, 10_000) })).toMatchObject({ erased: 10_000 });
    expect(await world.verify()).toMatchObject({ erased: 10_000 });
  });
});

/** Whether a blob is one that the kernel made: an array in canonical bytes. */
function isOfTheWorld(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes[0] !== undefined && bytes[0] >> 5 === 4;
}

/** A store that dies in the n-th blob of an erasure, or before or after the tombstone's append. */
function dying(inner: Store, at: 'before the tombstone' | 'after the tombstone' | number): Store {
  const dead = () => new RepriseError('store_failed', 'the process died');
  return {
    ...inner,
    open: async () => {
      const open: OpenStore = await inner.open();
      return {
        ...open,
        journal: {
          ...open.journal,
          append: async (frames, expected) => {
            const erases = frames.some(({ kind }) => kind === 'erase');
            if (erases && at === 'before the tombstone') throw dead();
            return open.journal.append(frames, expected);
          },
        },
        content: {
          ...open.content,
          erase: async (refs, by) => {
            if (at === 'after the tombstone') throw dead();
            // What a store may have done by then: some of it, without the note that it is finished.
            const through = await open.content.erasedThrough();
            if (typeof at === 'number') {
              await open.content.erase(refs.slice(0, at), through);
              throw dead();
            }
            await open.content.erase(refs, by);
          },
        },
      };
    },
  };
}

describe('given a crash in an erasure', () => {
  for (const at of ['before the tombstone', 'after the tombstone', 0, 1, 2, 3] as const) {
    it(`a crash ${typeof at === 'number' ? `after ${at} blobs` : at} leaves all of the content or none of it after the opening [CON-12]`, async () => {
      const store = crashable();
      const world = await openKernelWorld({ store: dying(store, at), app });
      const refs = await tellAll(world, 'a', 3);
      expect(await codeOf(world.erase({ refs }, { id: 'e' }))).toBe('store_failed');
      await store.crash();
      const unfinished = await verified(store);
      expect(unfinished.returned).toBe(0);
      const again = await openKernelWorld({ store, app });
      const begun = at !== 'before the tombstone';
      for (const ref of refs) expect(await again.content.has(ref)).toBe(!begun);
      expect(await again.erase({ refs }, { id: 'e' })).toMatchObject({ duplicate: begun, erased: 3 });
      for (const ref of refs) expect(await again.content.has(ref)).toBe(false);
      await again.close();
      expect(await tombstones(store)).toHaveLength(1);
      expect(await verified(store)).toMatchObject({ erased: 3, returned: 0 });
    });
  }

  it('the next erasure first finishes one that the store failed', async () => {
    const store = memory();
    let failures = 1;
    const world = await openKernelWorld({ store: failingOnce(store, () => failures-- > 0), app });
    const refs = await tellAll(world, 'a', 2);
    const [one, other] = refs as [Ref, Ref];
    expect(await codeOf(world.erase({ refs: [one] }))).toBe('store_failed');
    expect(await world.content.has(one)).toBe(true);
    await world.erase({ refs: [other] });
    expect(await world.content.has(one)).toBe(false);
    await world.close();
    expect(await verified(store)).toMatchObject({ erased: 2 });
  });
});

function failingOnce(inner: Store, fails: () => boolean): Store {
  return {
    ...inner,
    open: async () => {
      const open = await inner.open();
      const erase: OpenStore['content']['erase'] = async (refs, by) => {
        if (fails()) throw new RepriseError('store_failed', 'the disk is away');
        await open.content.erase(refs, by);
      };
      return { ...open, content: { ...open.content, erase } };
    },
  };
}

describe('given a world with tombstones that is verified [CON-14]', () => {
  /** The report, or the code, for a store that answers otherwise in some of its content. */
  async function judged(change: (content: OpenStore['content']) => Partial<OpenStore['content']>): Promise<unknown> {
    const store = memory();
    const world = await openKernelWorld({ store, app });
    const refs = await tellAll(world, 'a', 4);
    await world.erase({ refs: refs.slice(0, 1) });
    await world.erase({ refs: refs.slice(1, 2) });
    await world.close();
    const open = await store.open();
    try {
      const content = { ...open.content, ...change(open.content) };
      return await verifyStore({ ...open, content }, { app }).then(
        ({ erased, returned }) => ({ erased, returned }),
        ({ code }) => code,
      );
    } finally {
      await open.close();
    }
  }

  it('the erased blobs of a sound world are counted', async () => {
    expect(await judged(() => ({}))).toEqual({ erased: 2, returned: 0 });
  });

  it('missing content without a tombstone is reported, whatever the store answers', async () => {
    let lost: Ref | undefined;
    const code = await judged((content) => ({
      erasedBy: async (ref) => (await content.erasedBy(ref)) ?? 1,
      has: async (ref) => {
        if (!(await content.has(ref))) return false;
        lost ??= ref;
        return lost.hex !== ref.hex;
      },
    }));
    expect(code).toBe('blob_missing');
  });

  it('an unfinished earlier erasure is reported; the newest is left to the next opening', async () => {
    expect(await judged(() => ({ erasedThrough: async () => 0 }))).toBe('erase_unfinished');
    expect(await judged((content) => ({ erasedThrough: async () => (await content.erasedThrough()) - 1 }))).toEqual({
      erased: 2,
      returned: 0,
    });
  });

  it('a tombstone that the store lost is reported', async () => {
    expect(await judged(() => ({ erasedBy: async () => undefined }))).toBe('journal_damaged');
  });

  it('a log is read as far as its chunks exist', async () => {
    const store = memory();
    await using world = await openKernelWorld({ store, app });
    const gone = await putValue(world.content, { count: 1, levels: [], tail: ['x'] });
    await world.erase({ refs: [gone] });
    expect(await codeOf(readLog(world.content, gone).next())).toBe('blob_erased');
  });
});
