/** Opens the world that the user named, for reading only. */
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';

/** The offset of SQLite's application id (four bytes), and our id. */
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
  if (found === undefined) throw absent(path, 'the file does not exist');
  // Reading a pipe or a device would block for ever.
  if (!found.isFile())
    throw absent(path, found.isDirectory() ? 'the path is a folder' : 'the path is not a regular file');
  try {
    return await sqlite(path).openReadonly();
  } catch (error) {
    if (isRepriseError(error, 'world_absent')) throw absent(path, 'the file contains no world');
    if (isRepriseError(error, 'journal_damaged') && !isOurs(path)) throw absent(path, 'the file is not a world', error);
    throw error;
  }
}

/** Runs a function with an open world and closes the world afterwards, also after an error. */
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
    throw new RepriseError('store_failed', 'the path cannot be read', { where: path, cause: error });
  }
}

/** Whether the file has the header of a world: tells a damaged world from a file that never was one. */
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
