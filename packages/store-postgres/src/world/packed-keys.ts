/**
 * The keys of the requests in a pack of frames. A row and an entry of an index for each would take as much as the frames:
 * so a pack names all of its keys, and an index finds the pack by 64 bits of a digest of each. What it finds is compared
 * with the keys themselves.
 */
import { createHash } from 'node:crypto';
import { DIGEST_BYTES } from '../connection/columns.js';

/** The bytes before each key: the place of its frame in the pack. */
const PLACE_BYTES = 2;

/** What the index has of a key: of another world, the same key has another number. */
export function keyHash(world: number, key: Uint8Array): string {
  return createHash('sha256').update(`${world} `).update(key).digest().readBigInt64BE(0).toString();
}

/** The keys of a pack as they are stored. @param keys with the place of their frames in the pack, from 0 */
export function packKeys(keys: readonly (readonly [place: number, key: Uint8Array])[]): Uint8Array {
  return Buffer.concat(
    keys.flatMap(([place, key]) => {
      const before = Buffer.alloc(PLACE_BYTES);
      before.writeUInt16BE(place);
      return [before, key];
    }),
  );
}

/** The frames with a key, among those that a pack from frame `first` on names. */
export function seqsOf(key: Uint8Array, first: number, keyed: Uint8Array): readonly number[] {
  const all = Buffer.from(keyed.buffer, keyed.byteOffset, keyed.byteLength);
  const seqs: number[] = [];
  for (let at = 0; at + PLACE_BYTES + DIGEST_BYTES <= all.length; at += PLACE_BYTES + DIGEST_BYTES) {
    const own = all.subarray(at + PLACE_BYTES, at + PLACE_BYTES + DIGEST_BYTES);
    if (own.equals(key)) seqs.push(first + all.readUInt16BE(at));
  }
  return seqs;
}
