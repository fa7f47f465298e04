/** The hash chain: head_n = sha256(head_{n−1} ‖ sha256(frame_n)), so an omitted frame can stand as its 32 bytes. */
import { fromHex, type Hash, toHex } from '../../pure/codec/index.js';
import type { Head } from './port.js';

/**
 * The head after one more frame.
 *
 * @param head the head before
 * @param frame the frame's canonical bytes
 */
export function nextHead(head: Head, frame: Uint8Array, hash: Hash): Head {
  return headAfterDigest(head, hash(frame), hash);
}

/** The head after a frame of which only the sha-256 is known. */
function headAfterDigest(head: Head, frameDigest: Uint8Array, hash: Hash): Head {
  const joined = new Uint8Array(64);
  joined.set(fromHex(head.digest), 0);
  joined.set(frameDigest, 32);
  return { seq: head.seq + 1, digest: toHex(hash(joined)) };
}
