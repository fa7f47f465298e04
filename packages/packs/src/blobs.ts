/** How blobs lie in a pack: for each, its length (u32, big-endian) and its bytes. */

/** The bytes before each blob of a pack. */
export const LENGTH_BYTES = 4;

/** Several blobs one after another, and where each begins. */
export function joinBlobs(blobs: readonly Uint8Array[]): {
  readonly plain: Uint8Array;
  readonly starts: readonly number[];
} {
  const pieces: Uint8Array[] = [];
  const starts: number[] = [];
  let at = 0;
  for (const blob of blobs) {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(blob.length);
    pieces.push(length, blob);
    starts.push(at);
    at += LENGTH_BYTES + blob.length;
  }
  return { plain: Buffer.concat(pieces), starts };
}

/**
 * The blob that begins at a place of a plain pack; not a copy.
 *
 * @throws RangeError when the pack is damaged there
 */
export function blobAt(plain: Uint8Array, at: number): Uint8Array {
  const view = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  const start = at + LENGTH_BYTES;
  const end = start + view.readUInt32BE(at);
  if (end > plain.length) throw new RangeError(`a length leads beyond the pack's ${plain.length} bytes`);
  return plain.subarray(start, end);
}

/**
 * Where each blob of a plain pack begins.
 *
 * @throws RangeError when the pack is damaged
 */
export function blobStarts(plain: Uint8Array): readonly number[] {
  const starts: number[] = [];
  for (let at = 0; at < plain.length; at += LENGTH_BYTES + blobAt(plain, at).length) starts.push(at);
  return starts;
}
