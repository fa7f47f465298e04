import { memoryDirectory, type OpenDirectory, type WorldRow } from '@reprise/kernel/host';
import { directoryChecks, runCheck } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';

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

describe('a directory that breaks its contract is found', () => {
  it.each(MUTANTS)('the suite finds a directory that %s', async (_, rule, breaks) => {
    const broken: string[] = [];
    for (const check of directoryChecks) {
      await runCheck(check, async () => ({ directory: mutant(breaks) })).catch(() => broken.push(check.name));
    }
    expect(
      broken.some((name) => name.startsWith(rule)),
      broken.join('; '),
    ).toBe(true);
  });

  it('the suite accepts a correct directory', async () => {
    for (const check of directoryChecks) await runCheck(check, async () => ({ directory: mutant(() => ({})) }));
  });
});
