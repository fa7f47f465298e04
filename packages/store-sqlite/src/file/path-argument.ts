/** The path of a file, as callers give it: they may be untyped, and an environment variable may be empty. */
import { kindOfThing, promiseHint, RepriseError } from '@reprise/contracts';

/** The address of a database, as other libraries take one: as a path it would be a file of that odd name. */
const ADDRESS = /^(?:file:|[a-z][a-z0-9+.-]+:\/\/)/i;

/** What SQLite calls a database without a file: as a path it would be a file of that odd name. */
const NO_FILE = ':memory:';

/**
 * Refuses what is no path. An empty one would be the current folder.
 *
 * @param what what needs the path: `a SQLite store`
 * @param call the function, for the hint: `sqlite`
 * @throws RepriseError `invalid_argument`
 */
export function requirePath(path: unknown, what: string, call: string): asserts path is string {
  if (typeof path === 'string' && path !== '' && path !== NO_FILE && !ADDRESS.test(path)) return;
  throw new RepriseError('invalid_argument', `${what} needs the path of its file`, {
    where: 'path',
    expected: 'text such as world.db',
    actual: shownPath(path),
    hint: hintOfPath(path, call),
  });
}

function shownPath(path: unknown): string {
  if (typeof path !== 'string' || path === '') return kindOfThing(path);
  return path === NO_FILE ? `${NO_FILE}, which is no file` : `the address of a database, ${schemeOf(path)}`;
}

/** The beginning of an address alone: the rest may hold a password. */
function schemeOf(address: string): string {
  return address.slice(0, address.indexOf(':') + 1);
}

function hintOfPath(path: unknown, call: string): string {
  if (path === NO_FILE) return 'For a world that ends with its process use memory() of reprise.';
  if (typeof path === 'string' && /^file:/i.test(path))
    return `Give the path without file:, as in ${call}('world.db').`;
  if (typeof path === 'string' && path !== '') return 'A world is a file of its own: give the path of that file.';
  if (path === undefined || path === '') return 'Is the environment variable set in this process?';
  if (path instanceof URL) return `Write ${call}(fileURLToPath(url)), with fileURLToPath of node:url.`;
  return promiseHint(path) ?? `Give the path as text: ${call}('world.db').`;
}
