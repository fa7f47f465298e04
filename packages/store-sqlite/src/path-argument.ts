/** The path of a file, as callers give it: they may be untyped, and an environment variable may be empty. */
import { kindOfThing, promiseHint, RepriseError } from '@reprise/contracts';

/**
 * Refuses what is no path. An empty one would be the current folder.
 *
 * @param what what needs the path: `a SQLite store`
 * @param call the function, for the hint: `sqlite`
 * @throws RepriseError `invalid_argument`
 */
export function requirePath(path: unknown, what: string, call: string): asserts path is string {
  if (typeof path === 'string' && path !== '') return;
  throw new RepriseError('invalid_argument', `${what} needs the path of its file`, {
    where: 'path',
    expected: 'text such as world.db',
    actual: kindOfThing(path),
    hint: hintOfPath(path, call),
  });
}

function hintOfPath(path: unknown, call: string): string {
  if (path === undefined || path === '') return 'Is the environment variable set in this process?';
  if (path instanceof URL) return `Write ${call}(fileURLToPath(url)), with fileURLToPath of node:url.`;
  return promiseHint(path) ?? `Give the path as text: ${call}('world.db').`;
}
