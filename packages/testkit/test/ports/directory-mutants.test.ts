import { memoryDirectory, type OpenDirectory, type WorldRow } from '@reprise/kernel/host';
import { type DirectorySubject, directoryChecks, NotApplicable, runCheck } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';
import { type SharingFault, sharingSubject } from './shared-directory.js';

/** A directory with some of its methods broken. */
function mutant(breaks: (open: OpenDirectory) => Partial<OpenDirectory>) {
  const inner = memoryDirectory();
  const open = async (): Promise<OpenDirectory> => {
    const honest = await inner.open();
    const bound = new Proxy(honest, {
      get: (target, key: keyof OpenDirectory) => (target[key] as (() => unknown) | undefined)?.bind(target),
    });
    const broken = breaks(honest) as Record<string, unknown>;
    return new Proxy(bound, { get: (target, key: keyof OpenDirectory) => broken[key] ?? target[key] });
  };
  return { label: 'mutant', open };
}

const byUnits = (a: WorldRow, b: WorldRow): number => (a.world < b.world ? -1 : 1);

const MUTANTS: readonly (readonly [string, string, (open: OpenDirectory) => Partial<OpenDirectory>])[] = [
  [
    'keeps the first of two',
    'given rows, each',
    (open) => ({
      set: async (rows) => {
        for (const row of rows) if ((await open.get(row.world)) === undefined) await open.set([row]);
      },
    }),
  ],
  ['removes nothing', 'given a row that was removed', () => ({ remove: async () => undefined })],
  [
    'orders ids by UTF-16',
    'given ids',
    (open) => ({
      list: async (query) => [...(await open.list({ ...query, limit: 99 }))].sort(byUnits).slice(0, query.limit),
    }),
  ],
  [
    'begins a page with the last of the one before',
    'given ids',
    (open) => ({
      list: async ({ after, ...query }) =>
        open.list({ ...query, ...(after === undefined ? {} : { after: after.slice(0, -1) || '!' }) }),
    }),
  ],
  [
    'asks only whether it is due',
    'given a question',
    (open) => ({ list: ({ open: _, ...query }) => open.list(query) }),
  ],
  [
    'wakes what is open',
    'given wakes, those due',
    (open) => ({
      due: async (until, limit) => {
        const rows = await open.list({ dueBefore: until, limit: 99 });
        return [...rows].sort((a, b) => (a.nextWakeAt ?? 0) - (b.nextWakeAt ?? 0)).slice(0, limit);
      },
    }),
  ],
  [
    'takes the next to be the first due',
    'returns the next wake',
    (open) => ({ nextDue: async () => open.nextDue(-1) }),
  ],
  ['works after it was closed', 'given a close, every call', () => ({ get: async () => undefined })],
];

/** Each fault of a directory that hosts share, and the beginning of the check that finds it. */
const SHARING: readonly (readonly [SharingFault, string])[] = [
  ['a claim does not say open', 'given a claim'],
  ['a claim has no row before', 'given a claim'],
  ['a second claim gets in', 'given a living host'],
  ['claims are in two steps', 'given many claims at once'],
  ['set changes claimed rows', 'given a living host'],
  ['remove removes claimed rows', 'given a living host'],
  ['a living host is adopted', 'given a living host'],
  ['a claim can be released twice', 'given a release'],
  ['a release forgets the wake', 'given a release'],
  ['a release removes nothing', 'given a release'],
  ['adoption has no bound', 'given a host whose lease is over, its open rows'],
  ['nothing is adopted', 'given a host whose lease is over, its open rows'],
  ['adopted rows are never due', 'given a host whose lease is over, its open rows'],
  ['a dead host keeps its world', 'given a host whose lease is over, another claims'],
  ['claims outlive their lease', 'given a host whose lease was over'],
  ['a lease comes again', 'given a host whose lease was over, its claims do not come back'],
  ['unclaimed rows stay open', 'given open rows that nobody has claimed'],
  ['a closed directory keeps its worlds', 'given a host that closed its directory'],
  ['there is no time between looks', 'a directory that hosts share says'],
  ['nobody is told of changes', 'given rows that another host wrote'],
  ['changes are told after the stop', 'given rows that another host wrote'],
  ['claims go on after the close', 'given a close, every call'],
  ['parts ignore the others', 'given hosts that share limits'],
  ['parts are taken from who holds them', 'given hosts that share limits'],
  ['parts never change', 'given hosts that share limits'],
  ['what is held needs no reservation', 'given hosts that share limits'],
  ['limits are one', 'given hosts that share limits'],
  ['a dead host keeps its part', 'given a host whose lease is over, its part'],
  ['a dead host leaves its part at once', 'given a host whose lease is over, its part'],
];

/** The checks that fail, and those that do not apply. */
async function outcome(make: () => Promise<DirectorySubject>) {
  const [broken, skipped]: [string[], string[]] = [[], []];
  for (const check of directoryChecks)
    await runCheck(check, make).catch((error: unknown) =>
      (error instanceof NotApplicable ? skipped : broken).push(check.name),
    );
  return { broken, skipped };
}

describe('a directory that breaks its contract is found', () => {
  it.each(MUTANTS)('the suite finds a directory that %s', async (_, rule, breaks) => {
    const { broken } = await outcome(async () => ({ directory: mutant(breaks) }));
    expect(
      broken.some((name) => name.startsWith(rule)),
      broken.join('; '),
    ).toBe(true);
  });

  it.each(SHARING)('the suite finds a shared directory of which %s', async (fault, rule) => {
    const { broken } = await outcome(() => sharingSubject(fault));
    expect(
      broken.some((name) => name.startsWith(rule)),
      broken.join('; '),
    ).toBe(true);
  });

  it('the suite accepts a correct directory, and leaves out only what is about several hosts', async () => {
    const { broken, skipped } = await outcome(async () => ({ directory: mutant(() => ({})) }));
    expect(broken).toEqual([]);
    expect(skipped).toHaveLength(14);
  });

  it('the suite accepts a correct directory that hosts share, and leaves out only that one host has it', async () => {
    const { broken, skipped } = await outcome(() => sharingSubject());
    expect(broken).toEqual([]);
    expect(skipped).toEqual(['given an opener, a second one is refused until the first has closed']);
  });
});
