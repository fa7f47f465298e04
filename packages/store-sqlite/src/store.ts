import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { RepriseError } from '@reprise/contracts';
import type { OpenStore, ReadonlyStore, Store } from '@reprise/kernel';
import { closable, closableReadonly } from '@reprise/kernel';
import { BlobFiles } from './blob-files.js';
import { contentReader, stagingContent } from './content.js';
import type { Connection } from './driver.js';
import { sqliteDriver } from './driver.js';
import { nodeSha256 } from './hash.js';
import { openHeld } from './held-file.js';
import { journalAppender, journalReader } from './journal.js';
import { prepareReader, prepareWriter, transaction } from './schema.js';
import { guarded, isUnwritable } from './sqlite-errors.js';

/** What can be chosen about a SQLite store. */
export interface SqliteOptions {
  /** The most pages (of 16 KiB) the database may have; an append beyond is `store_full`. For quotas and tests. */
  readonly maxPageCount?: number;
}

/**
 * A world in one SQLite file: its journal and its content up to 64 KiB a blob; larger blobs are files beside it.
 * Missing directories are made. All of these belong to the world and move together while nobody has it open:
 * `x.db`, `x.db.blobs/` and, after a crash, `x.db-wal` (a clean close leaves that one empty or absent).
 *
 * @param path the file; `.db` at the end is the custom
 * @example
 * const store = sqlite('worlds/home.db');
 */
export function sqlite(path: string, options: SqliteOptions = {}): Store {
  const file = resolve(path); // the process may change its directory between now and open
  return {
    label: path,
    open: () => openForWriting(file, options),
    openReadonly: () => openForReading(file),
  };
}

function openForWriting(path: string, options: SqliteOptions): Promise<OpenStore> {
  return openHeld(path, OPENING_FAILED, async (db, release) => {
    const files = new BlobFiles(path);
    await files.removeUnfinished();
    return guarded(OPENING_FAILED, path, () => {
      prepareWriter(db, path, options.maxPageCount);
      return closable(writer(db, files, path, release), path);
    });
  });
}

const OPENING_FAILED = 'cannot open the store';

function writer(db: Connection, files: BlobFiles, path: string, release: () => void): OpenStore {
  const { content, staged } = stagingContent(db, files, path);
  const notes = new Notes(db);
  const markAtOpen = notes.get('mark') ?? null;
  const cleanlyClosed = notes.get('clean') !== 'no';
  notes.set('clean', 'no');
  return {
    journal: { ...journalReader(db, path), append: journalAppender(db, path, staged) },
    content,
    hash: nodeSha256,
    cleanlyClosed,
    markAtOpen,
    mark: async (note) => guarded('cannot note a mark', path, () => notes.set('mark', note)),
    close: async () => {
      try {
        await files.settled();
        guarded('cannot close cleanly', path, () => {
          notes.set('clean', 'yes');
          // Makes the one file whole; a reader that is in the middle of a page only delays it to the next opener.
          db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
        });
      } finally {
        db.close();
        release();
      }
    },
  };
}

/**
 * Read-only means that not one byte of the database or its WAL changes: SQLite would otherwise move the WAL of a
 * killed writer into the database at close, and a verification must not repair what it verifies. It does use the
 * shared-memory file `-shm`, an index of the WAL that is rebuilt at need and holds nothing of its own; it may
 * create an empty `-wal` with it.
 */
async function openForReading(path: string): Promise<ReadonlyStore> {
  if (!existsSync(path)) throw absent(path);
  const driver = await sqliteDriver();
  const open = (mode: 'read' | 'immutable'): Connection => {
    const db = driver.open(path, mode);
    try {
      if (prepareReader(db, path)) return db;
    } catch (error) {
      db.close();
      throw error;
    }
    db.close();
    throw absent(path);
  };
  const db = guarded('cannot open the store for reading', path, () => {
    try {
      return open('read');
    } catch (error) {
      // No side file can be made, as on an archive medium. Without a WAL the database is complete in itself, and
      // who may not write here may read it as it is. With one, its newest frames would be silently absent.
      if (isUnwritable(error) && sizeOf(`${path}-wal`) === 0) return open('immutable');
      throw error;
    }
  });
  // Preparing a statement reads the schema, which may be damaged as everything else.
  const store: ReadonlyStore = guarded('cannot open the store for reading', path, () => ({
    journal: journalReader(db, path),
    content: contentReader(db, new BlobFiles(path), path),
    hash: nodeSha256,
    close: async () => db.close(),
  }));
  return closableReadonly(store, path);
}

function absent(path: string): RepriseError {
  return new RepriseError('world_absent', 'there is no world here', {
    where: path,
    hint: 'Open it for writing to create one.',
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The store's own notes, outside the journal: the mark, and whether the last close was clean. Each set is durable. */
class Notes {
  readonly #db: Connection;

  constructor(db: Connection) {
    this.#db = db;
  }

  get(name: string): string | undefined {
    return this.#db.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.[0] as string | undefined;
  }

  set(name: string, value: string | null): void {
    const db = this.#db;
    transaction(db, () => {
      if (value === null) db.prepare('DELETE FROM meta WHERE name = ?').run(name);
      else db.prepare('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)').run(name, value);
    });
  }
}
