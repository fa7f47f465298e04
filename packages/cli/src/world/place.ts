/**
 * From the argument that names a world to its store: the path of a file, or the address of a world in a database,
 * `postgres://HOST:PORT/DATABASE#WORLD`.
 *
 * Invariants
 * P1  No part of the command but this file and the store sees the password of an address: it is taken out before the
 *     arguments are parsed, so that no output, no error and no text of help can repeat it.
 * P2  A verb on a file loads nothing for databases.
 */
import { resolve } from 'node:path';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { OpenStore, ReadonlyStore, Store } from '@reprise/kernel';
import type { PostgresDatabase, PostgresOptions } from '@reprise/store-postgres';
import { sqlite } from '@reprise/store-sqlite';
import { objectsOf } from './objects.js';

const ADDRESS = /^postgres(?:ql)?:\/\//i;

/** An argument that is an address, or an option with one. */
const ARGUMENT = /^(--[\w-]+=)?(postgres(?:ql)?:\/\/.*)$/is;

/** What is left of an address in which the password cannot be told from the rest. */
const HIDDEN = 'postgres://…';

/** The addresses with their passwords, by what the command knows them as (P1). */
const whole = new Map<string, string>();

/** Whether an argument names a world in a database. */
export function isDatabase(world: string): boolean {
  return ADDRESS.test(world);
}

/**
 * An argument of the command without the password in it; this file remembers the address. Any other argument as it is.
 *
 * @param argument of the command line
 */
export function withoutPassword(argument: string): string {
  const [, option = '', address] = ARGUMENT.exec(argument) ?? [];
  if (address === undefined) return argument;
  const shown = shownOf(address);
  if (shown !== address) whole.set(shown, address);
  return option + shown;
}

/** The argument as another thread of this process needs it: a path that is absolute, or the address with its password. */
export function forThread(world: string): string {
  return isDatabase(world) ? wholeOf(world) : resolve(world);
}

/**
 * The store of the world that an argument names. Its file or row is looked for when it is opened.
 *
 * @throws RepriseError `invalid_argument` for an address that cannot be read
 */
export function storeAt(world: string): Store {
  return isDatabase(world) ? inDatabase(world) : sqlite(world);
}

/**
 * The database that an argument names, without a world.
 *
 * @param options of its connections
 * @throws RepriseError `invalid_argument` for an address that cannot be read
 */
export async function databaseAt(given: string, options: PostgresOptions = {}): Promise<PostgresDatabase> {
  const { address, fragment } = splitOf(wholeOf(given));
  if (!isDatabase(given) || fragment !== undefined || !isClear(address)) throw unreadable(given, '');
  const { postgres } = await import('@reprise/store-postgres'); // P2
  return postgres(address, { pooled: true, ...options });
}

/**
 * Refuses a world in a database, for what needs the world's file.
 *
 * @param what what needs it: `a backup`
 * @throws RepriseError `invalid_argument`
 */
export function requireFile(world: string, what: string, hint: string): void {
  if (!isDatabase(world)) return;
  throw new RepriseError('invalid_argument', `${what} needs a world in a file, and this one is in a database`, {
    ...{ where: world, hint },
  });
}

/** Every opening has connections of its own, which end with it. */
function inDatabase(world: string): Store {
  const { address, name } = partsOf(world);
  async function opened<T extends OpenStore | ReadonlyStore>(open: (store: Store) => Promise<T>): Promise<T> {
    const { postgres } = await import('@reprise/store-postgres'); // P2
    const objects = await objectsOf(process.env);
    // Pooled: so that it works where a pooler stands before the server, too.
    const database = postgres(address, { pooled: true, ...(objects === undefined ? {} : { objects }) });
    try {
      const store = await open(database.world(name));
      return { ...store, close: () => store.close().finally(() => database.close()) };
    } catch (error) {
      await database.close();
      throw isRepriseError(error, 'world_absent') ? absent(error, world) : error;
    }
  }
  return {
    label: world,
    open: () => opened((store) => store.open()),
    openReadonly: () => opened((store) => store.openReadonly()),
  };
}

interface Parts {
  /** The address of the database, with its password. */
  readonly address: string;
  readonly name: string;
}

/** Takes an address apart. @throws RepriseError `invalid_argument` for one that cannot be read or names no world */
function partsOf(world: string): Parts {
  const given = wholeOf(world);
  const { address, fragment } = splitOf(given);
  if (!isClear(address)) throw unreadable(world);
  if (fragment === undefined || fragment === '') throw nameless(world);
  return { address, name: nameOf(fragment, world) };
}

/** The name of the world begins behind the last `#`. */
function splitOf(given: string): { readonly address: string; readonly fragment?: string } {
  const at = given.lastIndexOf('#');
  return at < 0 ? { address: given } : { address: given.slice(0, at), fragment: given.slice(at + 1) };
}

/** Whether it is certain which part of an address is the password: none of its signs may stand there as they are. */
function isClear(address: string): boolean {
  const [, authority, rest] = /^[a-z]+:\/\/([^/?#]*)(.*)$/is.exec(address) ?? [];
  if (authority === undefined || rest === undefined || /[@#]/.test(rest) || !/^\/[^/?]+(?:\?|$)/.test(rest))
    return false;
  return authority.split('@').length <= 2 && URL.canParse(address);
}

/** The address as it may be shown: with its user and the name of the world. */
function shownOf(given: string): string {
  const { address, fragment } = splitOf(given);
  if (!isClear(address)) return mayHide(given) ? HIDDEN : given;
  const url = new URL(address);
  const secret = [...url.searchParams.keys()].filter((key) => /pass/i.test(key));
  if (url.password === '' && secret.length === 0) return given;
  url.password = '';
  for (const key of secret) url.searchParams.delete(key);
  return url.href + (fragment === undefined ? '' : `#${fragment}`);
}

/** Whether something in an address that is not clear may be a password. */
function mayHide(given: string): boolean {
  return given.includes('@') || /pass/i.test(given);
}

function wholeOf(world: string): string {
  return whole.get(world) ?? world;
}

function nameOf(fragment: string, where: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    throw new RepriseError('invalid_argument', 'the name behind # is not percent-encoded as an address needs it', {
      where,
      hint: 'Write % as %25 and # as %23.',
    });
  }
}

function unreadable(given: string | undefined, fragment = '#WORLD'): RepriseError {
  const actual = given === HIDDEN ? undefined : given;
  return new RepriseError('invalid_argument', 'the address of a database cannot be read', {
    expected: `postgres://USER:PASSWORD@HOST:PORT/DATABASE${fragment}`,
    ...(actual === undefined ? {} : { actual }),
    hint: 'Percent-encode the user, the password and the parameters: # is %23, / is %2F, ? is %3F, @ is %40.',
  });
}

function nameless(where: string): RepriseError {
  return new RepriseError('invalid_argument', 'the address names a database and no world in it', {
    where,
    expected: 'the name of the world behind #: postgres://HOST:PORT/DATABASE#WORLD',
  });
}

function absent({ what, details }: RepriseError, where: string): RepriseError {
  return new RepriseError('world_absent', what, {
    ...{ ...details, where },
    hint: 'Give the name under which the program that made the world opens it, behind #.',
  });
}
