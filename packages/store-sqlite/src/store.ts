import { resolve } from 'node:path';
import { type KnownOptions, oneOf, RepriseError, requireKnownOptions, wholeFrom } from '@reprise/contracts';
import type { Backup, OpenStore, ReadonlyStore, Store } from '@reprise/kernel';
import { closable, closableReadonly } from '@reprise/kernel/driver';
import { backupWorld } from './backup.js';
import type { Connection, Driver } from './database/driver.js';
import { sqliteDriver } from './database/driver.js';
import { nodeSha256 } from './database/hash.js';
import { getNote, setNote } from './database/notes.js';
import { MACHINE, type Ports, type StoreFs } from './database/ports.js';
import { WORLD } from './database/schema.js';
import { guarded, isUnwritable } from './database/sqlite-errors.js';
import { turnReads } from './database/turn-reads.js';
import { type HeldFile, openHeld } from './file/held-file.js';
import { inspectFile } from './file/inspect.js';
import { requirePath } from './file/path-argument.js';
import { CREATIONS, type Creation, canonicalPath, logBytes } from './file/place.js';
import { StatusFile, statusOf } from './file/status-file.js';
import { BlobFiles } from './packs/blob-files.js';
import { BlobPacks } from './packs/blob-packs.js';
import { contentReader, stagingContent } from './packs/content.js';
import { journalAppender, journalReader } from './packs/journal.js';
import { Packer } from './packs/packer.js';

/** Options of a SQLite store. */
export interface SqliteOptions {
  /** The most pages (of 4 KiB) the database may have; an append beyond is `store_full`. For quotas and tests. */
  readonly maxPageCount?: number;
  /** What may be created: the file alone (the default), or the folders above it as well. */
  readonly create?: Creation;
}

const SQLITE_OPTIONS: KnownOptions<SqliteOptions> = { maxPageCount: wholeFrom(1), create: oneOf(...CREATIONS) };

/** A store in a SQLite file. */
export interface SqliteStore extends Store {
  /**
   * Copies the world in the file, also while it is open, here or in another process. The copy has passed
   * verification when this resolves.
   *
   * @param to the path of the copy; it must not exist
   */
  backup(to: string): Promise<Backup>;
}

/**
 * A world in one SQLite file: its journal and its content up to 64 KiB a blob; larger blobs are files beside it.
 * The file is created when it is missing, its folder only with `create: 'folders'`. All of these belong to the world
 * and move together while no process has it open:
 * `x.db`, `x.db.blobs/` and, after a crash, `x.db-wal` (a clean close leaves that one empty or absent). While an open
 * world is in trouble, `x.db-status` tells that to other processes.
 *
 * @param path the path of the file, by custom with the ending `.db`
 * @throws RepriseError `invalid_argument` for an empty path
 * @example
 * const store = sqlite('worlds/home.db');
 */
export function sqlite(path: string, options: SqliteOptions = {}): SqliteStore {
  return sqliteOn(MACHINE, path, options);
}

/** {@link sqlite} on a given machine. */
export function sqliteOn(ports: Ports, path: string, options: SqliteOptions = {}): SqliteStore {
  requirePath(path, 'a SQLite store', 'sqlite');
  requireKnownOptions(options, SQLITE_OPTIONS, 'sqlite');
  const file = resolve(path); // the process may change its directory between now and open
  return {
    label: path,
    open: () => openForWriting(file, options, ports),
    openReadonly: () => openForReading(file),
    backup: async (to) => backupWorld(file, copyPath(to)),
  };
}

function copyPath(to: unknown): string {
  requirePath(to, 'a copy of a world', 'store.backup');
  return resolve(to);
}

function openForWriting(path: string, options: SqliteOptions, ports: Ports): Promise<OpenStore> {
  return openHeld(path, { ...options, layout: WORLD, failed: OPENING_FAILED, ports }, async (held) => {
    const files = new BlobFiles(held.path, ports.fs);
    await files.removeUnfinished();
    return guarded(OPENING_FAILED, held.path, () => closable(writer(held, files, ports.fs), held.path));
  });
}

const OPENING_FAILED = 'cannot open the store';

/** How much of the file a reader keeps in memory: its queries look up the indexes of a long world in no order. */
const READER_CACHE_KIB = 8 * 1024;

const MARK = 'mark';

function writer(held: HeldFile, files: BlobFiles, fs: StoreFs): OpenStore {
  const { db, path, cleanlyClosed } = held;
  const packs = new BlobPacks(db, path);
  const packer = new Packer(held, packs);
  const { content, staged } = stagingContent(held, files, packs, packer);
  const status = new StatusFile(path, held.ownerText, fs);
  return {
    journal: { ...journalReader(db, path), append: journalAppender(held, packer, staged) },
    content,
    hash: nodeSha256,
    cleanlyClosed,
    ended: cleanlyClosed ? 'clean' : 'died', // the lock of the file ends only with its holder
    markAtOpen: getNote(db, MARK) ?? null,
    backup: async (to) => backupWorld(path, copyPath(to)),
    mark: async (note) => guarded('cannot note a mark', path, () => held.commit(() => setNote(db, MARK, note))),
    post: (text) => status.post(text),
    close: async () => {
      await status.clear();
      await files.settled();
      packer.finish();
      guarded('cannot close cleanly', path, () => held.close());
    },
  };
}

/**
 * Read-only means that not one byte of the database or its WAL changes: SQLite would otherwise move the WAL of a
 * killed writer into the database at close, and a verification must not repair what it verifies. It does use the
 * shared-memory file `-shm`, an index of the WAL that is rebuilt when needed and contains nothing else; it may
 * create an empty `-wal` with it.
 */
async function openForReading(given: string): Promise<ReadonlyStore> {
  const driver = await sqliteDriver();
  const path = canonicalPath(given);
  return guarded('cannot open the store for reading', path, () => {
    const connection = inspected(driver, path);
    if (connection === undefined) throw absent(path);
    connection.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
    const { db, readTurnByTurn } = turnReads(connection);
    // Preparing a statement reads the schema, which may be damaged, too.
    const store: ReadonlyStore = {
      journal: journalReader(db, path),
      content: contentReader({ db, files: new BlobFiles(path), packs: new BlobPacks(db, path), path }),
      hash: nodeSha256,
      readTurnByTurn,
      status: async () => guarded('cannot read the status', path, () => statusOf(connection, path)),
      close: async () => db.close(),
    };
    return closableReadonly(store, path);
  });
}

function inspected(driver: Driver, path: string): Connection | undefined {
  try {
    return inspectFile(driver, path, WORLD);
  } catch (error) {
    // No side file can be made, as on an archive medium. Without a WAL the database is complete in itself, and
    // a reader without write access may read it as it is. With one, its newest frames would be silently absent.
    if (isUnwritable(error) && logBytes(path) === 0) return inspectFile(driver, path, WORLD, 'immutable');
    throw error;
  }
}

function absent(path: string): RepriseError {
  return new RepriseError('world_absent', 'no world exists at this path', {
    where: path,
    hint: 'Open it for writing to create one.',
  });
}
