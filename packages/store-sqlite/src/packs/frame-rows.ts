/** Rows of frames, as this database has them. */
import { type FrameRow, framesOf } from '@reprise/packs';
import type { Row } from '../database/driver.js';
import { bytes, bytesSql, digestSql, ROW_BYTES_MAX, text, textSql, whole, wholeSql } from '../database/values.js';

/** The columns of a row as {@link asFrameRow} takes them. */
export const READ_COLUMNS = [
  ...['seq', 'first', 'at'].map(wholeSql),
  textSql('kind'),
  digestSql('head'),
  bytesSql('bytes', ROW_BYTES_MAX),
  wholeSql('size'),
].join(', ');

/** Reads a row that was selected by {@link READ_COLUMNS}. */
export function asFrameRow([seq, first, at, kind, head, stored, size]: Row, about: number, path: string): FrameRow {
  const where = `${path}, ${framesOf(first, seq) ?? `frame ${about}`}`;
  return {
    seq: whole(seq, where),
    first: whole(first, where),
    at: whole(at, where),
    kind: text(kind, where),
    head: bytes(head, where),
    bytes: bytes(stored, where),
    size: whole(size, where),
  };
}
