import { RepriseError } from '@reprise/contracts';
import type { Head, Journal, ReadableJournal, StoredFrame } from '@reprise/kernel';
import { assertConsecutive, assertHead, EMPTY_HEAD } from '@reprise/kernel/driver';
import { type FrameRow, packRows, rowInflater, rowOf, unpackRow } from '@reprise/packs';
import type { Connection, Row, SqlValue } from '../database/driver.js';
import { NOTES, noteSql } from '../database/notes.js';
import { guarded, storeError } from '../database/sqlite-errors.js';
import { bytes, digestSql, illegal, whole, wholeSql } from '../database/values.js';
import type { HeldFile } from '../file/held-file.js';
import { asFrameRow, READ_COLUMNS } from './frame-rows.js';
import type { Packer, StagedBlobs } from './packer.js';

/** The bytes of a page of a read, about a mebibyte; a page has at least one row. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_ROWS_MAX = 256;

const COLUMNS = 'seq, first, at, kind, head, bytes, size';

const NEWEST = `SELECT ${wholeSql('seq')}, ${digestSql('head')} FROM frame ORDER BY seq DESC LIMIT 1`;

/** The reading half of the journal, over any connection. `path` is for messages. */
export function journalReader(db: Connection, path: string): ReadableJournal {
  const newest = db.prepare(NEWEST);
  const sizes = db.prepare('SELECT length(bytes) FROM frame WHERE seq >= ? ORDER BY seq LIMIT ?');
  const page = db.prepare(`SELECT ${READ_COLUMNS} FROM frame WHERE seq >= ? ORDER BY seq LIMIT ?`);
  const requestAt = db.prepare(`SELECT ${wholeSql('seq')} FROM request WHERE key = ?`);
  const landmark = db.prepare(
    `SELECT ${wholeSql('seq')} FROM landmark WHERE kind = ? AND seq < ? ORDER BY seq DESC LIMIT 1`,
  );
  const inflate = rowInflater();
  const unpack = (row: FrameRow, from: number, to: number): StoredFrame[] => unpackRow(row, from, to, path, inflate);
  const rowAt = (seq: number): FrameRow | undefined => page.all(seq, 1).map((row) => asFrameRow(row, seq, path))[0];

  async function* read(from: number, to = Number.MAX_SAFE_INTEGER): AsyncGenerator<StoredFrame> {
    let next = Math.max(from, 0);
    let rowByRow = false;
    while (next <= to) {
      const rows = pageAt(next, rowByRow ? 1 : Math.min(PAGE_ROWS_MAX, to - next + 1));
      if (rows === undefined) {
        rowByRow = true; // all sound rows are read, and the error names the frame
        continue;
      }
      if (rows.length === 0) return;
      for (const row of rows) {
        if (row.first > next) throw holeAt(next, path);
        // A page of the file that leads back to an earlier one would make this loop endless.
        if (row.seq < next) throw illegal(`${path}, frame ${next}`, 'frames in order');
        yield* unpack(row, next, to);
        next = row.seq + 1;
      }
    }
  }

  /** The number of rows of the page that begins at `seq`. */
  function rowsOfPage(seq: number, limit: number): number {
    let total = 0;
    const lengths = sizes.all(seq, limit);
    const end = lengths.findIndex(([length]) => {
      total += typeof length === 'number' ? length : 0;
      return total > PAGE_BYTES;
    });
    return end === -1 ? limit : Math.max(end, 1);
  }

  /** Undefined when the page cannot be read but a single row of it might be. */
  function pageAt(seq: number, limit: number): FrameRow[] | undefined {
    try {
      const rows = page.all(seq, limit === 1 ? 1 : rowsOfPage(seq, limit));
      return rows.map((row, i) => asFrameRow(row, seq + i, path));
    } catch (error) {
      if (limit > 1) return undefined;
      throw storeError(error, 'cannot read the journal', `${path}, frame ${seq}`);
    }
  }

  /**
   * The row around `seq` may contain the kind before `seq` and again after it, so it is searched itself; for the rows
   * before it the landmark is the answer.
   */
  function findLast(kind: string, seq: number): StoredFrame | undefined {
    const around = rowAt(Math.max(seq, 0));
    const near = around && unpack(around, 0, seq).findLast((frame) => frame.kind === kind);
    if (near !== undefined) return near;
    const before = landmark.get(kind, around?.first ?? seq + 1)?.[0];
    if (before === undefined) return undefined;
    const at = whole(before, `${path}, the index of kinds`);
    const row = rowAt(at);
    const found = row && unpack(row, at, at)[0];
    if (found === undefined) throw holeAt(at, path);
    return found;
  }

  return {
    head: async () => guarded('cannot read the head', path, () => headOf(newest.get(), path)),
    read,
    findKey: async (key) =>
      guarded('cannot look for a request', path, () => {
        const row = requestAt.get(Buffer.from(key, 'hex'));
        return row && whole(row[0], `${path}, the index of requests`);
      }),
    findLast: async (kind, seq) =>
      guarded(`cannot look for a ${kind}`, `${path}, frame ${seq}`, () => findLast(kind, seq)),
  };
}

/**
 * The landmark of a row with one frame, so that such a row is one statement. Temporary: it belongs to the connection, and
 * no file has it.
 */
const LANDMARK_OF_ONE = `CREATE TEMP TRIGGER landmark_of_one AFTER INSERT ON main.frame WHEN NEW.first = NEW.seq
  BEGIN INSERT OR IGNORE INTO landmark (kind, seq) VALUES (NEW.kind, NEW.seq); END`;

/**
 * The next row, only where the file names its writer, and where its newest frame is the one before. Elsewhere `first` is
 * NULL, which the column refuses, and the row is left out. As `INSERT … SELECT … WHERE` it took 7 % more of the CPU of a
 * whole effect: conditions that read the table of the row make SQLite collect the rows in a temporary table first.
 */
const INSERT_NEXT = `INSERT OR IGNORE INTO frame (${COLUMNS}) VALUES (?,
  CASE WHEN ${noteSql(NOTES.owner)} = ? AND (SELECT seq = ? AND head = ? FROM frame ORDER BY seq DESC LIMIT 1) THEN ? END,
  ?, ?, ?, ?, ?)`;

/** Appends frames, together with waiting blobs, as one transaction; a single frame as one statement where possible. */
export function journalAppender(held: HeldFile, packer: Packer, staged: StagedBlobs): Journal['append'] {
  const { db, path, ownerText } = held;
  db.exec(LANDMARK_OF_ONE);
  const newest = db.prepare(NEWEST);
  const insertNext = db.prepare(INSERT_NEXT);
  const insertFrame = db.prepare(`INSERT INTO frame (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const insertLandmark = db.prepare('INSERT OR IGNORE INTO landmark (kind, seq) VALUES (?, ?)');
  const insertRequest = db.prepare('INSERT OR IGNORE INTO request (key, seq) VALUES (?, ?)');

  function insert(packed: ReturnType<typeof packRows>): void {
    for (const { row, frames: run } of packed) {
      insertFrame.run(...valuesOf(row));
      const lastOfKind = new Map(run.map((frame) => [frame.kind, frame.seq]));
      if (run.length > 1) for (const [kind, seq] of lastOfKind) insertLandmark.run(kind, seq);
      for (const { key, seq } of run) if (key !== undefined) insertRequest.run(Buffer.from(key, 'hex'), seq);
    }
  }

  /** Whether one statement stored the frame behind the head. */
  function stored(frame: StoredFrame, behind: Head): boolean {
    const row = rowOf(frame);
    const { seq, first, at, kind, head, bytes: held, size } = row;
    const digest = Buffer.from(behind.digest, 'hex');
    const write = (): number => insertNext.run(seq, ownerText, behind.seq, digest, first, at, kind, head, held, size);
    return packer.commitRow(write, staged, row);
  }

  function append(frames: readonly StoredFrame[], expected: Head): Head {
    const [frame, ...more] = frames;
    if (frame !== undefined && more.length === 0 && frame.key === undefined && stored(frame, expected)) {
      return { seq: frame.seq, digest: frame.head };
    }
    const packed = packRows(frames);
    const body = (): Head => {
      const durable = headOf(newest.get(), path);
      assertHead(durable, expected);
      insert(packed);
      const last = frames.at(-1);
      return last === undefined ? durable : { seq: last.seq, digest: last.head };
    };
    return packer.commit(
      body,
      staged,
      packed.map(({ row }) => row),
    );
  }

  return async (frames, expected) => {
    assertConsecutive(frames, expected);
    return guarded('cannot append', `${path}, frame ${expected.seq + 1}`, () => append(frames, expected));
  };
}

function valuesOf({ seq, first, at, kind, head, bytes: stored, size }: FrameRow): [number, ...SqlValue[]] {
  return [seq, first, at, kind, head, stored, size];
}

function headOf(row: Row | undefined, path: string): Head {
  if (row === undefined) return EMPTY_HEAD;
  const where = `${path}, ${typeof row[0] === 'number' ? `frame ${row[0]}` : 'the last frame'}`;
  return { seq: whole(row[0], where), digest: Buffer.from(bytes(row[1], where)).toString('hex') };
}

function holeAt(seq: number, path: string): RepriseError {
  return new RepriseError('journal_damaged', 'a frame is missing', { where: `${path}, frame ${seq}` });
}
