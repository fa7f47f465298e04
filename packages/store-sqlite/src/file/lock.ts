import { RepriseError } from '@reprise/contracts';
import type { Connection, Driver } from '../database/driver.js';
import { isBusy, storeError } from '../database/sqlite-errors.js';

/**
 * Locks a world for this process alone, until the returned function is called or the process dies.
 *
 * The lock is SQLite's own, on a side database that is never written: the operating system drops it with the
 * process (SIGKILL, power loss), keeps it while the process is stopped (SIGSTOP), and SQLite refuses a second
 * opener in the same process as well. A lock on the world's database itself would shut out readers.
 *
 * Never open `<path>-lock` by other means in the holder's process, not even to read it: on POSIX, closing any
 * descriptor of a file drops every lock the process has on it. It is not deleted at close either, since another
 * process might just have opened it.
 *
 * @param holder the process that has the lock, in words, as far as it can be known; asked only when there is one
 * @throws world_locked
 */
export function holdLock(driver: Driver, path: string, holder: () => string | undefined = () => undefined): () => void {
  const file = `${path}-lock`;
  let db: Connection | undefined;
  try {
    db = driver.open(file, 'write');
    // No prepared statement here, and a ROLLBACK before close: libsql may delay the close itself (see driver.ts).
    db.exec('PRAGMA busy_timeout = 0');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if (!isBusy(error)) throw storeError(error, 'cannot take the lock', file);
    // No cause: it would only repeat that the lock is taken.
    const by = holder();
    throw new RepriseError('world_locked', 'the world is already open for writing', {
      where: path,
      ...(by === undefined ? {} : { by, actual: by }),
      hint: `Close it there, or end that process; a suspended process keeps the lock, too. Reading needs no lock: npx reprise log ${path}`,
    });
  }
  const held = db;
  return () => {
    held.exec('ROLLBACK');
    held.close();
  };
}
