import { createHash } from 'node:crypto';
import type { Head, StoredFrame } from '@reprise/kernel';

/** The bytes of frame `seq`, the same in every process. */
export function frameBytes(seq: number): Uint8Array {
  return new Uint8Array(Buffer.from(`frame ${seq} `.repeat(1 + (seq % 40))));
}

/** Bytes that nothing makes smaller, the same for the same seed. */
export function noise(seed: number | string, length: number): Uint8Array {
  const blocks: Buffer[] = [];
  for (let i = 0; i * 32 < length; i++) blocks.push(createHash('sha256').update(`${seed} ${i}`).digest());
  return new Uint8Array(Buffer.concat(blocks).subarray(0, length));
}

/** Frames that follow a head; their digests stand for a chain, which a store does not check. */
export function framesAfter(head: Head, count: number, bytesOf = frameBytes): StoredFrame[] {
  return Array.from({ length: count }, (_, i) => {
    const seq = head.seq + 1 + i;
    const digest = createHash('sha256').update(`head ${seq}`).digest('hex');
    return { seq, at: seq * 1000, kind: seq % 7 === 0 ? 'snapshot' : 'request', head: digest, bytes: bytesOf(seq) };
  });
}
