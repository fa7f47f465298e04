import { RepriseError } from '@reprise/contracts';
import type { Connection } from './driver.js';
import { NOTES_TABLE } from './notes.js';

/** The layout of a file of ours. */
export interface Layout {
  /** `PRAGMA application_id`, so that another program's database is never written to, nor one of ours for another. */
  readonly applicationId: number;
  /** `PRAGMA user_version`: the number of this table layout. */
  readonly version: number;
  /** The statements that create its tables and indexes, one each: a file with any other object is refused. */
  readonly tables: readonly string[];
  /** Tables of later versions: a file may lack them until it is opened for writing. */
  readonly added: readonly string[];
}

/**
 * A new row of `frame` contains the frames of one append, cut at 64 KiB: usually a single frame, stored as its plain
 * bytes, else a run of frames `first … seq` packed together (`packing.ts`). The other columns are those of its last
 * frame; `size` is the number of its plain bytes. Older rows are joined and deflated (`frame-packs.ts`), then
 * `length(bytes)` is less than `size`. A packed row costs a fraction of a row per frame, both ways: with 482-byte frames in groups of 1000
 * we measured 0.44 against 0.11 of the raw append rate, and reading 5 to 20 times faster; the cut keeps reading
 * one frame below 0.1 ms.
 *
 * `landmark` answers "the newest frame of a kind": per row, the last frame of each kind in it. An index over
 * every frame instead halved the append rate of large groups.
 *
 * `request` answers "was this request made before": an index over the journal, which could be rebuilt from it.
 *
 * A new blob is a row of `blob`; older ones are in `pack`, found through `packed` (`blob-packs.ts`).
 */
export const WORLD: Layout = {
  applicationId: 0x52505253, // "RPRS"
  version: 2,
  tables: [
    `CREATE TABLE frame (
      seq INTEGER PRIMARY KEY, first INTEGER NOT NULL,
      at INTEGER NOT NULL, kind TEXT NOT NULL, head BLOB NOT NULL, bytes BLOB NOT NULL, size INTEGER NOT NULL
    )`,
    'CREATE TABLE landmark (kind TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (kind, seq)) WITHOUT ROWID',
    'CREATE TABLE request (key BLOB PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID',
    'CREATE TABLE blob (digest BLOB PRIMARY KEY, bytes BLOB NOT NULL)',
    'CREATE TABLE pack (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB NOT NULL)',
    'CREATE TABLE packed (digest BLOB PRIMARY KEY, pack INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID',
    NOTES_TABLE,
  ],
  // Tombstones, an index over the `erase` frames. `hollow`: the row of the blob still exists, filled with zeros (see
  // `erasure.ts`).
  added: [
    'CREATE TABLE erased ( digest BLOB PRIMARY KEY, seq INTEGER NOT NULL, hollow INTEGER NOT NULL ) WITHOUT ROWID',
  ],
};

/** For a query on `blob`: the condition that a row was not filled with zeros. */
export function standingSql(db: Connection): string {
  if (!hasTombstones(db)) return 'TRUE';
  return 'NOT EXISTS (SELECT 1 FROM erased WHERE erased.digest = blob.digest AND hollow = 1)';
}

/** Whether there can be tombstones: an older store that was never opened for writing has no table for them. */
export function hasTombstones(db: Connection): boolean {
  return hasTable(db, 'erased');
}

/** Settings of a file, made before its first table. */
const FILE_SETTINGS = 'PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;';

/**
 * Settings of a writer's connection.
 *
 * WAL with `synchronous = FULL`: one fsync per commit, and readers never wait for the writer. NORMAL would sync at
 * checkpoints only, so a power loss could take back frames whose effects have already run.
 * `fullfsync` matters on macOS alone, where a plain fsync leaves data in the drive's cache.
 * Pages of 4 KiB: a deflated row wastes part of its last page, and a commit writes whole pages. Against 16 KiB we measured
 * a fifth less file, and a commit of a frame with three blobs in 0.9 of the CPU. The log grows to 16 MiB as with those.
 * `auto_vacuum`: packing leaves free pages, which the file gives back when it is closed.
 * `secure_delete`: a page that the tree splits or frees keeps no copy of its old content, which erasing relies on.
 */
const WRITER_SETTINGS = `
  ${FILE_SETTINGS}
  PRAGMA journal_mode = WAL;
  PRAGMA wal_autocheckpoint = 4096;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA busy_timeout = 1000;
  PRAGMA secure_delete = ON;
`;

/** Prepares a connection for writing a layout; creates its tables when the file is new. */
export function prepareLayout(db: Connection, path: string, layout: Layout, maxPageCount?: number): void {
  // Before anything else: a foreign database must not even be switched to WAL.
  const isNew = !isOurs(db, path, layout);
  db.exec(WRITER_SETTINGS);
  if (maxPageCount !== undefined) db.exec(`PRAGMA max_page_count = ${Math.trunc(maxPageCount)}`);
  const lacking = layout.added.filter((sql) => isNew || !hasTable(db, /^CREATE TABLE (\w+)/.exec(sql)?.[1] ?? ''));
  if (!isNew && lacking.length === 0) return;
  transaction(db, () => {
    for (const sql of isNew ? [...layout.tables, ...lacking] : lacking) db.exec(sql);
    db.exec(`PRAGMA application_id = ${layout.applicationId}; PRAGMA user_version = ${layout.version}`);
  });
}

/** Prepares an empty file for the copy of a world; the caller makes it durable, at the end and as a whole. */
export function prepareCopy(db: Connection): void {
  db.exec(`${FILE_SETTINGS} PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF`);
  transaction(db, () => {
    for (const sql of [...WORLD.tables, ...WORLD.added]) db.exec(sql);
    db.exec(`PRAGMA application_id = ${WORLD.applicationId}; PRAGMA user_version = ${WORLD.version}`);
  });
}

function hasTable(db: Connection, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

/**
 * Whether the file holds our tables; false when it is empty.
 *
 * @throws journal_damaged when it belongs to another program, semantics_unknown when a newer version wrote it
 */
export function isOurs(db: Connection, path: string, layout: Layout): boolean {
  const application = pragma(db, 'application_id');
  const version = pragma(db, 'user_version');
  if (application !== layout.applicationId) {
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() === undefined;
    if (isEmpty && application === 0 && version === 0) return false;
    throw new RepriseError('journal_damaged', 'the file is a database, but not a Reprise database of this type', {
      where: path,
      hint: 'It belongs to another program, and nothing of it was changed. Pass another path.',
    });
  }
  if (version === layout.version) return true;
  throw new RepriseError('semantics_unknown', 'another version of Reprise wrote this store', {
    where: path,
    expected: layout.version,
    actual: version,
    hint: 'Open it with that version or a later one.',
  });
}

function pragma(db: Connection, name: string): unknown {
  return db.prepare(`PRAGMA ${name}`).get()?.[0];
}

/** Writes that wait for the next transaction of another writer. */
export interface Riders {
  /** Writes it, inside the transaction. */
  write(): void;
  /** Called when they are durable, before anything else can run, so that nothing stored meanwhile counts as written. */
  written(): void;
}

/**
 * Runs a body, and the riders, as one transaction: all of it is durable when this returns, and none of it when it
 * throws, unless the commit itself failed: then only another read can tell.
 */
export function transaction<T>(db: Connection, body: () => T, riders?: Riders): T {
  db.exec('BEGIN IMMEDIATE');
  let result: T;
  try {
    result = body();
    riders?.write();
    db.exec('COMMIT');
  } catch (error) {
    rollback(db);
    throw error;
  }
  riders?.written();
  return result;
}

/** On a full disk SQLite may have rolled back by itself, and then refuses to do it again. */
function rollback(db: Connection): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // nothing to roll back; were the connection broken, the next statement would say so
  }
}
