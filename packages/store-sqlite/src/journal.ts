import { RepriseError } from '@reprise/contracts';
import type { Head, Journal, ReadableJournal, StoredFrame } from '@reprise/kernel';
import { assertConsecutive, assertHead, EMPTY_HEAD } from '@reprise/kernel';
import type { Connection, Row } from './driver.js';
import type { HeldFile } from './held-file.js';
import type { FrameRow } from './packing.js';
import { packRows, unpackRow } from './packing.js';
import type { Riders } from './schema.js';
import { guarded, storeError } from './sqlite-errors.js';

/** A page of a read: as many rows as make about a mebibyte, by the size of the page before. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_ROWS_FIRST = 16;
const PAGE_ROWS_MAX = 256;

const COLUMNS = 'seq, first, at, kind, head, bytes';

/** The kind is read as bytes: a damaged text that is no UTF-8 makes libsql abort the process. */
const READ_COLUMNS = 'seq, first, at, CAST(kind AS BLOB), head, bytes';

/** The reading half of the journal, over any connection. `path` is for messages. */
export function journalReader(db: Connection, path: string): ReadableJournal {
  const newest = db.prepare('SELECT seq, head FROM frame ORDER BY seq DESC LIMIT 1');
  const page = db.prepare(`SELECT ${READ_COLUMNS} FROM frame WHERE seq >= ? ORDER BY seq LIMIT ?`);
  const requestAt = db.prepare('SELECT seq FROM request WHERE key = ?');
  const landmark = db.prepare('SELECT seq FROM landmark WHERE kind = ? AND seq < ? ORDER BY seq DESC LIMIT 1');
  const rowAt = (seq: number): FrameRow | undefined => page.all(seq, 1).map(asFrameRow)[0];

  async function* read(from: number, to = Number.MAX_SAFE_INTEGER): AsyncGenerator<StoredFrame> {
    let next = Math.max(from, 0);
    let limit = PAGE_ROWS_FIRST;
    while (next <= to) {
      const rows = pageAt(next, Math.min(limit, to - next + 1));
      if (rows === undefined) {
        limit = 1; // row by row from here, so that what can be read is read and the error names the frame
        continue;
      }
      if (rows.length === 0) return;
      for (const row of rows) {
        if (row.first > next) throw holeAt(next, path);
        yield* unpackRow(row, next, to, path);
        next = row.seq + 1;
      }
      const bytes = rows.reduce((sum, row) => sum + row.bytes.length, 0);
      limit = Math.min(Math.max(Math.floor((PAGE_BYTES * rows.length) / (bytes + 1)), 1), PAGE_ROWS_MAX);
    }
  }

  /** Undefined when the page cannot be read but a single row of it might be. */
  function pageAt(seq: number, limit: number): FrameRow[] | undefined {
    try {
      return page.all(seq, limit).map(asFrameRow);
    } catch (error) {
      if (limit > 1) return undefined;
      throw storeError(error, 'cannot read the journal', `${path}, frame ${seq}`);
    }
  }

  /**
   * The row around `seq` may hold the kind before `seq` and again after it, so it is searched itself; in the rows
   * before it the landmark is the answer.
   */
  function findLast(kind: string, seq: number): StoredFrame | undefined {
    const around = rowAt(Math.max(seq, 0));
    const near = around && unpackRow(around, 0, seq, path).findLast((frame) => frame.kind === kind);
    if (near !== undefined) return near;
    const before = landmark.get(kind, around?.first ?? seq + 1)?.[0];
    if (before === undefined) return undefined;
    const row = rowAt(before as number);
    const found = row && unpackRow(row, before as number, before as number, path)[0];
    if (found === undefined) throw holeAt(before as number, path);
    return found;
  }

  return {
    head: async () => guarded('cannot read the head', path, () => headOf(newest.get())),
    read,
    findKey: async (key) =>
      guarded(
        'cannot look for a request',
        path,
        () => requestAt.get(Buffer.from(key, 'hex'))?.[0] as number | undefined,
      ),
    findLast: async (kind, seq) =>
      guarded(`cannot look for a ${kind}`, `${path}, frame ${seq}`, () => findLast(kind, seq)),
  };
}

/** Appends frames, and the blobs that ride along, as one transaction. */
export function journalAppender(held: HeldFile, riders: Riders): Journal['append'] {
  const { db, path } = held;
  const newest = db.prepare('SELECT seq, head FROM frame ORDER BY seq DESC LIMIT 1');
  const insertFrame = db.prepare(`INSERT INTO frame (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  const insertLandmark = db.prepare('INSERT INTO landmark (kind, seq) VALUES (?, ?)');
  const insertRequest = db.prepare('INSERT OR IGNORE INTO request (key, seq) VALUES (?, ?)');

  function insert(frames: readonly StoredFrame[]): void {
    for (const { row, frames: run } of packRows(frames)) {
      insertFrame.run(row.seq, row.first, row.at, row.kind, row.head, row.bytes);
      const lastOfKind = new Map(run.map((frame) => [frame.kind, frame.seq]));
      for (const [kind, seq] of lastOfKind) insertLandmark.run(kind, seq);
      for (const { key, seq } of run) if (key !== undefined) insertRequest.run(Buffer.from(key, 'hex'), seq);
    }
  }

  return async (frames, expected) => {
    assertConsecutive(frames, expected);
    return guarded('cannot append', `${path}, frame ${expected.seq + 1}`, () =>
      held.commit(() => {
        const durable = headOf(newest.get());
        assertHead(durable, expected);
        insert(frames);
        const last = frames.at(-1);
        return last === undefined ? durable : { seq: last.seq, digest: last.head };
      }, riders),
    );
  };
}

function headOf(row: Row | undefined): Head {
  if (row === undefined) return EMPTY_HEAD;
  const [seq, head] = row as [number, Uint8Array];
  return { seq, digest: Buffer.from(head).toString('hex') };
}

function asFrameRow(row: Row): FrameRow {
  const [seq, first, at, kind, head, bytes] = row as [number, number, number, Uint8Array, Uint8Array, Uint8Array];
  return { seq, first, at, kind: new TextDecoder().decode(kind), head, bytes };
}

function holeAt(seq: number, path: string): RepriseError {
  return new RepriseError('journal_damaged', 'a frame is missing', { where: `${path}, frame ${seq}` });
}
