import type { ObjectStore } from '@reprise/kernel';
import { expectRefusal, expectSame, expectSameBytes, expectThat } from '../suite/expect.js';
import {
  type Check,
  type Disposable,
  NotApplicable,
  registerSuite,
  type SuiteOptions,
  titled,
} from '../suite/suite.js';
import { someBytes } from './store-subject.js';

/** An object store under test, in its own empty place. */
export interface ObjectStoreSubject extends Disposable {
  readonly store: ObjectStore;
  /** Another store object for the same place, as another process would make it; default: the same object. */
  again?(): ObjectStore;
  /** How many versions of an object the place keeps, markers of removals not counted; absent where it keeps none. */
  versionsOf?(name: string): Promise<number>;
  /** A store whose place fails: it does not answer, or answers that it cannot. */
  failing?(): Promise<ObjectStore>;
}

/**
 * The contract of the object store port, as tests.
 *
 * @example
 * testObjectStore({ name: 'bucket', runner: { describe, it }, make: async () => ({ store: s3(options) }) });
 */
export function testObjectStore(options: SuiteOptions<ObjectStoreSubject>): void {
  registerSuite('object store', objectStoreChecks, options);
}

function check(title: string, run: (subject: ObjectStoreSubject) => Promise<void>): Check<ObjectStoreSubject> {
  return { ...titled(title), run };
}

/** The other view of the place, so that no answer comes from the memory of the store that wrote. */
const other = ({ store, again }: ObjectStoreSubject): ObjectStore => again?.() ?? store;

const NAMES = ['a', 'a/b', 'a/b/c', 'a.b', 'a-b', 'a_b', 'A', '0'];

/** Lengths around the borders of pieces, of records and of nothing. */
const LENGTHS = [0, 1, 255, 65_536, 65_537, 1_048_577, 8_388_608];

/** The checks of {@link testObjectStore}, to run one alone. */
export const objectStoreChecks: readonly Check<ObjectStoreSubject>[] = [
  check(
    'given an object of any length and any bytes, another reader of the place gets exactly these',
    async (subject) => {
      for (const length of LENGTHS) {
        const bytes = someBytes(length, length);
        await subject.store.put(`of-${length}`, bytes);
        expectSameBytes(await other(subject).get(`of-${length}`), bytes, `an object of ${length} bytes`);
      }
    },
  ),

  check('given names that begin alike or differ in one letter, each is an object of its own', async (subject) => {
    for (const [i, name] of NAMES.entries()) await subject.store.put(name, someBytes(10 + i, i));
    await subject.store.remove('a/b');
    for (const [i, name] of NAMES.entries()) {
      const found = await other(subject).get(name);
      if (name === 'a/b') expectSame(found, undefined, 'the removed object');
      else expectSameBytes(found, someBytes(10 + i, i), name);
    }
  }),

  check('given an object that is stored again under its name, another reader gets the last one', async (subject) => {
    for (let n = 0; n < 5; n++) {
      await subject.store.put('witness/db/007', someBytes(100 - n, n));
      expectSameBytes(await other(subject).get('witness/db/007'), someBytes(100 - n, n), `the object of put ${n}`);
    }
  }),

  check('given no object of a name, a read finds none and a removal has nothing to do', async ({ store }) => {
    expectSame(await store.get('nothing'), undefined, 'a missing object');
    await store.remove('nothing');
    expectSame(await store.get('nothing'), undefined, 'a missing object after its removal');
  }),

  check('given a removal, no reader gets the object, and removing it again changes nothing', async (subject) => {
    await subject.store.put('gone', someBytes(100_000, 1));
    await subject.store.remove('gone');
    expectSame(await other(subject).get('gone'), undefined, 'the removed object');
    await subject.store.remove('gone');
    expectSame(await subject.store.get('gone'), undefined, 'the object that was removed twice');
  }),

  check(
    'given an object that was stored again, as after a lost answer, one removal removes all of it',
    async (subject) => {
      const bytes = someBytes(70_000, 2);
      for (let times = 0; times < 3; times++) await subject.store.put('again', bytes);
      expectSameBytes(await other(subject).get('again'), bytes, 'the object that was stored three times');
      await subject.store.remove('again');
      expectSame(await other(subject).get('again'), undefined, 'the removed object');
      if (subject.versionsOf !== undefined) expectSame(await subject.versionsOf('again'), 0, 'versions that are left');
    },
  ),

  check('given bytes that were handed over or read, changing them changes nothing that is stored', async (subject) => {
    const given = someBytes(1_000, 3);
    await subject.store.put('own', given);
    given.fill(0);
    const read = await subject.store.get('own');
    expectSameBytes(read, someBytes(1_000, 3), 'the object');
    read?.fill(0);
    expectSameBytes(
      await subject.store.get('own'),
      someBytes(1_000, 3),
      'the object after its reader changed the bytes',
    );
  }),

  check('given many calls at once, each object is stored, read and removed for itself', async (subject) => {
    const all = Array.from({ length: 40 }, (_, i) => i);
    await Promise.all(all.map((i) => subject.store.put(`one-${i}`, someBytes(500 + i, i))));
    await Promise.all(all.filter((i) => i % 3 === 0).map((i) => subject.store.remove(`one-${i}`)));
    const found = await Promise.all(all.map((i) => other(subject).get(`one-${i}`)));
    for (const [i, bytes] of found.entries()) {
      if (i % 3 === 0) expectSame(bytes, undefined, `the removed object ${i}`);
      else expectSameBytes(bytes, someBytes(500 + i, i), `object ${i}`);
    }
  }),

  check(
    'given a place that fails, every call says so with a code, and none takes it for a missing object',
    async (subject) => {
      if (subject.failing === undefined) throw new NotApplicable('the subject has no place that fails');
      const store = await subject.failing();
      await expectRefusal('store_failed', 'put', () => store.put('one', someBytes(10, 1)));
      await expectRefusal('store_failed', 'get', () => store.get('one'));
      await expectRefusal('store_failed', 'remove', () => store.remove('one'));
    },
  ),

  check('given a name that could lead elsewhere, it is refused', async ({ store }) => {
    for (const name of ['', '/a', '../a', 'a b', 'a?b', 'ä', 'a\n', 'a'.repeat(600)]) {
      const kept = await store.put(name, someBytes(10, 1)).then(
        () => true,
        () => false,
      );
      expectThat(!kept, `the name ${JSON.stringify(name)} was accepted`);
    }
  }),
];
