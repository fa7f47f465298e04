/** Splits the bytes of a pipe into the written messages: each has its kind and its length in front. */

/** A message: its kind, in one byte, and its bytes. */
interface Piece {
  readonly kind: number;
  readonly bytes: Buffer;
}

const HEAD_BYTES = 5;

/** Puts the length and kind of a message before its bytes. */
export function pieceOf(kind: number, bytes: Uint8Array): Buffer {
  const piece = Buffer.alloc(HEAD_BYTES + bytes.length);
  piece[0] = kind;
  piece.writeUInt32BE(bytes.length, 1);
  piece.set(bytes, HEAD_BYTES);
  return piece;
}

/**
 * Makes a reader of messages.
 *
 * @param bytesMax the largest accepted message
 * @param take called with each message, whole and in order
 * @returns a function that takes the bytes in order; throws RangeError for a message that is too large
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
      if (end - HEAD_BYTES > bytesMax) throw new RangeError('the message is too large');
      if (length < end) return;
      const all = parts.length === 1 ? head : Buffer.concat(parts);
      take({ kind: all.readUInt8(0), bytes: all.subarray(HEAD_BYTES, end) });
      parts = [all.subarray(end)];
      length -= end;
    }
  };
}
