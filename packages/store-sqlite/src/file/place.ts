/** The paths of a database's files, by the file's own name and never by that of a link to it. */
import { readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RepriseError } from '@reprise/contracts';
import { nodeFs, type StoreFs } from '../database/ports.js';
import { storeError } from '../database/sqlite-errors.js';
import { makeDirectory } from '../packs/blob-files.js';

/** The number of links that Linux follows. */
const LINKS_MAX = 40;

/** What a writer may create. */
export type Creation = (typeof CREATIONS)[number];

/** What the opening of a store may create: the file alone, or the folders above it as well. */
export const CREATIONS = ['file', 'folders'] as const;

/**
 * The path that names a file's lock, log and blobs: without a link in it, in the file's name or in that of a
 * folder. The file itself may be missing.
 */
export function canonicalPath(path: string): string {
  return guardedPath(path, () => follow(resolve(path), LINKS_MAX));
}

function follow(path: string, links: number): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isAbsence(error) || links === 0 || path === dirname(path)) throw error;
  }
  const target = linkTarget(path);
  // A link to a missing file: SQLite would create its target.
  if (target !== undefined) return follow(resolve(dirname(path), target), links - 1);
  return join(follow(dirname(path), links), basename(path));
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // missing, or not a link
  }
}

/**
 * The canonical path for a writer.
 *
 * @throws RepriseError `store_failed` when its folder is missing and may not be created
 */
export async function placeForWriting(path: string, creation: Creation, fs: StoreFs = nodeFs): Promise<string> {
  const file = canonicalPath(path);
  const folder = dirname(file);
  if (creation === 'folders') {
    await makeDirectory(folder, fs).catch((error: unknown) => {
      throw storeError(error, 'cannot make the folder', folder);
    });
    return canonicalPath(file);
  }
  if (fileAt(folder)?.isDirectory()) return file;
  throw new RepriseError('store_failed', 'the folder for this file does not exist', {
    where: file,
    expected: `the folder ${folder}`,
    ...(fileAt(folder) === undefined ? {} : { actual: 'a file of this name' }),
    hint: "Correct the path, create the folder, or pass { create: 'folders' } to have it created.",
  });
}

/** The status of a path; undefined when it does not exist. */
export function fileAt(path: string): Stats | undefined {
  return guardedPath(path, () => {
    try {
      return statSync(path, { throwIfNoEntry: false });
    } catch (error) {
      if (isAbsence(error)) return undefined; // a folder above it is a file
      throw error;
    }
  });
}

function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** The size in bytes of the write-ahead log beside a file; 0 without a log. */
export function logBytes(path: string): number {
  return fileAt(`${path}-wal`)?.size ?? 0;
}

/**
 * Refuses anything but a regular file with one name: a pipe would wait for ever, and under each name of a file
 * SQLite would use a separate log.
 *
 * @throws RepriseError `store_failed`, `world_linked`
 */
export function requireOwnFile(path: string): void {
  for (const name of [path, `${path}-wal`]) {
    const found = fileAt(name);
    if (found === undefined) continue;
    if (!found.isFile()) throw noRegularFile(name);
    if (found.nlink > 1) throw linked(name, found.nlink);
  }
}

/** The error for a folder, a pipe or a device in the place of a file. */
export function noRegularFile(path: string): RepriseError {
  return new RepriseError('store_failed', 'the path is not a regular file', {
    where: path,
    hint: 'Pass the path of a world’s file.',
  });
}

/** The error for a file that has several names. */
export function linked(path: string, names: number | bigint): RepriseError {
  return new RepriseError('world_linked', 'the file has a second name (a hard link)', {
    where: path,
    expected: 'one name',
    actual: `${names} names`,
    hint: `Find the other name with find -samefile and remove it, or put a real copy in its place.`,
  });
}

function guardedPath<T>(path: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw storeError(error, 'cannot read the path', path);
  }
}
