/** Frames that a question names. */
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import { absent } from './found.js';

/** A frame of the journal. @throws Refusal 404 when it is not there */
export async function frameAt(store: ReadonlyStore, seq: number): Promise<StoredFrame> {
  if (seq >= 0) for await (const stored of store.journal.read(seq, seq)) return stored;
  throw absent('the world has no such frame', 'frame', seq);
}
