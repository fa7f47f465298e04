import { RepriseError } from '@reprise/contracts';
import { memory, type OpenStore, type ReadonlyStore, type Store } from '@reprise/kernel';
import { type Check, runCheck, type StoreSubject } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';

/** An honest subject with every ability: a memory store that can be damaged and crashed. Mutants are made of it. */
export function honest(): Required<Pick<StoreSubject, 'store' | 'crashed' | 'damageBlob'>> {
  const inner = memory();
  const damaged = new Set<string>();
  let current: OpenStore | undefined;
  let mark: string | null = null;
  const store: Store = {
    ...inner,
    open: async () => {
      const open = await inner.open();
      current = open;
      return patched(open, {
        content: {
          get: async (ref) => {
            if (damaged.has(ref.hex)) throw new RepriseError('blob_damaged', 'damaged', { where: ref.toString() });
            return open.content.get(ref);
          },
          put: async (bytes) => {
            const ref = await open.content.put(bytes);
            damaged.delete(ref.hex);
            return ref;
          },
        },
        mark: async (note) => {
          await open.mark(note);
          mark = note;
        },
      });
    },
  };
  return {
    store,
    crashed: async () => crashImage(current as OpenStore, mark),
    damageBlob: async ({ hex }) => void damaged.add(hex),
  };
}

/** A store as a crash would leave it: the same content, unclean, until it was closed once. */
async function crashImage(open: OpenStore, mark: string | null): Promise<Store> {
  const copy = memory();
  const target = await copy.open();
  for await (const ref of open.content.list()) await target.content.put((await open.content.get(ref)) as Uint8Array);
  for await (const frame of open.journal.read(0)) await target.journal.append([frame], await target.journal.head());
  await target.mark(mark);
  await target.close();
  let openings = 0;
  const opened = async () => {
    const isFirst = openings++ === 0;
    return { ...(await copy.open()), cleanlyClosed: !isFirst, ended: isFirst ? ('died' as const) : ('clean' as const) };
  };
  return { ...copy, open: opened };
}

/** What a mutant does differently; everything else is the honest store's. */
export interface Patch {
  readonly journal?: Partial<OpenStore['journal']>;
  readonly content?: Partial<OpenStore['content']>;
  readonly hash?: NonNullable<OpenStore['hash']>;
  readonly cleanlyClosed?: boolean;
  readonly markAtOpen?: string | null;
  readonly mark?: OpenStore['mark'];
  readonly close?: OpenStore['close'];
}

/** An open store with some of its methods replaced. */
export function patched<T extends OpenStore | ReadonlyStore>(open: T, patch: Patch): T {
  return {
    ...open,
    ...patch,
    journal: { ...open.journal, ...patch.journal },
    content: { ...open.content, ...patch.content },
  };
}

/** A deliberately broken store: what it does wrong, the check that must catch it, and how it is made. */
export interface Mutant {
  /** Completes "a store that …". */
  readonly name: string;
  readonly caughtBy: string;
  readonly make: () => StoreSubject;
}

/** A mutant that is wrong in what an opening gives. */
export function openMutant(name: string, caughtBy: string, patch: (open: OpenStore) => Patch): Mutant {
  return storeMutant(name, caughtBy, (store) => ({
    ...store,
    open: async () => {
      const open = await store.open();
      return patched(open, patch(open));
    },
  }));
}

/** A mutant that is wrong in how it is opened. */
export function storeMutant(name: string, caughtBy: string, patch: (store: Store) => Store): Mutant {
  return {
    name,
    caughtBy,
    make: () => {
      const subject = honest();
      return { ...subject, store: patch(subject.store) };
    },
  };
}

/** Tests the tests: honest passes every check, each mutant is caught by its check, and each check catches a mutant. */
export function testMutants(suite: string, checks: readonly Check<StoreSubject>[], mutants: readonly Mutant[]): void {
  describe(`${suite}: an honest store`, () => {
    for (const check of checks) it(`the store passes: ${check.name}`, () => runCheck(check, async () => honest()));
  });
  describe(`${suite}: a store that`, () => {
    for (const mutant of mutants) {
      it(`the suite finds a store that ${mutant.name}`, async () => {
        const check = checks.find(({ name }) => name === mutant.caughtBy);
        if (check === undefined) throw new Error(`no check is named "${mutant.caughtBy}"`);
        const caught = await runCheck(check, async () => mutant.make()).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(caught, `"${check.name}" did not notice`).toBeInstanceOf(Error);
        expect(caught, 'the mutant is broken by accident').not.toBeInstanceOf(TypeError);
      });
    }
  });
  it(`${suite}: every check finds a mutant`, () => {
    const idle = checks.filter(({ name }) => !mutants.some(({ caughtBy }) => caughtBy === name));
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
}
