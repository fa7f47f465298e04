import type { ClaimedRow, HostDirectory, OpenDirectory, SharedRows, WorldRow } from '@reprise/kernel/host';
import { expectRefusal, expectSame, expectThat } from '../suite/expect.js';
import {
  type Check,
  type Disposable,
  NotApplicable,
  registerSuite,
  type SuiteOptions,
  titled,
} from '../suite/suite.js';

/** The subject of the suite of the directory port. */
export interface DirectorySubject extends Disposable {
  readonly directory: HostDirectory;
  /** Another object for the same place, as a second process would have; the same object when absent. */
  again?(): HostDirectory;
  /**
   * Ends the lease of the opening of `directory`, as when its process was stopped for longer than that. Absent for a
   * directory that one host has at a time.
   */
  endLease?(): Promise<void>;
}

/**
 * The contract of the directory port, in which hosts remember their worlds, as tests. One that hosts share is also tested
 * for that: two of them, claims, and what a dead one leaves behind.
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

/** A host of a shared directory. */
interface SharingHost {
  readonly open: OpenDirectory;
  readonly rows: SharedRows;
  claim(world: string): Promise<ClaimedRow>;
}

/** A check of a directory that two hosts have open. */
function shared(title: string, body: (a: SharingHost, b: SharingHost, subject: DirectorySubject) => Promise<void>) {
  return check(title, async (open, subject) => {
    if (open.shared === undefined) throw new NotApplicable('one host has the directory at a time');
    const other = await (subject.again?.() ?? subject.directory).open();
    try {
      await body(hostOf(open), hostOf(other), subject);
    } finally {
      await other.close();
    }
  });
}

function hostOf(open: OpenDirectory): SharingHost {
  const rows = open.shared;
  if (rows === undefined) throw new Error('the other opening of a shared directory is not shared');
  return { open, rows, claim: (world) => rows.claim(world) };
}

async function endLease(subject: DirectorySubject): Promise<void> {
  if (subject.endLease === undefined) throw new NotApplicable('the subject has no endLease()');
  await subject.endLease();
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
  check('given an opener, a second one is refused until the first has closed', async (open, subject) => {
    if (open.shared !== undefined) throw new NotApplicable('hosts share the directory');
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
    const { shared } = open;
    if (shared === undefined) return;
    await expectRefusal('world_closed', 'claim', () => shared.claim('a'));
    await expectRefusal('world_closed', 'adopt', () => shared.adopt(1, 1));
    await expectRefusal('world_closed', 'share', () => shared.share([]));
  }),
  shared('given a claim, the row says open for every host, and the claim has the row before', async (a, b) => {
    await a.open.set([row('a', NOON)]);
    expectSame((await a.claim('a')).before ?? null, row('a', NOON), 'the row before');
    expectSame(await b.open.get('a'), row('a', NOON, true), 'the row meanwhile');
    expectSame(namesOf(await b.open.due(NOON, 9)), [], 'the due rows meanwhile');
    expectSame((await b.claim('new')).before ?? null, null, 'the row before of a world that had none');
    expectSame(await a.open.get('new'), row('new', null, true), 'its row meanwhile');
  }),
  shared('given a living host, its row is neither claimed nor changed by another', async (a, b) => {
    const claim = await a.claim('a');
    for (let tries = 0; tries < 3; tries++) await expectRefusal('world_locked', 'a second claim', () => b.claim('a'));
    await expectRefusal('world_locked', 'a second claim of the same host', () => a.claim('a'));
    await b.open.set([row('a', 5), row('b', 6)]);
    await b.open.remove('a');
    expectSame(await b.rows.adopt(7, 9), 0, 'rows that were adopted');
    expectSame(await a.rows.adopt(7, 9), 0, 'rows that its own host adopted');
    expectSame(await b.open.list({ limit: 9 }), [row('a', null, true), row('b', 6)], 'the rows');
    await claim.release(row('a', 8));
    expectSame(await b.open.get('a'), row('a', 8), 'the row after its release');
  }),
  shared('given many claims at once, one of them gets the world', async (a, b) => {
    for (let round = 0; round < 5; round++) {
      const tried = await Promise.allSettled([a, b, a, b].map((host) => host.claim(`w${round % 2}`)));
      const got = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      for (const one of tried)
        if (one.status === 'rejected') await expectRefusal('world_locked', 'a claim', () => Promise.reject(one.reason));
      expectSame(got.length, 1, 'claims that got the world');
      await got[0]?.release(row(`w${round % 2}`));
    }
  }),
  shared(
    'given a release, the row is as it says, any host may claim it, and releasing again changes nothing',
    async (a, b) => {
      const first = await a.claim('a');
      await first.release(row('a', 5));
      const second = await b.claim('a');
      expectSame(second.before ?? null, row('a', 5), 'the row before the second claim');
      await first.release(row('a', 6));
      await first.release(undefined);
      expectSame(await a.open.get('a'), row('a', 5, true), 'the row of the second claim');
      await second.release(undefined);
      expectSame((await a.open.get('a')) ?? null, null, 'a row that was released as removed');
    },
  ),
  shared(
    'given a host whose lease is over, its open rows are adopted: closed, due, and a few at once',
    async (a, b, subject) => {
      for (const world of ['a', 'b', 'c']) await a.claim(world);
      const own = await b.claim('d');
      await endLease(subject);
      expectSame(await b.rows.adopt(NOON, 2), 2, 'rows of the first step');
      expectSame(await b.rows.adopt(NOON, 9), 1, 'rows of the second step');
      expectSame(await b.rows.adopt(NOON, 9), 0, 'rows of the third step');
      const rows = [row('a', NOON), row('b', NOON), row('c', NOON), row('d', null, true)];
      expectSame(await b.open.list({ limit: 9 }), rows, 'the rows');
      await own.release(undefined);
    },
  ),
  shared(
    'given a host whose lease is over, another claims its world without waiting for its adoption',
    async (a, b, subject) => {
      await (await a.claim('a')).release(row('a', 5));
      await a.claim('a');
      await endLease(subject);
      expectSame((await b.claim('a')).before ?? null, row('a', 5, true), 'the row that it left');
      expectSame(await b.rows.adopt(NOON, 9), 0, 'rows that are adopted after that');
    },
  ),
  shared(
    'given a host whose lease was over, its claims have ended for good, and it goes on with others',
    async (a, b, subject) => {
      const [adopted, taken] = [await a.claim('a'), await a.claim('b')];
      await endLease(subject);
      await b.rows.adopt(NOON, 9);
      const next = await b.claim('b');
      await adopted.release(row('a', 5));
      await taken.release(row('b', 5));
      expectSame(
        await b.open.list({ limit: 9 }),
        [row('a', NOON), row('b', NOON, true)],
        'the rows after late releases',
      );
      const again = await a.claim('a');
      await expectRefusal('world_locked', 'a claim of the other', () => b.claim('a'));
      await adopted.release(undefined);
      expectSame(await b.open.get('a'), row('a', NOON, true), 'the row after a release of the claim before');
      await again.release(row('a', 6));
      await next.release(row('b', 7));
      expectSame(await a.open.list({ limit: 9 }), [row('a', 6), row('b', 7)], 'the rows at the end');
    },
  ),
  shared(
    'given a host whose lease was over, its claims do not come back when it is heard of again',
    async (a, b, subject) => {
      await a.claim('a');
      await endLease(subject);
      expectSame(await a.open.get('a'), row('a', null, true), 'the row as the host reads it that was away');
      const next = await b.claim('a');
      await next.release(row('a', 6));
      expectSame(await a.open.get('a'), row('a', 6), 'the row as the other host has released it');
    },
  ),
  shared('given open rows that nobody has claimed, they are adopted', async (a, b) => {
    await a.open.set([row('a', null, true), row('b')]);
    expectSame(await b.rows.adopt(NOON, 9), 1, 'adopted rows');
    expectSame(await a.open.list({ limit: 9 }), [row('a', NOON), row('b')], 'the rows');
  }),
  shared(
    'given a host that closed its directory, what it has not released is adopted by the next of its process',
    async (a, b, subject) => {
      await a.claim('a');
      await a.open.close();
      const next = await subject.directory.open();
      try {
        await next.shared?.adopt(NOON, 9);
        expectSame(await b.open.get('a'), row('a', NOON), 'the row');
      } finally {
        await next.close();
      }
    },
  ),
  shared('given hosts that share limits, their parts are fair, and what one holds no other gets', async (a, b) => {
    const use = (held: number, max = 10, limit = 'x') => ({ limit, max, held, countsFor: 0 });
    const first = await a.rows.share([use(0), use(0, 4, 'y')]);
    expectSame([...first.allowed, first.holds()], [10, 4, true], 'the parts of a host that is alone');
    expectSame((await b.rows.share([use(0)])).allowed, [0], 'the part of a second host while the first holds all');
    expectSame((await b.rows.share([use(10)])).allowed, [0], 'the part of a host that holds what it has not reserved');
    expectSame((await a.rows.share([use(10), use(4, 4, 'y')])).allowed, [5, 4], 'the parts of the first one then');
    expectSame((await b.rows.share([use(0)])).allowed, [0], 'the part of the second while the first still holds all');
    expectSame((await a.rows.share([use(7)])).allowed, [5], 'the part of the first while it uses more');
    expectSame((await b.rows.share([use(0)])).allowed, [3], 'the part of the second, of what is left');
    await a.rows.share([use(5)]);
    expectSame((await b.rows.share([use(3)])).allowed, [5], 'the part of the second at last');
    const one = { limit: 'one', max: 1, held: 0, countsFor: 0 };
    const both = [...(await a.rows.share([one])).allowed, ...(await b.rows.share([one])).allowed];
    expectThat((both[0] ?? 9) + (both[1] ?? 9) <= 1, `of one place two hosts have ${both.join(' and ')}`);
  }),
  shared('given a host whose lease is over, its part goes to others when it counts no more', async (a, b, subject) => {
    await a.claim('a');
    const use = (limit: string, countsFor: number) => ({ limit, max: 6, held: 0, countsFor });
    const parts = await a.rows.share([use('at once', 0), use('in an hour', 3_600_000)]);
    expectSame(parts.allowed, [6, 6], 'the parts of the first host');
    await endLease(subject);
    const next = await b.rows.share([use('at once', 0), use('in an hour', 3_600_000)]);
    expectSame(next.allowed, [6, 0], 'the parts of the second host');
  }),
  shared('a directory that hosts share says how often to look', async (a) => {
    expectThat(a.rows.lookEvery > 0 && Number.isFinite(a.rows.lookEvery), 'lookEvery is a positive number');
  }),
  shared(
    'given rows that another host wrote, those who asked for it are called, and nobody after they stopped',
    async (a, b) => {
      const { changed } = a.rows;
      if (changed === undefined) throw new NotApplicable('the directory tells nobody of changes');
      let calls = 0;
      const stop = changed(() => calls++);
      await b.open.set([row('a', 5)]);
      await (await b.claim('b')).release(row('b', 6));
      expectThat(calls >= 2, `${calls} calls after a row was set and another released`);
      stop();
      const before = calls;
      await b.open.set([row('c', 7)]);
      expectSame(calls, before, 'calls after the stop');
    },
  ),
];
