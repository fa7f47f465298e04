/** Notes in a file: its writer, whether it was closed, and the notes of its user. */
import type { Connection } from './driver.js';

/** A table of texts by name, such as the version of the layout. */
export const NOTES_TABLE = 'CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID';

/** The notes of the file itself; the store adds others. */
export const NOTES = {
  /** The writer of the file; absent when it has none. See `owner.ts`. */
  owner: 'owner',
  /** {@link LOG_NEEDED} while a write-ahead log belongs to the file; absent when the file is whole without one. */
  log: 'log',
  /** `no` while it is open for writing, and after a crash. */
  clean: 'clean',
} as const;

/** The value of the note `log` while the file is not whole without its log. */
export const LOG_NEEDED = 'needed';

/** The longest note that is read; ours are shorter than a tenth of it. */
const NOTE_BYTES_MAX = 4096;

/** Bytes, since a damaged text that is no UTF-8 makes libsql abort the process. */
const SELECT = `SELECT CAST(substr(value, 1, ${NOTE_BYTES_MAX}) AS BLOB) FROM meta WHERE name = ?`;

export function getNote(db: Connection, name: string): string | undefined {
  return noteReader(db)(name);
}

/** A note as an expression of another statement, for a comparison with a text. */
export function noteSql(name: string): string {
  return `(SELECT value FROM meta WHERE name = '${name}')`;
}

/** {@link getNote} for who reads notes often. */
export function noteReader(db: Connection): (name: string) => string | undefined {
  const select = db.prepare(SELECT);
  return (name) => {
    const value = select.get(name)?.[0];
    return value instanceof Uint8Array ? Buffer.from(value).toString() : undefined;
  };
}

/** Writes a note, or removes it with null; within the caller's transaction. */
export function setNote(db: Connection, name: string, value: string | null): void {
  if (value === null) db.prepare('DELETE FROM meta WHERE name = ?').run(name);
  else db.prepare('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)').run(name, value);
}
