import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { RepriseError } from '@reprise/contracts';
import { assertMark } from '@reprise/kernel/driver';
import type { OpenViewStore, ViewCommit, ViewEntry, ViewMark, ViewStore } from '@reprise/kernel/views';
import { type Connection, type Driver, type Row, type SqlValue, sqliteDriver } from './database/driver.js';
import { type Layout, transaction } from './database/schema.js';
import { guarded, storeError } from './database/sqlite-errors.js';
import { bytes, bytesSql, ROW_BYTES_MAX, text, textSql, whole, wholeSql } from './database/values.js';
import { requireSchema } from './file/inspect.js';
import { requirePath } from './file/path-argument.js';
import { placeForWriting, requireOwnFile } from './file/place.js';

/** An entry's key begins with its view's number: one row, and no index beside the table, for each entry. */
const LAYOUT: Layout = {
  applicationId: 0x52505256, // "RPRV"
  version: 1,
  tables: [
    `CREATE TABLE view (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, head TEXT NOT NULL, digest TEXT NOT NULL
    )`,
    'CREATE TABLE entry (view INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (view, key)) WITHOUT ROWID',
  ],
  added: [],
};

/**
 * WAL with `synchronous = NORMAL`: no sync for a commit, and after a loss of power the file is whole, only older. The
 * missing part is folded again. `secure_delete`: rows that a view drops, because their content was erased, are
 * overwritten.
 */
const SETTINGS = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; PRAGMA secure_delete = ON;
`;

/** The most rows of one query; the engine takes limits as 32-bit numbers. */
const LIMIT_MAX = 2 ** 31 - 1;

const FIND = `
  SELECT ${wholeSql('id')}, CASE WHEN seq = -1 THEN -1 ELSE ${wholeSql('seq')} END, ${textSql('head')}, ${textSql('digest')}
  FROM view WHERE name = ?
`;
const ENTRY_KEY = bytesSql('key', ROW_BYTES_MAX);
const ENTRY_VALUE = bytesSql('value', ROW_BYTES_MAX);

/**
 * The views of the world at a path, in a file beside it: `<path>.views`. The file is never the journal's and may be
 * deleted at any time while no process has it open.
 *
 * @param world the path of the world's file, as given to `sqlite`
 * @example
 * const views = await openViews(world, [orders], { store: sqliteViews('worlds/home.db') });
 */
export function sqliteViews(world: string): ViewStore {
  requirePath(world, 'a file of views', 'sqliteViews');
  const path = resolve(world);
  return { label: `${world}.views`, open: async () => openViewFile(`${await placeForWriting(path, 'file')}.views`) };
}

async function openViewFile(file: string): Promise<OpenViewStore> {
  const driver = await sqliteDriver();
  let db = openOrUndefined(driver, file);
  if (db === undefined) {
    for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true });
    db = viewGuarded('cannot open the views', file, () => prepared(driver, driver.open(file, 'write'), file));
  }
  return viewStore(db, file);
}

/** Undefined when the file is ours and damaged: its views are rebuilt. */
function openOrUndefined(driver: Driver, file: string): Connection | undefined {
  let db: Connection | undefined;
  try {
    requireOwnFile(file);
    db = driver.open(file, 'write');
    return prepared(driver, db, file);
  } catch (error) {
    db?.close();
    const known = storeError(error, 'cannot open the views', file);
    if (known.code === 'journal_damaged') return undefined;
    throw known;
  }
}

function prepared(driver: Driver, db: Connection, file: string): Connection {
  const number = (name: string): unknown => db.prepare(`PRAGMA ${name}`).get()?.[0];
  const application = number('application_id');
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() === undefined;
  if (application !== LAYOUT.applicationId && !(application === 0 && isEmpty)) {
    throw new RepriseError('store_failed', 'the file is a database, but not a Reprise views file', {
      where: file,
      hint: 'Move it away: this path is for the views.',
    });
  }
  db.exec(SETTINGS);
  if (application !== LAYOUT.applicationId || number('user_version') !== LAYOUT.version) {
    transaction(db, () => {
      for (const name of ['entry', 'view']) db.exec(`DROP TABLE IF EXISTS ${name}`);
      for (const sql of LAYOUT.tables) db.exec(sql);
      db.exec(`PRAGMA application_id = ${LAYOUT.applicationId}; PRAGMA user_version = ${LAYOUT.version}`);
    });
  }
  requireSchema(driver, db, file, LAYOUT); // journal_damaged: our own file with another schema is rebuilt
  return db;
}

/** Errors of views never recommend a backup: views are rebuilt. */
function viewGuarded<T>(what: string, file: string, body: () => T): T {
  try {
    return guarded(what, file, body);
  } catch (error) {
    const known = storeError(error, what, file);
    if (known.code !== 'journal_damaged') throw known;
    const hint = 'Close the views and delete their file: they are rebuilt from the journal.';
    throw new RepriseError('store_failed', known.what, { where: file, hint, cause: error });
  }
}

function viewStore(db: Connection, file: string): OpenViewStore {
  const viewRow = db.prepare(FIND);
  const one = db.prepare(`SELECT ${ENTRY_VALUE} FROM entry WHERE view = ? AND key = ?`);
  const pages = new Map<string, ReturnType<Connection['prepare']>>();
  let open = true;
  const run = async <T>(what: string, body: () => T): Promise<T> => {
    if (!open) throw new RepriseError('world_closed', 'the views were closed', { where: file });
    return viewGuarded(what, file, body);
  };
  const page = (ended: boolean, reverse: boolean) => {
    const sql = `SELECT ${ENTRY_KEY}, ${ENTRY_VALUE} FROM entry WHERE view = ? AND key >= ?${ended ? ' AND key < ?' : ''}
      ORDER BY key ${reverse ? 'DESC' : 'ASC'} LIMIT ?`;
    const known = pages.get(sql) ?? db.prepare(sql);
    pages.set(sql, known);
    return known;
  };
  return {
    mark: (view) => run('cannot read a mark', () => markOf(viewRow.get(view))),
    get: (view, key) =>
      run('cannot read an entry', () => {
        const row = one.get(idOf(viewRow.get(view)), key);
        return row && bytes(row[0], file);
      }),
    scan: (view, { from, to, limit, reverse = false }) =>
      run('cannot read entries', () => {
        const ends: SqlValue[] = to === null ? [] : [to];
        const rows = page(to !== null, reverse).all(
          idOf(viewRow.get(view)),
          lowest(from),
          ...ends,
          Math.min(limit, LIMIT_MAX),
        );
        return rows.map(([key, value]): ViewEntry => [bytes(key, file), bytes(value, file)]);
      }),
    commit: (commits) => run('cannot write views', () => transaction(db, () => commitAll(db, commits))),
    close: async () => {
      if (!open) return;
      open = false;
      try {
        // Some drivers leave a connection to the garbage collector: the next opening would wait for it.
        db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
      } catch {
        // Another process has the file open, or it is damaged: the next opening reports that.
      }
      db.close();
    },
  };
}

/** An empty byte string may be bound as null; no key is empty, so the byte 0 sorts as low. */
function lowest(from: Uint8Array): Uint8Array {
  return from.length === 0 ? Uint8Array.of(0) : from;
}

/** A number that no view has stands for a missing view. */
function idOf(row: Row | undefined): number {
  return row === undefined ? -1 : whole(row[0], 'a view');
}

function markOf(row: Row | undefined): ViewMark | null {
  if (row === undefined) return null;
  return { seq: seqOf(row[1]), head: text(row[2], 'a view'), digest: text(row[3], 'a view') };
}

/** The last frame that a view includes; -1 when it includes none. */
function seqOf(value: SqlValue | undefined): number {
  return value === -1 ? -1 : whole(value, 'a view');
}

function commitAll(db: Connection, commits: readonly ViewCommit[]): void {
  const find = db.prepare(FIND);
  const write = db.prepare(
    `INSERT INTO view (name, seq, head, digest) VALUES (?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, head = excluded.head, digest = excluded.digest`,
  );
  const clear = db.prepare('DELETE FROM entry WHERE view = ?');
  const put = db.prepare('INSERT OR REPLACE INTO entry (view, key, value) VALUES (?, ?, ?)');
  const remove = db.prepare('DELETE FROM entry WHERE view = ? AND key = ?');
  for (const commit of commits) {
    const { view, mark, changes } = commit;
    assertMark(view, markOf(find.get(view)), commit.expected);
    write.run(view, mark.seq, mark.head, mark.digest);
    const id = idOf(find.get(view));
    if (commit.clear) clear.run(id);
    for (const [key, value] of changes) {
      if (value === null) remove.run(id, key);
      else put.run(id, key, value);
    }
  }
}
