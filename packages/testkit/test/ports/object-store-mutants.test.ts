/** The suite of object stores finds each broken promise, and an honest store keeps all of them. */
import { RepriseError } from '@reprise/contracts';
import type { ObjectStore } from '@reprise/kernel';
import { type ObjectStoreSubject, objectStoreChecks, runCheck } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';

/** A place in memory that keeps versions, as a bucket can. */
function subjectOf(patch: (honest: ObjectStore, place: Map<string, Uint8Array[]>) => Partial<ObjectStore>) {
  return async (): Promise<ObjectStoreSubject> => {
    const place = new Map<string, Uint8Array[]>();
    const failed = new RepriseError('store_failed', 'the place does not answer');
    const honest: ObjectStore = {
      label: 'memory',
      put: async (name, bytes) => {
        if (!/^[A-Za-z0-9][A-Za-z0-9_./-]{0,511}$/.test(name)) throw new RepriseError('invalid_argument', 'a name');
        place.set(name, [...(place.get(name) ?? []), new Uint8Array(bytes)]);
      },
      get: async (name) => {
        const newest = place.get(name)?.at(-1);
        return newest && new Uint8Array(newest);
      },
      remove: async (name) => void place.delete(name),
    };
    const store = { ...honest, ...patch(honest, place) };
    const fail = async (): Promise<never> => Promise.reject(failed);
    const broken: ObjectStore = { label: 'memory', put: fail, get: fail, remove: fail };
    return {
      store,
      versionsOf: async (name) => place.get(name)?.length ?? 0,
      failing: async () => ({ ...broken, ...(store === honest ? {} : failingLike(store, honest, broken)) }),
    };
  };
}

/** A mutant that takes each failure for a missing object does so where its place fails. */
function failingLike(store: ObjectStore, honest: ObjectStore, broken: ObjectStore): Partial<ObjectStore> {
  if (store.get === honest.get || !store.label.includes('deaf')) return {};
  return { get: () => broken.get('').catch(() => undefined) };
}

const READ = 'given an object of any length and any bytes, another reader of the place gets exactly these';
const NAMES = 'given names that begin alike or differ in one letter, each is an object of its own';
const AGAIN = 'given an object that is stored again under its name, another reader gets the last one';
const MISSING = 'given no object of a name, a read finds none and a removal has nothing to do';
const REMOVED = 'given a removal, no reader gets the object, and removing it again changes nothing';
const VERSIONS = 'given an object that was stored again, as after a lost answer, one removal removes all of it';
const COPIES = 'given bytes that were handed over or read, changing them changes nothing that is stored';
const MANY = 'given many calls at once, each object is stored, read and removed for itself';
const FAILS = 'given a place that fails, every call says so with a code, and none takes it for a missing object';
const ELSEWHERE = 'given a name that could lead elsewhere, it is refused';

const MUTANTS: readonly (readonly [fault: string, caughtBy: string, make: () => Promise<ObjectStoreSubject>])[] = [
  [
    'cuts what is longer than a megabyte',
    READ,
    subjectOf((honest) => ({ put: (name, bytes) => honest.put(name, bytes.subarray(0, 1_048_576)) })),
  ],
  [
    'takes letters for the same in both cases',
    NAMES,
    subjectOf((honest) => ({ put: (name, bytes) => honest.put(name.toLowerCase(), bytes) })),
  ],
  [
    'removes what begins with a name',
    NAMES,
    subjectOf((_, place) => ({
      remove: async (name) => {
        for (const known of [...place.keys()]) if (known.startsWith(name)) place.delete(known);
      },
    })),
  ],
  [
    'keeps the first object of a name',
    AGAIN,
    subjectOf((honest, place) => ({
      put: async (name, bytes) => {
        if (!place.has(name)) await honest.put(name, bytes);
      },
    })),
  ],
  [
    'refuses to remove what is missing',
    MISSING,
    subjectOf((honest, place) => ({
      remove: async (name) => {
        if (!place.has(name)) throw new RepriseError('store_failed', 'no such object');
        await honest.remove(name);
      },
    })),
  ],
  ['removes nothing', REMOVED, subjectOf(() => ({ remove: async () => undefined }))],
  [
    'removes the newest version only',
    VERSIONS,
    subjectOf((_, place) => ({
      remove: async (name) => {
        const versions = place.get(name)?.slice(0, -1) ?? [];
        if (versions.length === 0) place.delete(name);
        else place.set(name, versions);
      },
    })),
  ],
  [
    'keeps the bytes of its caller',
    COPIES,
    subjectOf((honest, place) => ({
      put: async (name, bytes) => {
        await honest.put(name, bytes);
        place.set(name, [bytes]);
      },
    })),
  ],
  [
    'mixes up calls that overlap',
    MANY,
    subjectOf((honest) => {
      let under: string | undefined;
      return {
        put: async (name, bytes) => {
          under = name;
          await Promise.resolve();
          await honest.put(under, bytes);
        },
      };
    }),
  ],
  [
    'takes a failure for a missing object',
    FAILS,
    subjectOf((honest) => ({ label: 'deaf', get: (name) => honest.get(name).catch(() => undefined) })),
  ],
  [
    'takes any name',
    ELSEWHERE,
    subjectOf((_, place) => ({ put: async (name, bytes) => void place.set(name, [new Uint8Array(bytes)]) })),
  ],
];

describe('the suite of object stores', () => {
  for (const check of objectStoreChecks)
    it(`an honest object store passes: ${check.name}`, () =>
      runCheck(
        check,
        subjectOf(() => ({})),
      ));

  for (const [fault, caughtBy, make] of MUTANTS) {
    it(`mutant: an object store that ${fault} is found`, async () => {
      const check = objectStoreChecks.find(({ name }) => name === caughtBy);
      if (check === undefined) throw new Error(`no check is named "${caughtBy}"`);
      const caught = await runCheck(check, make).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(caught, `"${check.name}" did not notice`).toBeInstanceOf(Error);
      expect(caught, 'the mutant is broken by accident').not.toBeInstanceOf(TypeError);
    });
  }

  it('every check finds a mutant', () => {
    const idle = objectStoreChecks.filter(({ name }) => !MUTANTS.some(([, caughtBy]) => caughtBy === name));
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
});
