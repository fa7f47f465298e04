import { memoryViews, type OpenViewStore, type ViewStore } from '@reprise/kernel/views';
import { runCheck, viewStoreChecks } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';

const ORDER = 'given entries in any order, they are read in the order of their bytes, both ways';
const RANGE = 'given a range, its first key is in it and its last is not, and a limit counts from where it begins';
const CHANGES = 'given changes, an entry is replaced, one goes, and what comes later in a commit wins';
const STALE = 'given another mark than the expected one, a commit is stale and writes nothing of any view';
const CLEAR = 'given a clear, what was there is gone and what comes with it stays; other views are untouched';
const COPIES = 'given bytes that were handed over, changing them changes nothing that is kept';
const AGAIN = 'given another opening of the same place, it sees what was committed';

/** A view store with some of its methods replaced. */
function mutant(patch: (open: OpenViewStore) => Partial<OpenViewStore>): () => ViewStore {
  return () => {
    const inner = memoryViews();
    return {
      ...inner,
      open: async () => {
        const open = await inner.open();
        return { ...open, ...patch(open) };
      },
    };
  };
}

const byText = (a: Uint8Array, b: Uint8Array) => (String(a) < String(b) ? -1 : 1);

const MUTANTS: readonly (readonly [name: string, caughtBy: string, make: () => ViewStore])[] = [
  [
    'orders keys as text',
    ORDER,
    mutant((open) => ({
      scan: async (view, range) => (await open.scan(view, range)).toSorted(([a], [b]) => byText(a, b)),
    })),
  ],
  [
    'ignores the order',
    ORDER,
    mutant((open) => ({ scan: (view, range) => open.scan(view, { ...range, reverse: false }) })),
  ],
  [
    'takes the end of a range in',
    RANGE,
    mutant((open) => ({
      scan: (view, range) => open.scan(view, { ...range, to: range.to && Uint8Array.of(...range.to, 0) }),
    })),
  ],
  [
    'counts the limit from the other end',
    RANGE,
    mutant((open) => ({
      scan: async (view, range) => (await open.scan(view, { ...range, limit: 1_000 })).slice(-range.limit),
    })),
  ],
  [
    'never takes an entry away',
    CHANGES,
    mutant((open) => ({
      commit: (commits) =>
        open.commit(commits.map((one) => ({ ...one, changes: one.changes.filter(([, value]) => value !== null) }))),
    })),
  ],
  [
    'writes some views of a stale commit',
    STALE,
    mutant((open) => ({
      commit: async (commits) => {
        for (const one of commits) await open.commit([one]);
      },
    })),
  ],
  [
    'looks at the number of the mark alone',
    STALE,
    mutant((open) => ({
      commit: async (commits) =>
        open.commit(
          await Promise.all(
            commits.map(async (one) => {
              const mark = await open.mark(one.view);
              return mark?.seq === one.expected?.seq ? { ...one, expected: mark } : one;
            }),
          ),
        ),
    })),
  ],
  [
    'does not clear',
    CLEAR,
    mutant((open) => ({ commit: (commits) => open.commit(commits.map((one) => ({ ...one, clear: false }))) })),
  ],
  [
    'hands out its own bytes',
    COPIES,
    mutant((open) => {
      const handed = new Map<string, Uint8Array>();
      return {
        get: async (view, key) => {
          const found = handed.get(String(key)) ?? (await open.get(view, key));
          if (found !== undefined) handed.set(String(key), found);
          return found;
        },
        scan: async (view, range) =>
          (await open.scan(view, range)).map(([key, value]) => [key, handed.get(String(key)) ?? value] as const),
      };
    }),
  ],
];

describe('the view store suite', () => {
  it.each(MUTANTS)('the suite finds a view store that %s', async (_, caughtBy, make) => {
    const check = viewStoreChecks.find(({ name }) => name === caughtBy);
    if (check === undefined) throw new Error(`no such check: ${caughtBy}`);
    await expect(runCheck(check, async () => ({ store: make() }))).rejects.toThrow();
  });

  it('the suite finds a view store that forgets at each opening', async () => {
    const check = viewStoreChecks.find(({ name }) => name === AGAIN);
    if (check === undefined) throw new Error('no such check');
    const store: ViewStore = { label: 'forgetful', open: () => memoryViews().open() };
    await expect(runCheck(check, async () => ({ store }))).rejects.toThrow();
  });
});
