/**
 * Values read from a file that another program may have written. A column's type is only a hint in SQLite, a length in
 * a page may be false, and a driver fails in its own way on a number beyond 2^53: so the query itself checks the type
 * and the length, which are available without reading the value, and returns null for anything else.
 */
import { RepriseError } from '@reprise/contracts';
import type { SqlValue } from './driver.js';

/** The most bytes of frames in one row; a frame is smaller, since none of its values may be larger. */
export const ROW_BYTES_MAX = 64 * 1024 * 1024;

/** The longest kind of a frame, in bytes: packed rows store its length in one byte. */
const KIND_BYTES_MAX = 255;

/** SQL for a whole number from 0 that JavaScript represents exactly. */
export function wholeSql(column: string): string {
  return `CASE WHEN typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} THEN ${column} END`;
}

/** SQL for bytes up to a length. */
export function bytesSql(column: string, max: number): string {
  return `CASE WHEN typeof(${column}) = 'blob' AND length(${column}) <= ${max} THEN ${column} END`;
}

/** SQL that gives a column if it holds a digest, and null otherwise. */
export function digestSql(column: string): string {
  return `CASE WHEN typeof(${column}) = 'blob' AND length(${column}) = 32 THEN ${column} END`;
}

/** SQL for a short text, as bytes: a damaged text that is not UTF-8 makes libsql abort the process. */
export function textSql(column: string, max = KIND_BYTES_MAX): string {
  return `CASE WHEN typeof(${column}) = 'text' THEN CAST(substr(${column}, 1, ${max}) AS BLOB) END`;
}

/** A whole number from {@link wholeSql}. */
export function whole(value: SqlValue | undefined, where: string): number {
  if (typeof value === 'number') return value;
  throw illegal(where, 'a whole number, 0 or more');
}

/** Bytes from one of the other expressions. */
export function bytes(value: SqlValue | undefined, where: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw illegal(where, 'bytes of a length that Reprise writes');
}

/** Reads a text that was selected by {@link textSql}. */
export function text(value: SqlValue | undefined, where: string): string {
  return Buffer.from(bytes(value, where)).toString();
}

/** The error for a value that Reprise never writes. */
export function illegal(where: string, expected: string): RepriseError {
  return new RepriseError('journal_damaged', 'a stored value has a type or a size that Reprise never writes', {
    where,
    expected,
    hint: 'Another program changed the file. Leave it as it is and restore a copy.',
  });
}
