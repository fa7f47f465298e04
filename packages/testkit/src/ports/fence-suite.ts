import { type ErrorCode, isRepriseError } from '@reprise/contracts';
import type { Head, OpenStore, Store } from '@reprise/kernel';
import { collect, expectRefusal, expectSame, expectThat } from '../suite/expect.js';
import { type Check, NotApplicable, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';
import {
  appendGroups,
  expectFrames,
  expectJournal,
  framesAfter,
  type StoreSubject,
  someBytes,
  whileOpen,
} from './store-subject.js';

/** A store under test, with what several processes and a failing storage do to it. */
export interface FenceSubject extends StoreSubject {
  /**
   * Ends the tenure of the present opening, as when its process was stopped for longer than its lease: afterwards another
   * opening gets the store. Absent on a store with a lock, which lasts as long as the process.
   */
  endTenure?(): Promise<void>;
  /** Makes the storage fail, as when the network or the disk is gone. @returns lets it work again */
  failing?(): Promise<() => Promise<void>>;
}

/**
 * The contract of stores that several processes share, as tests: the fence between an owner and the one before it, a
 * reader beside a writer, and a storage that fails.
 *
 * @example
 * testFence({ name: 'mine', runner: { describe, it }, make: async () => ({ store: mine(), again: mine, endTenure }) });
 */
export function testFence(options: SuiteOptions<FenceSubject>): void {
  registerSuite('fence', fenceChecks, options);
}

/** How a storage may fail: each of these says what happened, and the caller knows what to do. */
const STORAGE_CODES: readonly ErrorCode[] = ['store_failed', 'store_full', 'journal_damaged', 'blob_damaged', 'fenced'];

/** Reads beside a writer: a reader that takes an append for a hole does so within a few hundred. */
const READS_BESIDE_A_WRITER = 200;

function check(title: string, run: (subject: FenceSubject) => Promise<void>): Check<FenceSubject> {
  return { ...titled(title), run };
}

/** A check of a store that can be taken over: an owner whose tenure has ended, and the next one. */
function takenOver(title: string, body: (first: OpenStore, second: OpenStore, head: Head) => Promise<void>) {
  return check(title, async (subject) => {
    const endTenure = abilityOf(subject, 'endTenure');
    const first = await subject.store.open();
    await appendGroups(first, [2]);
    const head = await first.journal.head();
    await endTenure();
    const second = await anotherOf(subject).open();
    try {
      await body(first, second, head);
    } finally {
      await first.close().catch(() => undefined);
      await second.close();
    }
  });
}

function anotherOf(subject: FenceSubject): Store {
  return subject.again?.() ?? subject.store;
}

function abilityOf<Name extends 'endTenure' | 'failing'>(
  subject: FenceSubject,
  name: Name,
): NonNullable<FenceSubject[Name]> {
  const found = subject[name];
  if (found === undefined) throw new NotApplicable(`the subject has no ${name}()`);
  return found.bind(subject) as NonNullable<FenceSubject[Name]>;
}

/** The checks of {@link testFence}, to run one alone. */
export const fenceChecks: readonly Check<FenceSubject>[] = [
  takenOver(
    'given a take-over, every write of the owner before it is fenced and leaves nothing',
    async (first, second, head) => {
      const erased = someBytes(40, 7);
      const calls: [string, () => Promise<unknown>][] = [
        ['append', () => first.journal.append(framesAfter(head, 1), head)],
        ['append without frames', () => first.journal.append([], head)],
        ['mark', () => first.mark('late')],
        ['erase', async () => first.content.erase([await first.content.put(erased)], 1)],
        ['head', () => first.journal.head()],
      ];
      for (const [what, call] of calls) await expectRefusal('fenced', what, call);
      await expectJournal(second.journal, framesAfter({ seq: -1, digest: '' }, 2), 'for the next owner');
      expectSame(await second.content.erasedThrough(), -1, 'erasures for the next owner');
    },
  ),

  takenOver('given a take-over, content that the owner before it stores late is not there', async (first, second) => {
    for (const size of [50, 200_000, 3_000_000]) {
      const late = someBytes(size, size);
      const ref = await first.content.put(late).catch((error: unknown) => {
        expectThat(isRepriseError(error, 'fenced'), `a late blob of ${size} bytes is refused with fenced`);
        return undefined;
      });
      await first.journal.append([], await second.journal.head()).catch(() => undefined);
      if (ref !== undefined) expectSame(await second.content.has(ref), false, `a late blob of ${size} bytes`);
    }
  }),

  takenOver(
    'given the very frame that the owner before it failed to write, its author alone may take it for its own',
    async (first, second, head) => {
      const same = framesAfter(head, 1);
      await second.journal.append(same, head);
      await expectRefusal('fenced', 'the append of the same frame', () => first.journal.append(same, head));
      await expectRefusal('fenced', 'the look at the head', () => first.journal.head());
      expectSame(await second.journal.head(), { seq: same[0]?.seq, digest: same[0]?.head }, 'the head of its author');
    },
  ),

  takenOver(
    'given a take-over, the next owner learns that nobody saw the owner before it die',
    async (_first, second) => {
      expectSame([second.cleanlyClosed, second.ended], [false, 'lost'], 'how the opening before ended');
    },
  ),

  takenOver(
    'given a take-over, the close of the owner before it gives nothing of the next one away',
    async (first, second, head) => {
      await first.close().catch(() => undefined);
      await second.journal.append(framesAfter(head, 1), head);
      expectSame(second.tenure?.holds(), true, 'the tenure of the next owner');
    },
  ),

  takenOver('given a tenure that has ended, it is over for good, and tells so', async (first, second) => {
    expectSame(first.tenure?.holds(), false, 'the tenure of the owner before');
    await first.tenure?.lost;
    expectSame(first.tenure?.holds(), false, 'the tenure of the owner before, later');
    expectSame(second.tenure?.holds(), true, 'the tenure of the next owner');
    expectThat(
      (second.tenure?.epoch ?? 0) > (first.tenure?.epoch ?? 0),
      'the number of the opening rises at a take-over',
    );
  }),

  check(
    'given a tenure, its number rises with each opening, also of one process after a clean close',
    async (subject) => {
      let before = 0;
      for (let round = 0; round < 3; round++) {
        await whileOpen(subject.store, async ({ tenure }) => {
          if (tenure === undefined) throw new NotApplicable('the store has a lock');
          expectThat(tenure.epoch > before, `the number ${tenure.epoch} is higher than ${before}`);
          expectSame(tenure.holds(), true, 'the tenure of an open store');
          before = tenure.epoch;
        });
      }
    },
  ),

  check('given an owner that lives, another opener is refused however often it tries [JRN-18]', async (subject) => {
    await whileOpen(subject.store, async (open) => {
      for (let tries = 0; tries < 3; tries++)
        await expectRefusal('world_locked', 'another opener', () => anotherOf(subject).open());
      const frames = await appendGroups(open, [3]);
      await expectJournal(open.journal, frames, 'after the refused openings');
    });
  }),

  check('given many openers at once, one of them gets the store [JRN-18]', async (subject) => {
    for (let round = 0; round < 3; round++) {
      const stores = [subject.store, anotherOf(subject), subject.store, anotherOf(subject)];
      const tried = await Promise.allSettled(stores.map((store) => store.open()));
      const got = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      for (const one of tried)
        if (one.status === 'rejected')
          await expectRefusal('world_locked', 'an opener', () => Promise.reject(one.reason));
      expectSame(got.length, 1, 'openers that got the store');
      await got[0]?.close();
    }
  }),

  check('given a writer, no read of another process takes an append for damage [JRN-19]', async (subject) => {
    await whileOpen(subject.store, async (open) => {
      await appendGroups(open, [1]);
      const reader = await anotherOf(subject).openReadonly();
      let writing = true;
      const writes = (async () => {
        while (writing) {
          await new Promise((resolve) => setTimeout(resolve, 0)); // a store in memory would let nothing else run
          const head = await open.journal.head();
          await open.journal.append(framesAfter(head, 1 + (head.seq % 7)), head);
        }
      })();
      try {
        for (let reads = 0; reads < READS_BESIDE_A_WRITER; reads++) {
          const { seq } = await reader.journal.head();
          const frames = await collect(reader.journal.read(Math.max(0, seq - 2)));
          expectThat(frames.length >= Math.min(3, seq + 1), `a read from frame ${seq - 2} has ${frames.length} frames`);
        }
      } finally {
        writing = false;
        await writes;
        await reader.close();
      }
    });
  }),

  check(
    'given a storage that fails, every call says so with a code, and nothing that was acknowledged is lost',
    async (subject) => {
      const failing = abilityOf(subject, 'failing');
      const open = await subject.store.open();
      const kept = await open.content.put(someBytes(90_000, 1));
      const frames = await appendGroups(open, [2]);
      const head = await open.journal.head();
      const { journal, content } = open;
      const works = await failing();
      const calls: [string, () => Promise<unknown>][] = [
        ['append', () => journal.append(framesAfter(head, 1), head)],
        ['head', () => journal.head()],
        ['read', () => collect(journal.read(0))],
        ['findKey', () => journal.findKey('0'.repeat(64))],
        ['findLast', () => journal.findLast('request', 9)],
        ['get', () => content.get(kept)],
        ['has', () => content.has(kept)],
        ['put of a large blob', () => content.put(someBytes(2_000_000, 3))],
        ['erasedBy', () => content.erasedBy(kept)],
        ['erasedThrough', () => content.erasedThrough()],
        ['list', () => collect(content.list())],
        ['erase', () => content.erase([kept], 1)],
        ['mark', () => open.mark('late')],
        ['another opening', () => anotherOf(subject).openReadonly()],
      ];
      for (const [what, call] of calls) {
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        if (error === undefined) continue; // what is in memory may be answered
        const coded = isRepriseError(error) && STORAGE_CODES.includes(error.code);
        expectThat(coded, `${what} on a storage that fails rejects with a code of the list, not with ${String(error)}`);
      }
      await open.close().catch(() => undefined);
      await works();
      const reader = await anotherOf(subject).openReadonly();
      // The append may have been carried out all the same, also between two of these reads: all of it or nothing.
      const found = await collect(reader.journal.read(0));
      const late = found.length > frames.length ? framesAfter(head, 1) : [];
      expectFrames(found, [...frames, ...late], 'after the storage works again');
      const { seq } = await reader.journal.head();
      expectThat(seq >= found.length - 1, `after the storage works again: head ${seq} behind ${found.length} frames`);
      await reader.close();
    },
  ),
];
