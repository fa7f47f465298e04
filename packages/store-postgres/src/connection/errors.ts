/** Errors of the database and of the connection to it, as errors of a store. */
import { isRepriseError, lineOfError, RepriseError } from '@reprise/contracts';

/** Classes of SQLSTATE that mean that there is no room: disk full, out of memory, too many connections are of class 53. */
const DISK_FULL = '53100';

/** What the server's own codes ask of the user. */
const HINTS: Readonly<Record<string, string>> = {
  '28P01': 'The password in the address is wrong.',
  '3D000': 'Create the database first: createdb NAME.',
  '25006':
    'This server, database or role only reads: is it a replica that was not promoted? Use the address of the primary.',
  '42501':
    'Give the role of the address USAGE on the schema reprise, and SELECT, INSERT, UPDATE and DELETE on all of its tables, again after an upgrade has added some; or the right to create the schema.',
  '57014':
    'A statement_timeout of the server, the database or the role is too short: raise it for this role, or set it to 0.',
  '57P03': 'The server is starting or ending: try again.',
  '53300': 'The server has no connection left: give this process fewer (connectionsMax), or use a pooler.',
};

/**
 * Converts an error of the library into an error of a store; a RepriseError passes unchanged. Whether the statement was
 * executed is unknown when the connection was lost, so nothing here says that nothing was written.
 *
 * @param what what was done, as in `append`
 * @param where the database, without its password
 */
export function databaseError(error: unknown, what: string, where: string): RepriseError {
  if (isRepriseError(error)) return error;
  const state = stateOf(error);
  if (state === DISK_FULL)
    return new RepriseError('store_full', `cannot ${what}: the disk of the database is full`, {
      ...{ where, cause: error },
      hint: 'Nothing was written. Free some space, then try again.',
    });
  const hint = state === undefined ? 'Is the database running, and does this machine reach it?' : HINTS[state];
  return new RepriseError('store_failed', `cannot ${what}: ${lineOfError(error)}`, {
    ...{ where, cause: error },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The SQLSTATE of an error that the server sent; undefined for an error of the connection. */
export function stateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && severity !== undefined ? code : undefined;
}

/**
 * Whether the server answered that it has executed nothing of a statement. What ends a connection says nothing of its
 * statement: the server, or a pooler, may end it after the statement has committed.
 */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error);
  return (
    state !== undefined && (error as { readonly severity?: unknown }).severity === 'ERROR' && !/^(?:08|57)/.test(state)
  );
}
