import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRepriseError, lineOfError, RepriseError } from '@reprise/contracts';

/** SQLite's primary result codes with a meaning of their own here. */
const BUSY = 5;
const READONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** SQLite's extended code for a page beyond the end of the file. */
const SHORT_READ = 522;

/** The primary result code of an error of either driver; undefined for any other error. */
function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { errcode, rawCode, message } = error as { errcode?: unknown; rawCode?: unknown; message?: unknown };
  for (const code of [errcode, rawCode]) if (typeof code === 'number') return code;
  // libsql reports a failed open as text only: `ConnectionFailed("Unable to open …: 14")`
  if (typeof message !== 'string') return undefined;
  const opened = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(message);
  return opened === null ? codeOfWords(error, message) : Number(opened[1]);
}

/** What SQLite says of a result, word for word: all that the `node:sqlite` of Deno reports. */
const WORDS: readonly (readonly [string, number])[] = [
  ['database is locked', BUSY],
  ['attempt to write a readonly database', READONLY],
  ['database disk image is malformed', CORRUPT],
  ['database or disk is full', FULL],
  ['unable to open database file', CANTOPEN],
  ['file is not a database', NOTADB],
];

function codeOfWords(error: object, message: string): number | undefined {
  if ((error as { code?: unknown }).code !== 'ERR_SQLITE_ERROR') return undefined;
  return WORDS.find(([words]) => message === words || message.startsWith(`${words}: `))?.[1];
}

/** Whether another connection has the lock. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY;
}

/** Whether there was no space left. */
export function isFull(error: unknown): boolean {
  const system = (error as { code?: unknown } | null)?.code;
  return resultCode(error) === FULL || system === 'ENOSPC' || system === 'EDQUOT';
}

/** Whether a read-only open failed because it may not write the side files it needs. */
export function isUnwritable(error: unknown): boolean {
  const code = resultCode(error);
  return code === CANTOPEN || code === READONLY;
}

/**
 * Converts an error of SQLite or of the file system into a RepriseError; a RepriseError passes unchanged.
 *
 * @param error the thrown value
 * @param what the failed operation, as the beginning of a sentence
 * @param where the file, and the frame or blob if it is known
 */
export function storeError(error: unknown, what: string, where: string): RepriseError {
  if (isRepriseError(error)) return error;
  const code = resultCode(error);
  const system = (error as { code?: unknown } | null)?.code;
  // The last is the error of node:sqlite for a number beyond the safe integers: no writer of ours stores one.
  const isUnsound = code === CORRUPT || extendedCode(error) === SHORT_READ;
  if (code === NOTADB) {
    return new RepriseError('journal_damaged', `${what}: the file is not a database`, {
      where,
      hint: 'It is another kind of file, or its beginning was overwritten. Pass the path of a world’s file, or restore it from a copy.',
      cause: error,
    });
  }
  if (isUnwritable(error) || (typeof system === 'string' && NOT_PERMITTED.includes(system)))
    return unopened(what, where, error);
  if (isUnsound || system === 'ERR_OUT_OF_RANGE') {
    return new RepriseError('journal_damaged', `${what}: the file is not a sound database`, {
      where,
      hint: 'Restore it from a copy; keep the damaged file, another reader may recover more of it.',
      cause: error,
    });
  }
  if (isFull(error)) {
    return new RepriseError('store_full', `${what}: no space left`, {
      where,
      hint: 'Nothing was written. Free some space, then try again.',
      cause: error,
    });
  }
  return new RepriseError('store_failed', `${what}: ${error instanceof Error ? error.message : lineOfError(error)}`, {
    where,
    cause: error,
  });
}

/** The codes of the system for a file that this process may not read or write. */
const NOT_PERMITTED: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];

/** SQLite and libsql say no more than a number: the file system says why. */
function unopened(what: string, where: string, error: unknown): RepriseError {
  const folder = dirname(where);
  const hint = `Give this process the right to read and write the file and its folder: SQLite keeps files beside it. A world that only needs to be read can be read without it: npx reprise log ${where.replace(/-(?:lock|wal|shm)$/, '')}`;
  return new RepriseError('store_failed', `${what}: ${whyUnopened(where, folder)}`, { where, hint, cause: error });
}

function whyUnopened(path: string, folder: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    return 'a folder stands in the place of the file';
  if (!isPermitted(folder, constants.W_OK)) return `this process may not write the folder ${folder}`;
  if (statSync(path, { throwIfNoEntry: false }) !== undefined && !isPermitted(path, constants.R_OK | constants.W_OK))
    return 'this process may not read and write the file';
  return 'the system does not let this process open or make the file';
}

function isPermitted(path: string, how: number): boolean {
  try {
    accessSync(path, how);
    return true;
  } catch {
    return false;
  }
}

/** Runs a body and converts the errors that it throws. */
export function guarded<T>(what: string, where: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw storeError(error, what, where);
  }
}
