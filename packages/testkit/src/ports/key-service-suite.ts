import { KEY_BYTES, type KeyService } from '@reprise/kernel';
import { expectRefusal, expectSame, expectSameBytes, expectThat } from '../suite/expect.js';
import {
  type Check,
  type Disposable,
  NotApplicable,
  registerSuite,
  type SuiteOptions,
  titled,
} from '../suite/suite.js';

/** A key service under test, in its own empty place. */
export interface KeyServiceSubject extends Disposable {
  readonly keys: KeyService;
  /** Another object for the same place, as another process would make it; default: the same object. */
  again?(): KeyService;
  /** Everything that the place holds now, one entry for each file, version or record; absent where that cannot be read. */
  holds?(): Promise<readonly Uint8Array[]>;
  /** A service whose place fails: it does not answer, or answers that it cannot. */
  failing?(): Promise<KeyService>;
}

/**
 * The contract of the key service port, as tests.
 *
 * @example
 * testKeyService({ name: 'vault', runner: { describe, it }, make: async () => ({ keys: vaultKeys(address) }) });
 */
export function testKeyService(options: SuiteOptions<KeyServiceSubject>): void {
  registerSuite('key service', keyServiceChecks, options);
}

function check(title: string, run: (subject: KeyServiceSubject) => Promise<void>): Check<KeyServiceSubject> {
  return { ...titled(title), run };
}

/** The other view of the place, so that no answer comes from the memory of the service that made a key. */
const other = ({ keys, again }: KeyServiceSubject): KeyService => again?.() ?? keys;

/** Names that begin alike, differ in one letter, or are as long as a name may be. */
const NAMES = ['a', 'a/b', 'a/b/c', 'a.b', 'a-b', 'a_b', 'A', '0', 'a/b/0', 'a/b/1', 'x'.repeat(512)];

async function one(keys: KeyService, name: string): Promise<Uint8Array> {
  const [key] = await keys.keep([name]);
  expectThat(key instanceof Uint8Array, `keep gave no key for ${name}`);
  return key;
}

async function found(keys: KeyService, name: string): Promise<Uint8Array | undefined> {
  return (await keys.find([name]))[0];
}

function hex(bytes: Uint8Array | undefined): string {
  return [...(bytes ?? [])].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Whether a key is anywhere in what a place holds. */
function holdsKey(all: readonly Uint8Array[], key: Uint8Array): boolean {
  return all.some((entry) => hex(entry).includes(hex(key)));
}

/** The checks of {@link testKeyService}, to run one alone. */
export const keyServiceChecks: readonly Check<KeyServiceSubject>[] = [
  check(
    'given names that begin alike or differ in one letter, each has a key of its own, of 32 bytes',
    async (subject) => {
      const keys = await subject.keys.keep(NAMES);
      expectSame(keys.length, NAMES.length, 'keys');
      for (const [i, key] of keys.entries()) expectSame(key.length, KEY_BYTES, `bytes of the key of ${NAMES[i]}`);
      expectSame(new Set(keys.map(hex)).size, NAMES.length, 'different keys');
    },
  ),

  check(
    'given a key that was kept, everyone who keeps or finds it gets the same, in the order of the names',
    async (subject) => {
      const keys = await subject.keys.keep(NAMES);
      const turned = [...NAMES].reverse();
      const [kept, read] = [await other(subject).keep(turned), await other(subject).find(turned)];
      for (const [i, name] of turned.entries()) {
        const key = keys[NAMES.indexOf(name)] as Uint8Array;
        expectSameBytes(kept[i], key, `the key of ${name}, kept again`);
        expectSameBytes(read[i], key, `the key of ${name}, found`);
      }
    },
  ),

  check('given a name that stands in a call twice, it has one key', async ({ keys }) => {
    const [first, second] = await keys.keep(['twice', 'twice']);
    expectSameBytes(second, first as Uint8Array, 'the second');
  }),

  check('given no key of a name, none is found, and looking for it makes none', async (subject) => {
    await one(subject.keys, 'there');
    const [missing, there] = await subject.keys.find(['missing', 'there']);
    expectSame(missing, undefined, 'a missing key');
    expectThat(there !== undefined, 'a key beside a missing one was not found');
    expectSame(await found(other(subject), 'missing'), undefined, 'a missing key, after a look for it');
  }),

  check('given many calls at once by two processes, all of them get the same key of a name', async (subject) => {
    for (let round = 0; round < 5; round++) {
      const calls = Array.from({ length: 16 }, (_, i) =>
        one(i % 2 === 0 ? subject.keys : other(subject), `at-once-${round}`),
      );
      const all = await Promise.all(calls);
      expectSame(new Set(all.map(hex)).size, 1, 'different keys of one name');
      expectSameBytes(await found(other(subject), `at-once-${round}`), all[0] as Uint8Array, 'the key that stays');
    }
  }),

  check('given keys that are destroyed, nobody finds them, and the others stay', async (subject) => {
    const keys = await subject.keys.keep(NAMES);
    await subject.keys.destroy(['a/b', 'A']);
    const left = await other(subject).find(NAMES);
    for (const [i, name] of NAMES.entries()) {
      if (name === 'a/b' || name === 'A') expectSame(left[i], undefined, `the destroyed key of ${name}`);
      else expectSameBytes(left[i], keys[i] as Uint8Array, `the key of ${name}`);
    }
  }),

  check('given a key that is destroyed, the next one of its name is another one', async (subject) => {
    const before = await one(subject.keys, 'again');
    await other(subject).destroy(['again']);
    const after = await one(subject.keys, 'again');
    expectThat(hex(after) !== hex(before), 'the destroyed key came again');
    expectSameBytes(await found(other(subject), 'again'), after, 'the new key');
  }),

  check('given keys that are missing or destroyed already, destroying them changes nothing', async ({ keys }) => {
    await one(keys, 'once');
    for (let times = 0; times < 2; times++) await keys.destroy(['once', 'never', 'once']);
    expectSame(await found(keys, 'once'), undefined, 'the key that was destroyed twice');
    await keys.destroy([]);
  }),

  check('given a key that is destroyed, no file or version of the place holds it', async (subject) => {
    if (subject.holds === undefined) throw new NotApplicable('what the place of the subject holds cannot be read');
    const [gone, stays] = await subject.keys.keep(['gone', 'stays']);
    expectThat(holdsKey(await subject.holds(), stays as Uint8Array), 'the place does not hold a key that it keeps');
    await subject.keys.destroy(['gone']);
    expectThat(!holdsKey(await subject.holds(), gone as Uint8Array), 'the place still holds the key');
  }),

  check('given keys that were handed over, changing them changes nothing that is kept', async (subject) => {
    const key = await one(subject.keys, 'own');
    const before = new Uint8Array(key);
    key.fill(0);
    const read = await found(subject.keys, 'own');
    expectSameBytes(read, before, 'the key');
    read?.fill(0);
    expectSameBytes(await one(subject.keys, 'own'), before, 'the key after its reader changed it');
  }),

  check(
    'given a place that fails, every call says so with a code, and none takes it for a missing key',
    async (subject) => {
      if (subject.failing === undefined) throw new NotApplicable('the subject has no place that fails');
      const keys = await subject.failing();
      await expectRefusal('store_failed', 'keep', () => keys.keep(['one']));
      await expectRefusal('store_failed', 'find', () => keys.find(['one']));
      await expectRefusal('store_failed', 'destroy', () => keys.destroy(['one']));
    },
  ),
];
