/** The columns of rows, checked: what the database holds is data from outside. */
import { RepriseError } from '@reprise/contracts';
import type { Row, SqlValue } from './driver.js';

/** A whole number of a column. @throws RepriseError `journal_damaged` */
export function whole(value: SqlValue | undefined, where: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw illegal(where, 'a whole number', value);
}

/** Text of a column. @throws RepriseError `journal_damaged` */
export function text(value: SqlValue | undefined, where: string): string {
  if (typeof value === 'string') return value;
  throw illegal(where, 'text', value);
}

/** An id of a column, in the digits and hyphens of a UUID. @throws RepriseError `journal_damaged` */
export function uuid(value: SqlValue | undefined, where: string): string {
  if (typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return value;
  throw illegal(where, 'an id', value);
}

/** Bytes of a column, which are the caller's own. @throws RepriseError `journal_damaged` */
export function bytes(value: SqlValue | undefined, where: string): Uint8Array {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  throw illegal(where, 'bytes', value);
}

/** A digest of a column, as 64 hex digits. @throws RepriseError `journal_damaged` */
export function digest(value: SqlValue | undefined, where: string): string {
  return Buffer.from(digestBytes(value, where)).toString('hex');
}

/** A digest of a column, as its bytes. @throws RepriseError `journal_damaged` */
export function digestBytes(value: SqlValue | undefined, where: string): Uint8Array {
  const found = bytes(value, where);
  if (found.length === DIGEST_BYTES) return found;
  throw illegal(where, `${DIGEST_BYTES} bytes`, `${found.length} bytes`);
}

/** The bytes of a digest. */
export const DIGEST_BYTES = 32;

/** The only row of an answer; undefined without one. */
export function one(rows: readonly Row[]): Row | undefined {
  return rows[0];
}

function illegal(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('journal_damaged', 'the database holds an illegal value', {
    ...{ where, expected, actual: actual === null ? 'null' : typeof actual === 'string' ? actual : typeof actual },
    hint: 'Another program has changed the tables, or its storage is failing. Restore them from a backup.',
  });
}
