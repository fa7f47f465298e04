/** Inspects a file before it is used: its application, its tables, and its log. */
import { RepriseError } from '@reprise/contracts';
import type { Connection, Driver, OpenMode, Row } from '../database/driver.js';
import { hasLog } from '../database/log-header.js';
import { getNote, LOG_NEEDED, NOTES } from '../database/notes.js';
import { isOurs, type Layout } from '../database/schema.js';
import { fileAt, logBytes, noRegularFile } from './place.js';

/** The number of schema objects that are read: a few more than any file of ours has. */
const OBJECTS_MAX = 64;

/** The characters of a definition that are read: more than any of ours has. */
const DEFINITION_MAX = 4_096;

/** The number of times that a writer may close while a reader looks for the log. */
const LOG_TRIES = 5;

/**
 * Opens a file for reading and refuses it unless it is whole and has exactly the tables of a layout.
 *
 * @returns the connection; undefined when there is no file, or an empty one
 * @throws RepriseError `journal_damaged`, `semantics_unknown`, `world_incomplete`
 */
export function inspectFile(
  driver: Driver,
  path: string,
  layout: Layout,
  mode: Exclude<OpenMode, 'write'> = 'read',
): Connection | undefined {
  const found = fileAt(path);
  if (found?.isDirectory() === true) throw noRegularFile(path);
  if ((found?.size ?? 0) === 0) {
    if (logBytes(path) === 0) return undefined;
    throw incomplete('the file of this world is missing, but its log exists', path, path);
  }
  requireLog(driver, path, layout);
  const db = driver.open(path, mode);
  try {
    db.exec('PRAGMA busy_timeout = 1000; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF');
    if (isOurs(db, path, layout)) {
      requireSchema(driver, db, path, layout);
      return db;
    }
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return undefined;
}

/**
 * A main part that was copied from a running world, or that lost its log, is an old state under a new one's name.
 *
 * Opens the file as immutable: another kind of connection would create an index for the missing log, and a later reader
 * of that index would not see a log that was put back.
 */
function requireLog(driver: Driver, path: string, layout: Layout): void {
  // Checked several times: a writer that closes first removes the note, and then empties the log.
  for (let tries = 0; tries < LOG_TRIES; tries++) if (hasLog(path) || !needsLog(driver, path, layout)) return;
  const what = logBytes(path) === 0 ? 'missing' : 'not a log any more';
  throw incomplete(`the write-ahead log of this world is ${what}`, path, `${path}-wal`);
}

function needsLog(driver: Driver, path: string, layout: Layout): boolean {
  let db: Connection | undefined;
  try {
    db = driver.open(path, 'immutable');
    return isOurs(db, path, layout) && getNote(db, NOTES.log) === LOG_NEEDED;
  } catch {
    return false; // any other error is reported by the next opening
  } finally {
    db?.close();
  }
}

function incomplete(what: string, path: string, missing: string): RepriseError {
  return new RepriseError('world_incomplete', what, {
    where: path,
    expected: missing,
    actual: 'absent, empty or overwritten',
    hint: 'The file was copied without its log while the world was open, or the other was removed. Put the missing file back, or restore a backup.',
  });
}

/** One object of a schema as text that is equal for equal objects. */
function objectsOf(db: Connection): string[] {
  const rows = db
    .prepare(
      `SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB),
         CAST(substr(sql, 1, ${DEFINITION_MAX}) AS BLOB), rootpage > 1
       FROM sqlite_master LIMIT ${OBJECTS_MAX}`,
    )
    .all();
  return rows.map(objectOf).sort();
}

function objectOf([type, name, table, sql, rooted]: Row): string {
  const text = (value: unknown): string =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1').replaceAll(/\s+/g, ' ').trim() : '';
  return [text(type), text(name), text(table), text(sql), rooted === 1 ? '' : 'without pages'].join('|');
}

const expectations = new WeakMap<Layout, { readonly needed: readonly string[]; readonly all: ReadonlySet<string> }>();

/** The schema that SQLite makes of a layout. */
function expectedOf(driver: Driver, layout: Layout) {
  const known = expectations.get(layout);
  if (known !== undefined) return known;
  const db = driver.open(':memory:', 'write');
  for (const sql of layout.tables) db.exec(sql);
  const needed = objectsOf(db);
  for (const sql of layout.added) db.exec(sql);
  const made = { needed, all: new Set(objectsOf(db)) };
  db.close();
  expectations.set(layout, made);
  return made;
}

/**
 * A view, a trigger, another column or another type could make a query on the file do something else.
 *
 * @throws RepriseError `journal_damaged`
 */
export function requireSchema(driver: Driver, db: Connection, path: string, layout: Layout): void {
  const { needed, all } = expectedOf(driver, layout);
  const found = objectsOf(db);
  const foreign = found.find((object, i) => !all.has(object) || found.indexOf(object) !== i);
  const lacking = needed.find((object) => !found.includes(object));
  if (foreign === undefined && lacking === undefined) return;
  throw new RepriseError('journal_damaged', 'the file does not have the tables of a world', {
    where: path,
    expected: lacking ?? 'no objects but those of Reprise',
    actual: (foreign ?? 'the object is missing').slice(0, 200),
    hint: 'The schema of the file was changed. Nothing was read from it; restore a copy.',
  });
}
