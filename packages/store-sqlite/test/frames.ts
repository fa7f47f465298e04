import { createHash } from 'node:crypto';
import type { Head, StoredFrame } from '@reprise/kernel';

/** The bytes of frame `seq`, the same in every process. */
export function frameBytes(seq: number): Uint8Array {
  return new Uint8Array(Buffer.from(`frame ${seq} `.repeat(1 + (seq % 40))));
}

/** Frames that follow a head; their digests stand for a chain, which a store does not check. */
export function framesAfter(head: Head, count: number, bytesOf = frameBytes): StoredFrame[] {
  return Array.from({ length: count }, (_, i) => {
    const seq = head.seq + 1 + i;
    const digest = createHash('sha256').update(`head ${seq}`).digest('hex');
    return { seq, at: seq * 1000, kind: seq % 7 === 0 ? 'snapshot' : 'request', head: digest, bytes: bytesOf(seq) };
  });
}

/** A random sequence that is the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
