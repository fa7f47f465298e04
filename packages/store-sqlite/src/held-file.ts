/** Opens a SQLite file for the one process that writes it. */
import { dirname } from 'node:path';
import { makeDirectory } from './blob-files.js';
import { type Connection, sqliteDriver } from './driver.js';
import { holdLock } from './lock.js';
import { storeError } from './sqlite-errors.js';

/**
 * Makes the folder, takes the lock and opens the file; when `make` fails, all is given back.
 *
 * @param failed what is said of a failure
 * @param make prepares the file, and is given what lets go of the lock
 * @throws world_locked, and what the file system says
 */
export async function openHeld<Opened>(
  path: string,
  failed: string,
  make: (db: Connection, release: () => void) => Opened | Promise<Opened>,
): Promise<Opened> {
  const driver = await sqliteDriver();
  await makeDirectory(dirname(path)).catch((error: unknown) => {
    throw storeError(error, 'cannot make the directory', dirname(path));
  });
  const release = holdLock(driver, path);
  let db: Connection | undefined;
  try {
    db = driver.open(path, 'write');
    return await make(db, release);
  } catch (error) {
    db?.close();
    release();
    throw storeError(error, failed, path);
  }
}
