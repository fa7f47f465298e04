import { EMPTY_HEAD, type Head, type OpenStore, portableSha256, type StoredFrame, toHex } from '@reprise/kernel';
import { collect, expectRefusal, expectSame, expectThat } from '../suite/expect.js';
import { type Check, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';
import {
  appendGroups,
  expectFrames,
  expectJournal,
  framesAfter,
  type StoreSubject,
  someBytes,
  whileOpen,
} from './store-subject.js';

/** Sizes of groups that make rows of one frame and of several, in every combination of neighbors. */
const GROUPS = [1, 1, 5, 1, 40, 2, 1, 1, 17];

/**
 * The contract of the journal port, as tests.
 *
 * @example
 * testJournal({ name: 'sqlite', runner: { describe, it }, make: async () => ({ store: sqlite(freshPath()) }) });
 */
export function testJournal(options: SuiteOptions<StoreSubject>): void {
  registerSuite('journal', journalChecks, options);
}

function check(title: string, body: (open: OpenStore) => Promise<void>): Check<StoreSubject> {
  return { ...titled(title), run: ({ store }) => whileOpen(store, body) };
}

/** The checks of {@link testJournal}, to run one alone. */
export const journalChecks: readonly Check<StoreSubject>[] = [
  check('given nothing was appended, the head is the empty one and there is no frame', async ({ journal }) => {
    await expectJournal(journal, [], 'a new journal');
    expectSame(await journal.findLast('manifest', 10), undefined, 'a frame of a new journal');
  }),

  check('given frames were appended, they are read back in order, byte for byte [JRN-8]', async (open) => {
    const frames = await appendGroups(open, GROUPS);
    await expectJournal(open.journal, frames, 'after all appends');
  }),

  check('given an append, it resolves to the head it made [JRN-7]', async ({ journal }) => {
    const frames = framesAfter(EMPTY_HEAD, 3);
    const head = await journal.append(frames, EMPTY_HEAD);
    expectSame(head, { seq: 2, digest: frames[2]?.head }, 'the head of the append');
    expectSame(await journal.head(), head, 'the durable head');
  }),

  check('given a head that is not the durable one, an append is stale and writes nothing [JRN-7]', async (open) => {
    const frames = await appendGroups(open, [2, 3]);
    const durable = await open.journal.head();
    const wrong: [string, Head][] = [
      ['an older head', { seq: 1, digest: frames[1]?.head as string }],
      ['another digest', { seq: durable.seq, digest: 'f'.repeat(64) }],
      ['a head in the future', { seq: 9, digest: durable.digest }],
      ['the empty head', EMPTY_HEAD],
    ];
    for (const [what, head] of wrong) {
      await expectRefusal('stale_head', what, () => open.journal.append(framesAfter(head, 2), head));
      await expectJournal(open.journal, frames, `after ${what}`);
    }
    await open.journal.append(framesAfter(durable, 1), durable);
  }),

  check('given frames that do not follow each other, an append is refused and writes nothing [JRN-7]', async (open) => {
    const frames = await appendGroups(open, [2]);
    const head = await open.journal.head();
    const [a, b, c, d] = framesAfter(head, 4) as [StoredFrame, StoredFrame, StoredFrame, StoredFrame];
    const wrong: [string, StoredFrame[]][] = [
      ['a gap inside', [a, b, d]],
      ['a repeated frame', [a, b, b]],
      ['the wrong order', [a, c, b]],
      ['a gap at the beginning', [b, c]],
    ];
    for (const [what, list] of wrong) {
      await expectRefusal('invalid_argument', what, () => open.journal.append(list, head));
      await expectJournal(open.journal, frames, `after ${what}`);
    }
  }),

  check('given no frames, an append checks the head and writes none', async (open) => {
    const frames = await appendGroups(open, [3]);
    const head = await open.journal.head();
    expectSame(await open.journal.append([], head), head, 'the head of an empty append');
    await expectJournal(open.journal, frames, 'after an empty append');
    await expectRefusal('stale_head', 'an empty append on an old head', () => open.journal.append([], EMPTY_HEAD));
  }),

  check('given a range, reading begins at from and ends with to', async (open) => {
    const frames = await appendGroups(open, GROUPS);
    const last = frames.length - 1;
    for (const from of [0, 1, 3, 8, 30, last, last + 1, last + 50]) {
      for (const to of [undefined, 0, 4, 31, last, last + 9]) {
        const wanted = frames.slice(from, to === undefined ? undefined : to + 1);
        expectFrames(await collect(open.journal.read(from, to)), wanted, `read(${from}, ${to})`);
      }
    }
  }),

  check(
    'given an append while a reader stands between two frames, the reader goes on in order [JRN-8]',
    async (open) => {
      const frames = await appendGroups(open, [1, 40, 1, 1]);
      const seen: StoredFrame[] = [];
      for await (const frame of open.journal.read(0)) {
        seen.push(frame);
        if (![0, 20, 42].includes(frame.seq)) continue;
        const head = await open.journal.head();
        const more = framesAfter(head, 30);
        await open.journal.append(more, head);
        frames.push(...more);
      }
      expectThat(seen.length >= 43, `the reader ended after ${seen.length} of 43 frames`);
      expectFrames(seen, frames.slice(0, seen.length), 'the frames that the reader got');
    },
  ),

  check('given many frames of all sizes, none is lost or changed [JRN-8]', async ({ journal }) => {
    const sizes = [0, 1, 500, 70_000, 3, 65_536, 300_000, 0, 20_000];
    const frames = framesAfter(EMPTY_HEAD, 900, (seq) =>
      someBytes(seq % 100 < 9 ? (sizes[seq % 100] as number) : 200, seq),
    );
    let head = EMPTY_HEAD;
    for (let i = 0; i < frames.length; i += 300) head = await journal.append(frames.slice(i, i + 300), head);
    await expectJournal(journal, frames, 'after 900 frames');
  }),

  check('given columns at their limits, they come back as they were', async ({ journal }) => {
    const [a, b, c] = framesAfter(EMPTY_HEAD, 3) as [StoredFrame, StoredFrame, StoredFrame];
    const frames = [
      { ...a, at: 0, kind: 'x' },
      { ...b, at: Number.MAX_SAFE_INTEGER, kind: 'kínd "quoted" \u{1F980}' },
      { ...c, at: 1_700_000_000_001, kind: '1' },
    ];
    const head = await journal.append(frames.slice(0, 2), EMPTY_HEAD);
    await journal.append(frames.slice(2), head);
    await expectJournal(journal, frames, 'limits');
  }),

  check('given a kind, the newest frame of it at or before a number is found', async (open) => {
    const frames = await appendGroups(open, GROUPS);
    for (const kind of ['manifest', 'request', 'receipt', 'timer', 'attempt', 'snapshot', 'absent']) {
      for (let seq = -1; seq < frames.length + 3; seq++) {
        const wanted = frames.findLast((frame) => frame.seq <= seq && frame.kind === kind);
        const found = await open.journal.findLast(kind, seq);
        expectFrames(found ? [found] : [], wanted ? [wanted] : [], `findLast('${kind}', ${seq})`);
      }
    }
  }),

  check('given keys, each finds the frame that was appended under it, and no other finds one', async ({ journal }) => {
    const keyOf = (seq: number): string => toHex(portableSha256(someBytes(32, seq)));
    const frames = framesAfter(EMPTY_HEAD, 12).map((frame) =>
      frame.seq % 3 === 0 ? { ...frame, key: keyOf(frame.seq) } : frame,
    );
    const head = await journal.append(frames.slice(0, 1), EMPTY_HEAD);
    const late = frames.slice(0, 1).map((frame) => ({ ...frame, key: keyOf(3) }));
    await expectRefusal('stale_head', 'an append on an old head', () => journal.append(late, EMPTY_HEAD));
    expectSame(await journal.findKey(keyOf(3)), undefined, 'the key of a refused frame');
    await journal.append(frames.slice(1), head);
    for (const { seq, key } of frames) {
      expectSame(await journal.findKey(keyOf(seq)), key === undefined ? undefined : seq, `the key of frame ${seq}`);
    }
  }),

  check('given bytes that the caller changes after the append, the stored ones stay', async ({ journal }) => {
    const given = framesAfter(EMPTY_HEAD, 3);
    const head = await journal.append(given.slice(0, 1), EMPTY_HEAD);
    await journal.append(given.slice(1), head);
    for (const frame of given) frame.bytes.fill(255);
    await expectJournal(journal, framesAfter(EMPTY_HEAD, 3), 'after the change');
  }),

  check('given bytes that a reader changes, the next reader gets the stored ones', async (open) => {
    const frames = await appendGroups(open, [1, 3]);
    for (const frame of await collect(open.journal.read(0))) frame.bytes.fill(255);
    for (const { kind, seq } of frames) (await open.journal.findLast(kind, seq))?.bytes.fill(255);
    await expectJournal(open.journal, framesAfter(EMPTY_HEAD, 4), 'after the change');
  }),
];
