import type { HostDirectory, OpenDirectory, WorldRow } from '@reprise/kernel/host';
import { expectRefusal, expectSame } from '../suite/expect.js';
import { type Check, type Disposable, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';

/** The subject of the suite of the directory port. */
export interface DirectorySubject extends Disposable {
  readonly directory: HostDirectory;
  /** Another object for the same place, as a second process would have; the same object when absent. */
  again?(): HostDirectory;
}

/**
 * The contract of the directory port, in which a host remembers its worlds, as tests.
 *
 * @example testDirectory({ name: 'mine', runner: { describe, it }, make: async () => ({ directory: mine() }) })
 */
export function testDirectory(options: SuiteOptions<DirectorySubject>): void {
  registerSuite('directory', directoryChecks, options);
}

function check(title: string, body: (open: OpenDirectory, subject: DirectorySubject) => Promise<void>) {
  const run = async (subject: DirectorySubject): Promise<void> => {
    const open = await subject.directory.open();
    try {
      await body(open, subject);
    } finally {
      await open.close();
    }
  };
  return { ...titled(title), run };
}

const row = (world: string, nextWakeAt: number | null = null, open = false): WorldRow => ({ world, nextWakeAt, open });

const namesOf = (rows: readonly WorldRow[]): readonly string[] => rows.map(({ world }) => world);

/** Times of a real clock: beyond 32 bits. */
const NOON = 1_767_265_200_000;

/** The checks of {@link testDirectory}, to run one alone. */
export const directoryChecks: readonly Check<DirectorySubject>[] = [
  check('given rows, each is found as it was set last, and no other is', async (open) => {
    await open.set([row('a', 5, true), row('b')]);
    await open.set([row('a', NOON)]);
    expectSame(await open.get('a'), row('a', NOON), 'a row that was set twice');
    expectSame(await open.get('b'), row('b'), 'a row without a wake-up');
    expectSame((await open.get('c')) ?? null, null, 'a row that was never set');
  }),
  check('given a row that was removed, it is gone, and removing it again changes nothing', async (open) => {
    await open.set([row('a', 5), row('b', 6)]);
    await open.remove('a');
    await open.remove('a');
    expectSame(namesOf(await open.list({ limit: 9 })), ['b'], 'the remaining rows');
    expectSame(namesOf(await open.due(NOON, 9)), ['b'], 'the due rows');
  }),
  check('given a close, the next opening has every row', async (open, subject) => {
    await open.set([row('a', 5, true), row('größe/İ', NOON)]);
    await open.close();
    const next = await (subject.again?.() ?? subject.directory).open();
    expectSame(await next.list({ limit: 9 }), [row('a', 5, true), row('größe/İ', NOON)], 'the rows');
    await next.close();
  }),
  check('given ids, rows are listed in the order of their bytes, a page at a time [HOST-10]', async (open) => {
    const ids = ['a', 'a/b', 'a0', 'b', 'é', '\ue000', '😀']; // UTF-16 would put the last before the one before
    await open.set(ids.toReversed().map((id) => row(id)));
    expectSame(namesOf(await open.list({ limit: 99 })), ids, 'all');
    expectSame(namesOf(await open.list({ limit: 2 })), ids.slice(0, 2), 'the first page');
    expectSame(namesOf(await open.list({ after: 'a/b', limit: 3 })), ids.slice(2, 5), 'the page after');
  }),
  check('given a question, only rows that answer it are listed', async (open) => {
    await open.set([row('a', 5), row('b', 10, true), row('c'), row('d', 15), row('e', null, true)]);
    expectSame(namesOf(await open.list({ open: true, limit: 9 })), ['b', 'e'], 'those open');
    expectSame(namesOf(await open.list({ open: false, limit: 9 })), ['a', 'c', 'd'], 'the rows that are not open');
    expectSame(namesOf(await open.list({ dueBefore: 10, limit: 9 })), ['a', 'b'], 'the rows due at 10');
    expectSame(namesOf(await open.list({ dueBefore: 15, open: false, after: 'a', limit: 9 })), ['d'], 'all at once');
  }),
  check(
    'given wakes, those due come by time and then by id, and what is open is not among them [HOST-10]',
    async (open) => {
      await open.set([row('d', 5), row('c', 5), row('b', 4), row('a', 6), row('e', 1, true), row('f')]);
      expectSame(namesOf(await open.due(5, 9)), ['b', 'c', 'd'], 'due at 5');
      expectSame(namesOf(await open.due(5, 2)), ['b', 'c'], 'two of them');
      expectSame(namesOf(await open.due(3, 9)), [], 'due at 3');
    },
  ),
  check('returns the next wake after a time, and null when no wake follows', async (open) => {
    expectSame(await open.nextDue(0), null, 'of nothing');
    await open.set([row('a', NOON), row('b', 7), row('c', 3, true), row('d')]);
    expectSame(await open.nextDue(0), 7, 'after 0');
    expectSame(await open.nextDue(7), NOON, 'after 7');
    expectSame(await open.nextDue(NOON), null, 'after the last');
  }),
  check('given an opener, a second one is refused until the first has closed [HOST-9]', async (open, subject) => {
    const other = subject.again?.() ?? subject.directory;
    await expectRefusal('world_locked', 'a second opener', () => other.open());
    await open.set([row('a', 5)]);
    await open.close();
    await (await other.open()).close();
  }),
  check('given a close, every call is refused, and closing again changes nothing', async (open) => {
    await open.close();
    await open.close();
    await expectRefusal('world_closed', 'get', () => open.get('a'));
    await expectRefusal('world_closed', 'set', () => open.set([row('a')]));
    await expectRefusal('world_closed', 'remove', () => open.remove('a'));
    await expectRefusal('world_closed', 'list', () => open.list({ limit: 1 }));
    await expectRefusal('world_closed', 'due', () => open.due(1, 1));
    await expectRefusal('world_closed', 'nextDue', () => open.nextDue(1));
  }),
];
