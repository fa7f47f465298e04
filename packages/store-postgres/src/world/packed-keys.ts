/**
 * The keys of the requests in a pack of frames. A row and an entry of an index for each would take as much as the frames:
 * so a pack names its keys by half of their bytes, and an index finds the pack by 64 bits of a digest of each, which is
 * made of all bytes. So two requests count as one when 192 bits are equal.
 */
import { createHash } from 'node:crypto';
import { DIGEST_BYTES } from '../connection/columns.js';

/** The bytes before each key, which are the place of its frame in the pack, and those of the key. */
const PLACE_BYTES = 2;
const KEY_BYTES = DIGEST_BYTES / 2;

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
      return [before, key.subarray(0, KEY_BYTES)];
    }),
  );
}

/** The frames with a key, among those that a pack from frame `first` on names. */
export function seqsOf(key: Uint8Array, first: number, keyed: Uint8Array): readonly number[] {
  const all = Buffer.from(keyed.buffer, keyed.byteOffset, keyed.byteLength);
  const seqs: number[] = [];
  for (let at = 0; at + PLACE_BYTES + KEY_BYTES <= all.length; at += PLACE_BYTES + KEY_BYTES) {
    const own = all.subarray(at + PLACE_BYTES, at + PLACE_BYTES + KEY_BYTES);
    if (own.equals(key.subarray(0, KEY_BYTES))) seqs.push(first + all.readUInt16BE(at));
  }
  return seqs;
}
