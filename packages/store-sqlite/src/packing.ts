/**
 * How the frames of one append share rows. A row of one frame holds that frame's bytes and nothing else; a row of
 * several holds, for each: at (f64), head (32 bytes), kind (u8 length, UTF-8), bytes (u32 length, bytes), all
 * numbers big-endian. Canonical bytes are the frames' own; this is only a container and is hashed nowhere.
 */
import { RepriseError } from '@reprise/contracts';
import type { StoredFrame } from '@reprise/kernel';

/** How many bytes share a row, a single larger frame apart. Bounds what reading one frame costs. */
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

/** Node reads hex up to the first other character without a word, which would shift everything after it. */
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
 * The frames of a row.
 *
 * @throws journal_damaged when the row does not hold exactly the frames it names
 */
export function unpackRow(row: FrameRow, path: string): StoredFrame[] {
  if (row.first === row.seq)
    return [{ seq: row.seq, at: row.at, kind: row.kind, head: hexOf(row.head), bytes: row.bytes }];
  try {
    return unpack(row);
  } catch (cause) {
    throw new RepriseError('journal_damaged', 'a row of frames cannot be taken apart', {
      where: `${path}, frames ${row.first} to ${row.seq}`,
      cause,
    });
  }
}

/** A read beyond the end, as a wrong length leads to, throws a RangeError of Buffer. */
function unpack(row: FrameRow): StoredFrame[] {
  const from = Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength);
  const frames: StoredFrame[] = [];
  let i = 0;
  const take = (length: number): Buffer => {
    if (i + length > from.length) throw new RangeError(`a length leads beyond the row's ${from.length} bytes`);
    i += length;
    return from.subarray(i - length, i);
  };
  for (let seq = row.first; seq <= row.seq; seq++) {
    const at = take(8).readDoubleBE();
    const head = hexOf(take(32));
    const kind = take(take(1).readUInt8()).toString();
    const bytes = new Uint8Array(take(take(4).readUInt32BE()));
    frames.push({ seq, at, kind, head, bytes });
  }
  if (i !== from.length) throw new RangeError(`${from.length - i} bytes are left over`);
  if (frames.at(-1)?.head !== hexOf(row.head)) throw new RangeError('the last head is not the one of the row');
  return frames;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
