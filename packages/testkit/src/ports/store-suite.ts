import type { Ref } from '@reprise/contracts';
import { EMPTY_HEAD, type OpenStore, portableSha256, type ReadonlyStore, type Store, toHex } from '@reprise/kernel';
import { collect, expectRefusal, expectSame, expectSameBytes, expectThat } from '../suite/expect.js';
import { type Check, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';
import {
  ability,
  appendGroups,
  expectJournal,
  framesAfter,
  type StoreSubject,
  someBytes,
  whileOpen,
} from './store-subject.js';

/** One blob for each way of storing. */
const BLOB_SIZES = [50, 200_000];

/**
 * The contract of the store port, as tests: who may open it, what survives a close and a crash, and the notes
 * beside the journal.
 *
 * @example
 * const make = async () => ({ store: sqlite(path), again: () => sqlite(path) });
 * testStore({ name: 'sqlite', runner: { describe, it }, make });
 */
export function testStore(options: SuiteOptions<StoreSubject>): void {
  registerSuite('store', storeChecks, options);
}

function check(title: string, run: (subject: StoreSubject) => Promise<void>): Check<StoreSubject> {
  return { ...titled(title), run };
}

function anotherOf(subject: StoreSubject): Store {
  return subject.again?.() ?? subject.store;
}

async function putBlobs({ content }: OpenStore): Promise<Ref[]> {
  return Promise.all(BLOB_SIZES.map((size) => content.put(someBytes(size, size))));
}

async function expectBlobs({ content }: OpenStore | ReadonlyStore, refs: readonly Ref[], when: string): Promise<void> {
  for (const [i, size] of BLOB_SIZES.entries()) {
    expectSameBytes(await content.get(refs[i] as Ref), someBytes(size, size), `${when}: a blob of ${size} bytes`);
  }
}

async function whileReading<T>(store: Store, body: (open: ReadonlyStore) => Promise<T>): Promise<T> {
  const open = await store.openReadonly();
  try {
    return await body(open);
  } finally {
    await open.close();
  }
}

/** The checks of {@link testStore}, to run one alone. */
export const storeChecks: readonly Check<StoreSubject>[] = [
  check('given a close, the next opening has every frame and blob', async (subject) => {
    let refs: Ref[] = [];
    const frames = await whileOpen(subject.store, async (open) => {
      refs = await putBlobs(open);
      return appendGroups(open, [1, 20, 1]);
    });
    await whileOpen(anotherOf(subject), async (open) => {
      await expectJournal(open.journal, frames, 'after opening again');
      await expectBlobs(open, refs, 'after opening again');
      const head = await open.journal.head();
      await open.journal.append(framesAfter(head, 2), head);
    });
  }),

  check('given an append without frames, the blobs put before it outlive the close [CON-2]', async (subject) => {
    const refs = await whileOpen(subject.store, async (open) => {
      const put = await putBlobs(open);
      await open.journal.append([], EMPTY_HEAD);
      return put;
    });
    await whileOpen(anotherOf(subject), (open) => expectBlobs(open, refs, 'after opening again'));
  }),

  check(
    'given an opener, a second one is refused and disturbs nothing until the first has closed [JRN-18]',
    async (subject) => {
      const first = await subject.store.open();
      await expectRefusal('world_locked', 'a second opener', () => anotherOf(subject).open());
      await expectRefusal('world_locked', 'the same store object again', () => subject.store.open());
      const frames = await appendGroups(first, [2]);
      await expectJournal(first.journal, frames, 'after the refused opening');
      await first.close();
      await whileOpen(anotherOf(subject), (open) => expectJournal(open.journal, frames, 'for the next opener'));
    },
  ),

  check('given a second close, it gives up nothing that the next opener holds', async (subject) => {
    const first = await subject.store.open();
    await first.close();
    await whileOpen(subject.store, async () => {
      await first.close();
      await expectRefusal('world_locked', 'a third opener', () => anotherOf(subject).open());
    });
  }),

  check('given a close, every call on what was closed is refused', async (subject) => {
    const open = await subject.store.open();
    const [frame] = await appendGroups(open, [3]);
    const head = await open.journal.head();
    const reader = await subject.store.openReadonly();
    const standing = open.journal.read(0)[Symbol.asyncIterator]();
    await standing.next();
    await open.close();
    await reader.close();
    const { journal, content } = open;
    const ref = await whileOpen(subject.store, (next) => next.content.put(someBytes(9, 9)));
    const calls: [string, () => Promise<unknown>][] = [
      ['head', () => journal.head()],
      ['append', () => journal.append(framesAfter(head, 1), head)],
      ['read', () => collect(journal.read(0))],
      ['a standing read', () => standing.next()],
      ['findLast', () => journal.findLast(frame?.kind ?? '', 0)],
      ['put', () => content.put(someBytes(9, 9))],
      ['get', () => content.get(ref)],
      ['has', () => content.has(ref)],
      ['list', () => collect(content.list())],
      ['mark', () => open.mark('late')],
      ['head of a reader', () => reader.journal.head()],
      ['get of a reader', () => reader.content.get(ref)],
    ];
    for (const [what, call] of calls) await expectRefusal('world_closed', what, call);
    await whileOpen(subject.store, async (next) => {
      expectSame([await next.journal.head(), next.markAtOpen], [head, null], 'the next opener finds no late write');
    });
  }),

  check('given a clean close, the next opening says so, and so does the first', async (subject) => {
    await whileOpen(subject.store, async (open) => {
      expectSame([open.cleanlyClosed, open.markAtOpen], [true, null], 'the first opening');
    });
    await whileOpen(anotherOf(subject), async (open) => {
      expectSame([open.cleanlyClosed, open.markAtOpen], [true, null], 'the second opening');
    });
  }),

  check('given a mark, it stands at every opening until it is replaced or cleared', async (subject) => {
    const marks = ['fact 1', 'fact 2', null];
    let before: string | null = null;
    for (const mark of marks) {
      await whileOpen(subject.store, async (open) => {
        await open.mark(mark);
        expectSame(open.markAtOpen, before, 'the mark at open, after another was set');
      });
      await whileOpen(anotherOf(subject), async (open) =>
        expectSame(open.markAtOpen, mark, 'the mark at the next opening'),
      );
      before = mark;
    }
  }),

  check(
    'given a crash, what was acknowledged is there and the opening says it was unclean [JRN-20]',
    async (subject) => {
      const open = await subject.store.open();
      const refs = await putBlobs(open);
      const frames = await appendGroups(open, [1, 30]);
      await open.mark('fact 7');
      await open.content.put(someBytes(10, 10));
      const left = await ability(subject, 'crashed')();
      await open.close();
      await whileOpen(left, async (next) => {
        expectSame([next.cleanlyClosed, next.markAtOpen], [false, 'fact 7'], 'the notes after a crash');
        expectSame(next.ended ?? 'died', 'died', 'how the opening ended');
        await expectJournal(next.journal, frames, 'after a crash');
        await expectBlobs(next, refs, 'after a crash');
        await next.journal.append(framesAfter(await next.journal.head(), 1), await next.journal.head());
      });
      await whileOpen(left, async (next) => expectSame(next.cleanlyClosed, true, 'clean again after a close'));
    },
  ),

  check('given nothing there, opening for reading is world_absent and makes nothing', async (subject) => {
    for (let round = 0; round < 2; round++) {
      await expectRefusal('world_absent', 'reading nothing', () => subject.store.openReadonly());
    }
  }),

  check('given a writer, a reader takes no lock and sees what is durable, as it grows [JRN-19]', async (subject) => {
    await whileOpen(subject.store, async (open) => {
      const refs = await putBlobs(open);
      const frames = await appendGroups(open, [1, 20]);
      await whileReading(anotherOf(subject), async (reader) => {
        await expectJournal(reader.journal, frames, 'for the reader');
        await expectBlobs(reader, refs, 'for the reader');
        expectSame((await collect(reader.content.list())).length, refs.length, 'the number of blobs for the reader');
        const more = framesAfter(await open.journal.head(), 5);
        await open.journal.append(more, await open.journal.head());
        await expectJournal(reader.journal, [...frames, ...more], 'for the reader, after another append');
      });
    });
    await whileReading(anotherOf(subject), async () => {
      await whileOpen(subject.store, async () => {}); // a reader blocks no other opening
    });
  }),

  check('given a hash of its own, it is the sha-256 of the portable one [CODEC-15]', async (subject) => {
    await whileOpen(subject.store, async ({ hash }) => {
      if (hash === undefined) return;
      for (const size of [0, 1, 31, 32, 55, 56, 63, 64, 65, 1000, 100_000]) {
        const bytes = someBytes(size, size);
        const digest = hash(bytes);
        expectThat(digest.length === 32, `the digest of ${size} bytes has ${digest.length} bytes`);
        expectSame(toHex(digest), toHex(portableSha256(bytes)), `the digest of ${size} bytes`);
      }
    });
  }),
];
