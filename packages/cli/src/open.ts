/** Opens the world that somebody named, for reading only. */
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';

/** Where SQLite keeps the four bytes by which a file says whose it is, and what ours says. */
const OWNER_AT = 68;
const OWNER = 'RPRS';

/**
 * Opens a world's file. Takes no lock, so a writer may hold it.
 *
 * @throws RepriseError `world_absent` when there is no world at the path, `journal_damaged` when there is a broken
 *   one, `store_failed`, `semantics_unknown`, `runtime_unsupported`
 */
export async function openForReading(path: string): Promise<ReadonlyStore> {
  const found = statOf(path);
  if (found === undefined) throw absent(path, 'there is no such file');
  // A pipe or a device would be waited on for ever.
  if (!found.isFile()) throw absent(path, found.isDirectory() ? 'this is a folder' : 'this is no regular file');
  try {
    return await sqlite(path).openReadonly();
  } catch (error) {
    if (isRepriseError(error, 'world_absent')) throw absent(path, 'there is no world in this file');
    if (isRepriseError(error, 'journal_damaged') && !isOurs(path))
      throw absent(path, 'this file is not a world', error);
    throw error;
  }
}

/** Runs a body with an open world and closes it, whatever comes. */
export async function withWorld<T>(path: string, body: (store: ReadonlyStore) => Promise<T>): Promise<T> {
  const store = await openForReading(path);
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

function absent(path: string, what: string, cause?: unknown): RepriseError {
  return new RepriseError('world_absent', what, {
    where: path,
    hint: 'Give the path of a world’s file; the program that made the world knows it.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw new RepriseError('store_failed', 'this path cannot be looked at', { where: path, cause: error });
  }
}

/** Tells a damaged world from a file that never was one. */
function isOurs(path: string): boolean {
  const owner = Buffer.alloc(OWNER.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, owner, 0, owner.length, OWNER_AT);
  } finally {
    closeSync(file);
  }
  return owner.toString('latin1') === OWNER;
}
