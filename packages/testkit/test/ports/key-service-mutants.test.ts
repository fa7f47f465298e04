/** The suite of key services finds each broken promise, and an honest service keeps all of them. */
import { randomBytes } from 'node:crypto';
import { RepriseError } from '@reprise/contracts';
import type { KeyService } from '@reprise/kernel';
import { type KeyServiceSubject, keyServiceChecks, runCheck } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';

/** A place in memory that keeps versions, as a service of a cloud can: the last one counts. */
type Place = Map<string, (Uint8Array | undefined)[]>;

type Make = () => Promise<KeyServiceSubject>;

function serviceOf(place: Place): KeyService {
  const newest = (name: string): Uint8Array | undefined => {
    const key = place.get(name)?.at(-1);
    return key && new Uint8Array(key);
  };
  return {
    label: 'memory',
    keep: async (names) =>
      names.map((name) => {
        const key = newest(name) ?? new Uint8Array(randomBytes(32));
        if (newest(name) === undefined) place.set(name, [...(place.get(name) ?? []), key]);
        return new Uint8Array(key);
      }),
    find: async (names) => names.map(newest),
    destroy: async (names) => {
      for (const name of names) place.delete(name);
    },
  };
}

/** @param patch what differs; it is called for each process of the place */
function subjectOf(patch: (honest: KeyService, place: Place) => Partial<KeyService>): Make {
  return async () => {
    const place: Place = new Map();
    const made = (): KeyService => {
      const honest = serviceOf(place);
      return { ...honest, ...patch(honest, place) };
    };
    const fail = async (): Promise<never> =>
      Promise.reject(new RepriseError('store_failed', 'the place does not answer'));
    const broken: KeyService = { label: 'memory', keep: fail, find: fail, destroy: fail };
    return {
      keys: made(),
      again: made,
      holds: async () => [...place.values()].flat().filter((key) => key !== undefined),
      failing: async () => ({ ...broken, ...(made().label === 'deaf' ? deaf(broken) : {}) }),
    };
  };
}

function deaf(broken: KeyService): Partial<KeyService> {
  return { find: (names) => broken.find(names).catch(() => names.map(() => undefined)) };
}

const OWN = 'given names that begin alike or differ in one letter, each has a key of its own, of 32 bytes';
const SAME = 'given a key that was kept, everyone who keeps or finds it gets the same, in the order of the names';
const TWICE = 'given a name that stands in a call twice, it has one key';
const MISSING = 'given no key of a name, none is found, and looking for it makes none';
const AT_ONCE = 'given many calls at once by two processes, all of them get the same key of a name';
const DESTROYED = 'given keys that are destroyed, nobody finds them, and the others stay';
const NEXT = 'given a key that is destroyed, the next one of its name is another one';
const AGAIN = 'given keys that are missing or destroyed already, destroying them changes nothing';
const NOWHERE = 'given a key that is destroyed, no file or version of the place holds it';
const COPIES = 'given keys that were handed over, changing them changes nothing that is kept';
const FAILS = 'given a place that fails, every call says so with a code, and none takes it for a missing key';

const pause = () => new Promise((next) => setImmediate(next));

const MUTANTS: readonly (readonly [fault: string, caughtBy: string, make: Make])[] = [
  [
    'takes letters for the same in both cases',
    OWN,
    subjectOf((honest) => ({ keep: (names) => honest.keep(names.map((name) => name.toLowerCase())) })),
  ],
  [
    'makes keys of 16 bytes',
    OWN,
    subjectOf((honest) => ({ keep: async (names) => (await honest.keep(names)).map((key) => key.slice(0, 16)) })),
  ],
  [
    'answers in the order of its own',
    SAME,
    subjectOf((honest) => ({ find: async (names) => honest.find([...names].sort()) })),
  ],
  ['keeps keys in the memory of its process', SAME, subjectOf(() => serviceOf(new Map()))],
  [
    'makes a key for each place of a name in a call',
    TWICE,
    subjectOf((honest, place) => ({
      keep: async (names) => {
        const missing = new Set(names.filter((name) => !place.has(name)));
        const keys = names.map((name) => (missing.has(name) ? new Uint8Array(randomBytes(32)) : undefined));
        const known = await honest.keep(names.filter((name) => !missing.has(name)));
        names.forEach((name, i) => {
          const key = keys[i];
          if (key !== undefined) place.set(name, [key]);
        });
        let next = 0;
        return keys.map((key) => key ?? (known[next++] as Uint8Array));
      },
    })),
  ],
  ['makes the keys that it looks for', MISSING, subjectOf((honest) => ({ find: (names) => honest.keep(names) }))],
  [
    'lets the last of two processes win',
    AT_ONCE,
    subjectOf((honest, place) => ({
      keep: async (names) => {
        const known = await honest.find(names);
        await pause();
        return names.map((name, i) => {
          const key = known[i] ?? new Uint8Array(randomBytes(32));
          place.set(name, [key]);
          return new Uint8Array(key);
        });
      },
    })),
  ],
  [
    'destroys what begins with a name',
    DESTROYED,
    subjectOf((_, place) => ({
      destroy: async (names) => {
        for (const known of [...place.keys()]) if (names.some((name) => known.startsWith(name))) place.delete(known);
      },
    })),
  ],
  [
    'derives keys from names',
    NEXT,
    subjectOf((_, place) => ({
      keep: async (names) =>
        names.map((name) => {
          const key = new Uint8Array(32).map((_byte, i) => (name.charCodeAt(i % name.length) * 31 + i) % 256);
          place.set(name, [key]);
          return new Uint8Array(key);
        }),
    })),
  ],
  [
    'refuses to destroy what is missing',
    AGAIN,
    subjectOf((honest, place) => ({
      destroy: async (names) => {
        for (const name of names) if (!place.has(name)) throw new RepriseError('store_failed', 'no such key');
        await honest.destroy(names);
      },
    })),
  ],
  [
    'only marks a key as destroyed',
    NOWHERE,
    subjectOf((_, place) => ({
      destroy: async (names) => {
        for (const name of names) if (place.has(name)) place.set(name, [...(place.get(name) ?? []), undefined]);
      },
    })),
  ],
  [
    'hands its own bytes out',
    COPIES,
    subjectOf((honest, place) => ({
      keep: async (names) => {
        await honest.keep(names);
        return names.map((name) => place.get(name)?.at(-1) as Uint8Array);
      },
    })),
  ],
  ['takes a failure for a missing key', FAILS, subjectOf(() => ({ label: 'deaf' }))],
];

describe('the suite of key services', () => {
  for (const check of keyServiceChecks)
    it(`an honest key service passes: ${check.name}`, () =>
      runCheck(
        check,
        subjectOf(() => ({})),
      ));

  for (const [fault, caughtBy, make] of MUTANTS) {
    it(`mutant: a key service that ${fault} is found`, async () => {
      const check = keyServiceChecks.find(({ name }) => name === caughtBy);
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
    const idle = keyServiceChecks.filter(({ name }) => !MUTANTS.some(([, caughtBy]) => caughtBy === name));
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
});
