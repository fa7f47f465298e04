/**
 * Values as they come out of a file that somebody else may have written. A column's type is a wish in SQLite, a length in
 * a page may be a lie, and a driver fails in its own way on a number beyond 2^53: so the query itself asks for the type
 * and the length, which are told without reading the value, and gives null for anything else.
 */
import { RepriseError } from '@reprise/contracts';
import type { SqlValue } from './driver.js';

/** The most bytes of frames that one row may hold; a frame is smaller, since no value of its may be larger. */
export const ROW_BYTES_MAX = 64 * 1024 * 1024;

/** The longest kind of a frame, in bytes: packed rows give its length in one. */
const KIND_BYTES_MAX = 255;

/** SQL for a whole number from 0 that JavaScript holds exactly. */
export function wholeSql(column: string): string {
  return `CASE WHEN typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} THEN ${column} END`;
}

/** SQL for bytes up to a length. */
export function bytesSql(column: string, max: number): string {
  return `CASE WHEN typeof(${column}) = 'blob' AND length(${column}) <= ${max} THEN ${column} END`;
}

/** SQL for a digest. */
export function digestSql(column: string): string {
  return `CASE WHEN typeof(${column}) = 'blob' AND length(${column}) = 32 THEN ${column} END`;
}

/** SQL for a short text, as bytes: a damaged text that is no UTF-8 makes libsql abort the process. */
export function textSql(column: string, max = KIND_BYTES_MAX): string {
  return `CASE WHEN typeof(${column}) = 'text' THEN CAST(substr(${column}, 1, ${max}) AS BLOB) END`;
}

/** A whole number that {@link wholeSql} let through. */
export function whole(value: SqlValue | undefined, where: string): number {
  if (typeof value === 'number') return value;
  throw illegal(where, 'a whole number, 0 or more');
}

/** Bytes that one of the others let through. */
export function bytes(value: SqlValue | undefined, where: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw illegal(where, 'bytes of a length that Reprise writes');
}

/** Text that {@link textSql} let through. */
export function text(value: SqlValue | undefined, where: string): string {
  return Buffer.from(bytes(value, where)).toString();
}

/** The error for a value that no writer of ours has written. */
export function illegal(where: string, expected: string): RepriseError {
  return new RepriseError('journal_damaged', 'a stored value has a type or a size that Reprise never writes', {
    where,
    expected,
    hint: 'Somebody changed the file. Keep it as it is and restore a copy.',
  });
}
