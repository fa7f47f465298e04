/** Cuts the bytes of a pipe into what was written into it, piece by piece: each with its kind and its length before it. */

/** A piece: what it is, in one byte, and its bytes. */
interface Piece {
  readonly kind: number;
  readonly bytes: Buffer;
}

const HEAD_BYTES = 5;

/** A piece as it is written. */
export function pieceOf(kind: number, bytes: Uint8Array): Buffer {
  const piece = Buffer.alloc(HEAD_BYTES + bytes.length);
  piece[0] = kind;
  piece.writeUInt32BE(bytes.length, 1);
  piece.set(bytes, HEAD_BYTES);
  return piece;
}

/**
 * A reader of pieces.
 *
 * @param bytesMax the largest piece that is taken
 * @param take told each piece, whole and in order
 * @returns what takes the bytes as they come; throws RangeError for a piece that is too large
 */
export function pieceReader(bytesMax: number, take: (piece: Piece) => void): (more: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  return (more) => {
    parts.push(more);
    length += more.length;
    while (length >= HEAD_BYTES) {
      if ((parts[0] as Buffer).length < HEAD_BYTES) parts = [Buffer.concat(parts)];
      const head = parts[0] as Buffer;
      const end = HEAD_BYTES + head.readUInt32BE(1);
      if (end - HEAD_BYTES > bytesMax) throw new RangeError('a piece that is too large');
      if (length < end) return;
      const all = parts.length === 1 ? head : Buffer.concat(parts);
      take({ kind: all.readUInt8(0), bytes: all.subarray(HEAD_BYTES, end) });
      parts = [all.subarray(end)];
      length -= end;
    }
  };
}
