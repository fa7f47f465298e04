/**
 * How frames share rows. A row of one frame holds that frame's bytes and nothing else; a row of several holds, for each:
 * at (f64), head (32 bytes), kind (u8 length, UTF-8), bytes (u32 length, bytes), all numbers big-endian. The bytes of a
 * row may be deflated as a whole (`deflated.ts`). Canonical bytes are the frames' own; this is only a container and is
 * hashed nowhere.
 */
import { RepriseError } from '@reprise/contracts';
import type { StoredFrame } from '@reprise/kernel';
import { inflated, type Stored } from './deflated.js';

/** The bytes of a packed row of one append; a larger frame has its own row. Bounds the cost of reading one frame. */
const APPEND_ROW_BYTES_MAX = 64 * 1024;

/** Bytes of the fixed parts of a packed frame. */
const FIXED = 8 + 32 + 1 + 4;

/** Consecutive frames, as one row of a store that is written and read. */
export interface FrameRow extends Stored {
  readonly seq: number;
  readonly first: number;
  readonly at: number;
  readonly kind: string;
  readonly head: Uint8Array;
}

/** The frames of a row, in words; undefined when the row does not tell. */
export function framesOf(first: unknown, seq: unknown): string | undefined {
  if (typeof seq !== 'number') return undefined;
  return typeof first === 'number' && first < seq ? `frames ${first} to ${seq}` : `frame ${seq}`;
}

/** The plain bytes of a row. */
type InflateRow = (row: Stored) => Uint8Array;

/** Inflates rows, and keeps the last one, so that reading frame by frame inflates each row once. */
export function rowInflater(): InflateRow {
  let last: { readonly bytes: Uint8Array; readonly plain: Uint8Array } | undefined;
  return (row) => {
    if (row.size === row.bytes.length) return row.bytes;
    if (last === undefined || last.plain.length !== row.size || Buffer.compare(last.bytes, row.bytes) !== 0) {
      last = { bytes: row.bytes, plain: inflated(row) };
    }
    return last.plain;
  };
}

/** Cuts the frames of one append into rows. */
export function packRows(frames: readonly StoredFrame[]): { row: FrameRow; frames: readonly StoredFrame[] }[] {
  const runs: StoredFrame[][] = [];
  let size = 0;
  for (const frame of frames) {
    const run = runs.at(-1);
    if (run !== undefined && size + frame.bytes.length <= APPEND_ROW_BYTES_MAX) run.push(frame);
    else {
      runs.push([frame]);
      size = 0;
    }
    size += FIXED + frame.kind.length + frame.bytes.length;
  }
  return runs.map((run) => ({ row: packRow(run), frames: run }));
}

function packRow(run: readonly StoredFrame[]): FrameRow {
  const first = run[0] as StoredFrame;
  if (run.length === 1) return rowOf(first);
  const last = run[run.length - 1] as StoredFrame;
  const bytes = pack(run);
  const { seq, at, kind } = last;
  return { seq, first: first.seq, at, kind, head: headBytes(last), bytes, size: bytes.length };
}

/** The row of one frame. */
export function rowOf(frame: StoredFrame): FrameRow {
  const { seq, at, kind, bytes } = frame;
  return { seq, first: seq, at, kind, head: headBytes(frame), bytes, size: bytes.length };
}

/** Node silently stops at the first character that is not hex, which would shift everything after it. */
function headBytes(frame: StoredFrame): Uint8Array {
  const bytes = Buffer.from(frame.head, 'hex');
  if (bytes.length === 32) return bytes;
  throw new RepriseError('invalid_argument', 'the head of a frame is not a digest', {
    where: `frame ${frame.seq}`,
    expected: '64 hex digits',
    actual: frame.head,
  });
}

function pack(run: readonly StoredFrame[]): Uint8Array {
  return Buffer.concat(run.map((frame) => entry(frame, headBytes(frame))));
}

/** A frame in a packed row. */
function entry({ at, kind, bytes }: Pick<FrameRow, 'at' | 'kind' | 'bytes'>, head: Uint8Array): Uint8Array {
  const name = Buffer.from(kind);
  const out = Buffer.allocUnsafe(FIXED + name.length + bytes.length);
  let i = out.writeDoubleBE(at, 0);
  out.set(head, i);
  i = out.writeUInt8(name.length, i + 32);
  out.set(name, i);
  i = out.writeUInt32BE(bytes.length, i + name.length);
  out.set(bytes, i);
  return out;
}

/** What a plain row is in a row that holds it together with others. */
export function rowEntry(row: FrameRow): Uint8Array {
  return row.first === row.seq ? entry(row, row.head) : row.bytes;
}

/** The bytes that a plain row takes in a row that holds it together with others. */
export function packedBytes(row: Pick<FrameRow, 'first' | 'seq'>, kindBytes: number, length: number): number {
  return row.first === row.seq ? FIXED + kindBytes + length : length;
}

/** Several plain rows as one, not deflated; each is checked. */
export function joinRows(rows: readonly FrameRow[], path: string): FrameRow {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('no rows to join');
  if (first === last) return first;
  for (const row of rows) unpackRow(row, 1, 0, path);
  const bytes = Buffer.concat(rows.map(rowEntry));
  return { ...last, first: first.first, bytes, size: bytes.length };
}

/**
 * The frames of a row within a range. The whole row is checked, but only these are returned.
 *
 * @throws journal_damaged when the row does not contain exactly the frames that it names
 */
export function unpackRow(
  row: FrameRow,
  from: number,
  to: number,
  path: string,
  inflate: InflateRow = inflated,
): StoredFrame[] {
  const { first, seq } = row;
  try {
    if (first > seq) throw new RangeError(`its first frame is ${first}, after the last one`);
    const plain = inflate(row);
    return first === seq ? single(row, plain, from, to) : unpack(row, plain, from, to);
  } catch (cause) {
    throw new RepriseError('journal_damaged', 'a row of frames cannot be unpacked', {
      where: `${path}, ${framesOf(first, seq)}`,
      hint: 'Restore it from a copy; keep what is damaged, another reader may recover more of it.',
      cause,
    });
  }
}

function single({ seq, at, kind, head, bytes }: FrameRow, plain: Uint8Array, from: number, to: number): StoredFrame[] {
  if (seq < from || seq > to) return [];
  return [{ seq, at, kind, head: hexOf(head), bytes: plain === bytes ? bytes : new Uint8Array(plain) }];
}

function unpack(row: FrameRow, plain: Uint8Array, from: number, to: number): StoredFrame[] {
  const packed = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  const frames: StoredFrame[] = [];
  let lastHead = 0;
  let i = 0;
  /** Advances by a number of bytes and returns where they begin. */
  const take = (length: number): number => {
    if (i + length > packed.length) throw new RangeError(`a length leads beyond the row's ${packed.length} bytes`);
    i += length;
    return i - length;
  };
  for (let seq = row.first; seq <= row.seq; seq++) {
    const at = take(8);
    const head = take(32);
    const kind = take(1);
    const kindLength = packed[kind] as number;
    const length = take(kindLength + 4) + kindLength;
    const bytes = take(packed.readUInt32BE(length));
    lastHead = head;
    if (seq < from || seq > to) continue;
    frames.push({
      seq,
      at: packed.readDoubleBE(at),
      kind: packed.toString('utf8', kind + 1, kind + 1 + kindLength),
      head: packed.toString('hex', head, head + 32),
      bytes: new Uint8Array(packed.subarray(bytes, i)),
    });
  }
  if (i !== packed.length) throw new RangeError(`${packed.length - i} bytes are left over`);
  const head = packed.subarray(lastHead, lastHead + 32);
  if (!head.equals(row.head)) throw new RangeError('the last head is not the one of the row');
  return frames;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
