/** The two questions every store asks before it appends, so that all of them refuse with the same words. */
import { RepriseError } from '@reprise/contracts';
import type { Head, StoredFrame } from './port.js';

/**
 * Refuses frames that do not follow each other from `expected` on.
 *
 * @throws invalid_argument: a gap in the journal can never be read back, so it is stopped at the door
 */
export function assertConsecutive(frames: readonly StoredFrame[], expected: Head): void {
  frames.forEach((frame, i) => {
    if (frame.seq === expected.seq + 1 + i) return;
    throw new RepriseError('invalid_argument', 'frames to append are not consecutive', {
      where: `frames[${i}]`,
      expected: expected.seq + 1 + i,
      actual: frame.seq,
    });
  });
}

/**
 * Refuses an append that was computed on another head than the durable one.
 *
 * @throws stale_head
 */
export function assertHead(durable: Head, expected: Head): void {
  if (durable.seq === expected.seq && durable.digest === expected.digest) return;
  throw new RepriseError('stale_head', 'the journal has moved on since this append was computed', {
    expected,
    actual: durable,
    hint: 'Read head() again: another writer appended, or an append that looked failed has landed.',
  });
}
