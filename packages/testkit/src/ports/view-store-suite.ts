import type { OpenViewStore, ViewChange, ViewMark, ViewRange, ViewStore } from '@reprise/kernel/views';
import { expectRefusal, expectSame } from '../suite/expect.js';
import { type Check, type Disposable, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';

/** A view store under test, in its own empty place. */
export interface ViewStoreSubject extends Disposable {
  readonly store: ViewStore;
}

/**
 * The contract of the view store port, as tests.
 *
 * @example
 * testViewStore({ name: 'memory', runner: { describe, it }, make: async () => ({ store: memoryViews() }) });
 */
export function testViewStore(options: SuiteOptions<ViewStoreSubject>): void {
  registerSuite('view store', viewStoreChecks, options);
}

const VIEW = 'test/View@1';
const EVERYTHING: ViewRange = { from: new Uint8Array(), to: null, limit: 1_000 };

/** Keys in their order as bytes: prefixes first, and 0xff after everything that begins otherwise. */
const KEYS: readonly Uint8Array[] = [
  [0],
  [0, 0],
  [0, 255],
  [1],
  [1, 2, 3],
  [127],
  [128],
  [128, 0],
  [255],
  [255, 255],
].map((bytes) => Uint8Array.from(bytes));

function check(title: string, body: (open: OpenViewStore, store: ViewStore) => Promise<void>): Check<ViewStoreSubject> {
  return {
    ...titled(title),
    run: async ({ store }) => {
      const open = await store.open();
      try {
        await body(open, store);
      } finally {
        await open.close();
      }
    },
  };
}

const markAt = (seq: number, digest = 'd'): ViewMark => ({
  seq,
  head: String(seq % 10).repeat(64),
  digest: digest.repeat(64),
});

async function write(open: OpenViewStore, seq: number, changes: readonly ViewChange[], view = VIEW): Promise<void> {
  await open.commit([{ view, expected: await open.mark(view), clear: false, changes, mark: markAt(seq) }]);
}

/** Entries as lists of numbers, which can be compared. */
async function entries(open: OpenViewStore, range: Partial<ViewRange> = {}, view = VIEW): Promise<number[][][]> {
  const found = await open.scan(view, { ...EVERYTHING, ...range });
  return found.map(([key, value]) => [[...key], [...value]]);
}

const allKeys = (): ViewChange[] => KEYS.map((key, i): ViewChange => [key, Uint8Array.of(i)]).reverse();
const shown = (indexes: readonly number[]): number[][][] => indexes.map((i) => [[...(KEYS[i] as Uint8Array)], [i]]);

/** The checks of {@link testViewStore}, to run one alone. */
export const viewStoreChecks: readonly Check<ViewStoreSubject>[] = [
  check('given nothing was written, there is no mark and no entry', async (open) => {
    expectSame(await open.mark(VIEW), null, 'the mark');
    expectSame(await entries(open), [], 'the entries');
    expectSame(await open.get(VIEW, Uint8Array.of(1)), undefined, 'an entry');
  }),

  check('given entries in any order, they are read in the order of their bytes, both ways [VIEW-4]', async (open) => {
    await write(open, 3, allKeys());
    const all = KEYS.map((_, i) => i);
    expectSame(await entries(open), shown(all), 'ascending');
    expectSame(await entries(open, { reverse: true }), shown(all.toReversed()), 'descending');
    expectSame(await open.mark(VIEW), markAt(3), 'the mark');
    expectSame([...((await open.get(VIEW, Uint8Array.of(128, 0))) ?? [])], [7], 'one entry');
  }),

  check(
    'given a range, its first key is in it and its last is not, and a limit counts from where it begins',
    async (open) => {
      await write(open, 0, allKeys());
      const range = { from: Uint8Array.of(0, 0), to: Uint8Array.of(128) };
      expectSame(await entries(open, range), shown([1, 2, 3, 4, 5]), 'the range');
      expectSame(await entries(open, { ...range, limit: 2 }), shown([1, 2]), 'its first two');
      expectSame(await entries(open, { ...range, limit: 2, reverse: true }), shown([5, 4]), 'its last two');
      expectSame(await entries(open, { from: Uint8Array.of(2), to: Uint8Array.of(2) }), [], 'an empty range');
    },
  ),

  check('given changes, an entry is replaced, one goes, and what comes later in a commit wins', async (open) => {
    await write(open, 0, allKeys());
    const [first, second] = KEYS as [Uint8Array, Uint8Array];
    await write(open, 1, [
      [first, Uint8Array.of(9, 9)],
      [second, null],
      [Uint8Array.of(7), new Uint8Array()],
      [Uint8Array.of(8), Uint8Array.of(1)],
      [Uint8Array.of(8), null],
    ]);
    expectSame((await entries(open, { limit: 2 }))[0], [[0], [9, 9]], 'the replaced entry');
    expectSame((await entries(open, { limit: 2 }))[1], [[0, 255], [2]], 'the entry after the removed one');
    expectSame(await entries(open, { from: Uint8Array.of(7), to: Uint8Array.of(9) }), [[[7], []]], 'an empty value');
  }),

  check(
    'given another mark than the expected one, a commit is stale and writes nothing of any view [VIEW-8]',
    async (open) => {
      await write(open, 4, allKeys());
      const wrong: (ViewMark | null)[] = [null, markAt(3), { ...markAt(4), head: 'e'.repeat(64) }, markAt(4, 'e')];
      for (const expected of wrong) {
        const stale = { view: VIEW, expected, clear: true, changes: [], mark: markAt(9) };
        const sound = { view: 'test/Other@1', expected: null, clear: false, changes: allKeys(), mark: markAt(9) };
        await expectRefusal('stale_head', 'a stale commit', () => open.commit([sound, stale]));
      }
      expectSame((await entries(open)).length, KEYS.length, 'the entries');
      expectSame(await open.mark('test/Other@1'), null, 'the mark of the other view');
      expectSame(await entries(open, {}, 'test/Other@1'), [], 'the entries of the other view');
    },
  ),

  check(
    'given a clear, what was there is gone and what comes with it stays; other views are untouched',
    async (open) => {
      await write(open, 4, allKeys());
      await write(open, 4, allKeys(), 'test/Other@1');
      const changes: ViewChange[] = [[Uint8Array.of(5), Uint8Array.of(5)]];
      await open.commit([{ view: VIEW, expected: markAt(4), clear: true, changes, mark: markAt(-1) }]);
      expectSame(await entries(open), [[[5], [5]]], 'the entries');
      expectSame(await open.mark(VIEW), markAt(-1), 'the mark');
      expectSame((await entries(open, {}, 'test/Other@1')).length, KEYS.length, 'the other view');
    },
  ),

  check('given bytes that were handed over, changing them changes nothing that is kept', async (open) => {
    const [key, value] = [Uint8Array.of(1, 1), Uint8Array.of(2)];
    await write(open, 0, [[key, value]]);
    key[0] = 9;
    value[0] = 9;
    const found = (await open.get(VIEW, Uint8Array.of(1, 1))) ?? new Uint8Array();
    expectSame([...found], [2], 'the entry');
    found[0] = 7;
    expectSame(await entries(open), [[[1, 1], [2]]], 'the entry, after a reader changed its copy');
  }),

  check('given another opening of the same place, it sees what was committed', async (open, store) => {
    await write(open, 0, allKeys());
    const other = await store.open();
    expectSame((await entries(other)).length, KEYS.length, 'the entries');
    await write(other, 1, [[Uint8Array.of(3), Uint8Array.of(3)]]);
    await other.close();
    expectSame(await open.mark(VIEW), markAt(1), 'the mark that the other opening wrote');
  }),
];
