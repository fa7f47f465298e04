/** Finds frames of a journal by number or by time. */
import { isWhole, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';

/** The frame that is meant; the newest one when none is. @throws RepriseError `invalid_argument` when there is no such frame */
export async function frameOf(store: ReadonlyStore, at: number | undefined): Promise<number> {
  const { seq } = await store.journal.head();
  if (at === undefined) return seq;
  if (isWhole(at) && at <= seq) return at;
  throw new RepriseError('invalid_argument', 'there is no such frame', {
    where: 'at',
    expected: seq < 0 ? 'a world with frames' : `a frame from 0 to ${seq}`,
    actual: at,
  });
}

/** The first frame at or after a time, at most `last` + 1. The times of frames never go back, so half are left at each step. */
export async function firstFrameSince(store: ReadonlyStore, time: number, last: number): Promise<number> {
  let [low, high] = [0, last + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    let at = time;
    for await (const frame of store.journal.read(middle, middle)) at = frame.at;
    if (at < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
