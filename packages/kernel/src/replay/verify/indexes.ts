/** Holds a store's indexes to the journal that they are made from: no record is read through them, but decisions are. */
import type { IngressRecord } from '@reprise/contracts';
import { damaged } from '../../ports/journal/frame.js';
import type { ReadableJournal, StoredFrame } from '../../ports/journal/port.js';
import { isKeyed, requestKey } from '../../ports/journal/request-key.js';
import type { Hash } from '../../pure/codec/index.js';

/** Kinds of frames that opening looks for. */
const LANDMARKS: readonly string[] = ['manifest', 'snapshot', 'erase', 'fork'];

/**
 * Refuses a frame that the store's indexes would not find. A request that is not found, or found elsewhere, could be
 * taken a second time; a landmark that is not found could make an old world look new.
 *
 * @throws RepriseError `journal_damaged`
 */
export async function checkIndexes(
  journal: ReadableJournal,
  stored: StoredFrame,
  ingress: IngressRecord,
  hash: Hash,
): Promise<void> {
  if (isKeyed(ingress)) {
    const found = await journal.findKey(requestKey(ingress, hash));
    if (found !== stored.seq) {
      throw damaged(stored.seq, `the index finds ${ingress.kind} ${ingress.id} ${place(found)}`, 0);
    }
  }
  if (LANDMARKS.includes(ingress.kind)) {
    // Asked from behind, as opening does: a store may answer for the frame itself without its index.
    const found = (await journal.findLast(ingress.kind, stored.seq + 1))?.seq;
    if (found === undefined || found < stored.seq)
      throw damaged(stored.seq, `the index finds this ${ingress.kind} ${place(found)}`, 0);
  }
}

/**
 * Refuses landmarks that are none: opening would begin at a frame of another kind.
 *
 * @param newest the newest frame of each kind, as they were read
 * @param last the last frame that was read; one that was appended since is not judged
 */
export async function checkLandmarks(
  journal: ReadableJournal,
  newest: ReadonlyMap<string, number>,
  last: number,
): Promise<void> {
  for (const kind of LANDMARKS) {
    const found = await journal.findLast(kind, last + 1);
    if (found === undefined || found.seq > last || (found.seq === newest.get(kind) && found.kind === kind)) continue;
    throw damaged(found.seq, `the index finds a ${kind} here, and this is a ${found.kind}`);
  }
}

function place(seq: number | undefined): string {
  return seq === undefined ? 'nowhere' : `at frame ${seq}`;
}
