/** Frames and blobs that say by themselves what they must be, so that another process can judge them. */
import { createHash } from 'node:crypto';
import type { StoredFrame } from '@reprise/kernel';

export const KINDS = ['request', 'receipt', 'snapshot', 'absent'];

/** A frame of a number and a size; half of each compresses well, as texts do, and a fifth of them not at all. */
export function frameOf(seq: number, size: number): StoredFrame {
  const kind = seq % 11 === 0 ? 'snapshot' : (KINDS[seq % 2] as string);
  const frame = { seq, at: seq * 3, kind, head: digest(`head ${seq}`), bytes: content(`frame ${seq}`, size) };
  return seq % 3 === 0 ? { ...frame, key: digest(`key ${seq}`) } : frame;
}

/** Why a frame is not one that {@link frameOf} has made of that number; undefined when it is. */
export function wrong(frame: StoredFrame, seq: number): string | undefined {
  const { key: _, ...wanted } = frameOf(seq, frame.bytes.length);
  for (const name of ['seq', 'at', 'kind', 'head'] as const)
    if (frame[name] !== wanted[name]) return `${name} of frame ${seq} is ${frame[name]}`;
  return Buffer.compare(frame.bytes, wanted.bytes) === 0 ? undefined : `the bytes of frame ${seq}`;
}

export function content(name: string, size: number): Uint8Array {
  const all = Buffer.alloc(size);
  for (let at = 0; at < size; at += 32) createHash('sha256').update(`${name} ${at}`).digest().copy(all, at);
  if (size % 5 !== 0) Buffer.from(`${name}, `.repeat(Math.ceil(size / 8))).copy(all, 0, 0, size >> 1);
  return new Uint8Array(all);
}

function digest(what: string): string {
  return createHash('sha256').update(what).digest('hex');
}
