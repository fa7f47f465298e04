/** Opens the world that the user named, for reading only. */
import { closeSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { isDatabase, storeAt } from './place.js';

/** The offset of SQLite's application id (four bytes), and our id. */
const OWNER_AT = 68;
const OWNER = 'RPRS';

/**
 * Opens a world: a file, or an address in a database. Takes no lock, so a writer may hold it.
 *
 * @throws RepriseError `world_absent` when there is no world at the path, `journal_damaged` when there is a broken
 *   one, `store_failed`, `semantics_unknown`, `runtime_unsupported`; `invalid_argument` for an address that cannot be read
 */
export async function openForReading(path: string): Promise<ReadonlyStore> {
  if (isDatabase(path)) return storeAt(path).openReadonly();
  const found = statOf(path);
  if (found === undefined) throw absent(path, 'the file does not exist');
  // Reading a pipe or a device would block for ever.
  if (!found.isFile())
    throw absent(path, found.isDirectory() ? 'the path is a folder' : 'the path is not a regular file');
  try {
    return await storeAt(path).openReadonly();
  } catch (error) {
    if (isRepriseError(error, 'world_absent')) throw absent(path, 'the file contains no world');
    if (isRepriseError(error, 'journal_damaged') && !isWorld(path)) throw absent(path, 'the file is not a world');
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

/** Whether a world is there already, for a verb that would make one. @throws RepriseError when a database does not say */
export async function isThere(world: string): Promise<boolean> {
  if (!isDatabase(world)) return isWorld(world);
  try {
    return await withWorld(world, async () => true);
  } catch (error) {
    if (isRepriseError(error, 'world_absent')) return false;
    throw error;
  }
}

function absent(path: string, what: string): RepriseError {
  const near = worldsNear(path);
  const hint =
    near.length === 0
      ? 'Give the path of a world’s file, which the program that made the world knows.'
      : `Give the path of a world’s file: ${near.join(', ')}`;
  return new RepriseError('world_absent', what, { where: path, hint });
}

/** How many files of a folder are looked at, and how many worlds among them are named. */
const [LOOKED_AT_MAX, NAMED_MAX] = [500, 5];

/** Worlds in the folder that the user named, or in the folder of the file. */
function worldsNear(path: string): string[] {
  const folder = statOf(path)?.isDirectory() === true ? path : dirname(path);
  try {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.slice(0, LOOKED_AT_MAX).map(({ name }) => join(folder, name));
    return paths.filter(isWorld).sort().slice(0, NAMED_MAX);
  } catch {
    return []; // the folder does not exist, or cannot be read
  }
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
export function isWorld(path: string): boolean {
  const owner = Buffer.alloc(OWNER.length);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, owner, 0, owner.length, OWNER_AT);
    } finally {
      closeSync(file);
    }
  } catch {
    return false; // it does not exist, or cannot be read
  }
  return owner.toString('latin1') === OWNER;
}
