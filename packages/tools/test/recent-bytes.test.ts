/** The output of a background process that nobody reads: bounded in memory and in time, whatever its pieces are. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { RecentBytes, UNREAD_BYTES_MAX } from '../src/process/recent-bytes.js';

const SEED = 7;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe(`unread output (seed ${SEED})`, () => {
  it('the newest bytes are kept, and the others are counted, however they arrive', () => {
    const piece = fc.tuple(fc.constantFrom('a', 'é', '😀', '\n', 'word '), fc.integer({ min: 1, max: 90_000 }));
    const law = fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(12), (pieces, readAt) => {
      const recent = new RecentBytes();
      let all = new Uint8Array(0);
      for (const [i, [text, times]] of pieces.entries()) {
        const bytes = bytesOf(text.repeat(times));
        recent.add(bytes);
        all = Buffer.concat([all, bytes]);
        if (i !== readAt) continue;
        recent.take();
        all = new Uint8Array(0);
      }
      expect(recent.isEmpty).toBe(all.length === 0);
      const { text, lost } = recent.take();
      expect(Buffer.from(text).equals(all.subarray(lost))).toBe(true);
      expect(text.startsWith('\ufffd')).toBe(false);
      const excess = Math.max(0, all.length - UNREAD_BYTES_MAX);
      expect(lost === 0 ? excess === 0 : lost >= excess && lost <= excess + 3).toBe(true);
    });
    fc.assert(law, { seed: SEED, numRuns: 60 / stepOf(4) });
  });

  it('a million pieces of one byte take little memory and time', () => {
    const recent = new RecentBytes();
    const began = process.memoryUsage();
    for (let n = 0; n < 1_000_000; n++) recent.add(new Uint8Array([97]));
    const now = process.memoryUsage();
    expect(recent.take().lost).toBe(1_000_000 - UNREAD_BYTES_MAX);
    expect(now.arrayBuffers - began.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
  });
});
