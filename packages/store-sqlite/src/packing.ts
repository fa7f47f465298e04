/**
 * How the frames of one append share rows. A row of one frame holds that frame's bytes and nothing else; a row of
 * several holds, for each: at (f64), head (32 bytes), kind (u8 length, UTF-8), bytes (u32 length, bytes), all
 * numbers big-endian. Canonical bytes are the frames' own; this is only a container and is hashed nowhere.
 */
import { RepriseError } from '@reprise/contracts';
import type { StoredFrame } from '@reprise/kernel';
import { illegal } from './values.js';

/** The bytes of a packed row; a larger frame has its own row. Bounds the cost of reading one frame. */
const ROW_BYTES_MAX = 64 * 1024;

/** Bytes of the fixed parts of a packed frame. */
const FIXED = 8 + 32 + 1 + 4;

/** A row of `frame`, as it is written and read. */
export interface FrameRow {
  readonly seq: number;
  readonly first: number;
  readonly at: number;
  readonly kind: string;
  readonly head: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Cuts the frames of one append into rows. */
export function* packRows(
  frames: readonly StoredFrame[],
): Generator<{ row: FrameRow; frames: readonly StoredFrame[] }> {
  let run: StoredFrame[] = [];
  let size = 0;
  for (const frame of frames) {
    if (run.length > 0 && size + frame.bytes.length > ROW_BYTES_MAX) {
      yield { row: packRow(run), frames: run };
      run = [];
      size = 0;
    }
    run.push(frame);
    size += FIXED + frame.kind.length + frame.bytes.length;
  }
  if (run.length > 0) yield { row: packRow(run), frames: run };
}

function packRow(run: readonly StoredFrame[]): FrameRow {
  const first = run[0] as StoredFrame;
  const last = run[run.length - 1] as StoredFrame;
  const bytes = run.length === 1 ? first.bytes : pack(run);
  return { seq: last.seq, first: first.seq, at: last.at, kind: last.kind, head: headBytes(last), bytes };
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
  const kinds = run.map((frame) => Buffer.from(frame.kind));
  const size = run.reduce((sum, frame, i) => sum + FIXED + (kinds[i] as Buffer).length + frame.bytes.length, 0);
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  run.forEach((frame, i) => {
    const kind = kinds[i] as Buffer;
    at = out.writeDoubleBE(frame.at, at);
    out.set(headBytes(frame), at);
    at += 32;
    at = out.writeUInt8(kind.length, at);
    out.set(kind, at);
    at = out.writeUInt32BE(frame.bytes.length, at + kind.length);
    out.set(frame.bytes, at);
    at += frame.bytes.length;
  });
  return out;
}

/**
 * The frames of a row within a range. The whole row is checked, but only these are returned.
 *
 * @throws journal_damaged when the row does not contain exactly the frames that it names
 */
export function unpackRow(row: FrameRow, from: number, to: number, path: string): StoredFrame[] {
  const { seq, at, kind, bytes } = row;
  if (row.first > seq) throw illegal(`${path}, frame ${seq}`, 'a first frame not after the last');
  if (row.first === seq) return seq < from || seq > to ? [] : [{ seq, at, kind, head: hexOf(row.head), bytes }];
  try {
    return unpack(row, from, to);
  } catch (cause) {
    throw new RepriseError('journal_damaged', 'a row of frames cannot be unpacked', {
      where: `${path}, frames ${row.first} to ${row.seq}`,
      cause,
    });
  }
}

function unpack(row: FrameRow, from: number, to: number): StoredFrame[] {
  const packed = Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength);
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
      bytes: row.bytes.slice(bytes, i),
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
