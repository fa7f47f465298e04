/**
 * Packs older frames: rows one after another become a single row that holds their frames deflated together. It happens
 * within the transaction of an append, so a crash leaves all of the rows or the one that replaces them, and a reader that
 * goes on from any frame finds it in either.
 */
import { isRepriseError } from '@reprise/contracts';
import { deflated, type FrameRow, JoinedRows, PACK_BYTES_MAX, packedBytes, unpackRow } from '@reprise/packs';
import type { Connection } from '../database/driver.js';
import { noteReader, setNote } from '../database/notes.js';
import { whole, wholeSql } from '../database/values.js';
import { asFrameRow, READ_COLUMNS } from './frame-rows.js';

/** The name of the note with the last frame that no longer waits for packing. */
export const PACKED_THROUGH = 'packed_through';

/** Rows that are looked at together, and before one append packs them. */
const PAGE_ROWS = 256;
const WAITING_ROWS_MAX = 64 * 1024;

/** A row, without its bytes. */
interface Outline {
  readonly seq: number;
  readonly first: number;
  /** The bytes that it adds to a pack. */
  readonly cost: number;
  /** It stays as it is: it is deflated already, or too large for a pack. */
  readonly stays: boolean;
}

/** The frames that wait for packing, and how they are packed. */
export class FramePacks {
  readonly #db: Connection;
  readonly #path: string;
  readonly #outlines: ReturnType<Connection['prepare']>;
  readonly #rows: ReturnType<Connection['prepare']>;
  readonly #remove: ReturnType<Connection['prepare']>;
  readonly #insert: ReturnType<Connection['prepare']>;
  readonly #note: (name: string) => string | undefined;

  constructor(db: Connection, path: string) {
    this.#db = db;
    this.#path = path;
    const columns = ['seq', 'first', 'length(bytes)', 'size', 'length(CAST(kind AS BLOB))'].map(wholeSql);
    this.#outlines = db.prepare(
      `SELECT ${columns.join(', ')} FROM frame WHERE seq > ? ORDER BY seq LIMIT ${PAGE_ROWS}`,
    );
    this.#rows = db.prepare(`SELECT ${READ_COLUMNS} FROM frame WHERE seq >= ? AND seq <= ? ORDER BY seq`);
    this.#remove = db.prepare('DELETE FROM frame WHERE seq >= ? AND seq <= ?');
    this.#insert = db.prepare(
      'INSERT INTO frame (seq, first, at, kind, head, bytes, size) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#note = noteReader(db);
  }

  /** The bytes of frames that wait to be packed. */
  waiting(): number {
    return this.#waitingRows().reduce((sum, row) => sum + (row.stays ? 0 : row.cost), 0);
  }

  /**
   * Packs what waits; within the caller's transaction.
   *
   * @param least the bytes from which the last, incomplete pack is made as well
   * @returns the bytes that still wait
   */
  pack(least: number): number {
    let [run, size, through]: [Outline[], number, number] = [[], 0, this.#through()];
    const close = (): void => {
      const joined = this.#joined(run)?.joined();
      if (joined !== undefined) this.#replace(joined);
      through = run.at(-1)?.seq ?? through;
      [run, size] = [[], 0];
    };
    for (const row of this.#waitingRows()) {
      const isNext = run.length === 0 || row.first === (run.at(-1) as Outline).seq + 1;
      if (row.stays || !isNext || size + row.cost > PACK_BYTES_MAX) close();
      if (row.stays) through = row.seq;
      else run.push(row);
      size += row.stays ? 0 : row.cost;
    }
    if (size >= least) close();
    this.#packedThrough(through);
    return size;
  }

  /** Packs what waits and is joined already; within the caller's transaction. */
  packJoined(rows: JoinedRows): void {
    const joined = rows.joined();
    if (joined === undefined) return;
    this.#replace(joined);
    this.#packedThrough(joined.seq);
  }

  /** What waits, joined; undefined when it does not fit into a pack, or is damaged. */
  joined(): JoinedRows | undefined {
    const waiting = this.#waitingRows();
    return waiting.reduce((sum, { cost }) => sum + cost, 0) > PACK_BYTES_MAX ? undefined : this.#joined(waiting);
  }

  /** Undefined for damaged rows: they stay as they are, for the reader that finds them. */
  #joined(run: readonly Outline[]): JoinedRows | undefined {
    const joined = new JoinedRows();
    const [first, last] = [run[0], run.at(-1)];
    if (first === undefined || last === undefined) return joined;
    try {
      for (const values of this.#rows.all(first.seq, last.seq)) {
        const row = asFrameRow(values, first.seq, this.#path);
        unpackRow(row, 1, 0, this.#path);
        if (!joined.add(row)) return undefined;
      }
      return joined;
    } catch (error) {
      if (isRepriseError(error, 'journal_damaged')) return undefined;
      throw error;
    }
  }

  /** The row takes the place of the rows of its frames. */
  #replace({ seq, first, at, kind, head, bytes: plain }: FrameRow): void {
    const { bytes, size } = deflated(plain);
    this.#remove.run(first, seq);
    this.#insert.run(seq, first, at, kind, head, bytes, size);
  }

  #packedThrough(seq: number): void {
    setNote(this.#db, PACKED_THROUGH, String(seq));
  }

  /** The rows after the last pack, as far as they are what Reprise writes: few, since each append packs what waits. */
  #waitingRows(): Outline[] {
    const rows: Outline[] = [];
    for (let after = this.#through(), count = PAGE_ROWS; count === PAGE_ROWS && rows.length < WAITING_ROWS_MAX; ) {
      const page = this.#outlines.all(after);
      for (const row of page) {
        if (row.some((value) => value === null)) return rows;
        const [seq, first, length, size, kindBytes] = row.map((value) => whole(value, this.#path)) as FiveNumbers;
        if (first > seq || seq <= after) return rows;
        const cost = packedBytes({ seq, first }, kindBytes, length);
        rows.push({ seq, first, cost, stays: size !== length || cost > PACK_BYTES_MAX });
        after = seq;
      }
      count = page.length;
    }
    return rows;
  }

  /** −1 before the first pack. A wrong note costs a search, or leaves frames as they are. */
  #through(): number {
    const note = this.#note(PACKED_THROUGH) ?? '';
    return /^\d{1,15}$/.test(note) ? Number(note) : -1;
  }
}

type FiveNumbers = [number, number, number, number, number];
