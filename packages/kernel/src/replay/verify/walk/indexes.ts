/** Checks a store's indexes against the journal: no record is read through them, but decisions depend on them. */
import type { IngressRecord } from '@reprise/contracts';
import { damaged } from '../../../ports/journal/frame.js';
import type { ReadableJournal, StoredFrame } from '../../../ports/journal/port.js';
import { isKeyed, requestKey } from '../../../ports/journal/request-key.js';
import type { Hash } from '../../../pure/codec/index.js';

/** Kinds of frames that opening looks for. */
const LANDMARKS: readonly string[] = ['manifest', 'snapshot', 'erase', 'fork'];

/**
 * Refuses a frame that the store's indexes would not find. A request that is not found, or found elsewhere, could be
 * accepted a second time; a landmark that is not found could make an old world look new.
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
    // Searched backwards, as opening does: for the frame's own number a store may answer without its index.
    const found = (await journal.findLast(ingress.kind, stored.seq + 1))?.seq;
    if (found === undefined || found < stored.seq)
      throw damaged(stored.seq, `the index finds this ${ingress.kind} ${place(found)}`, 0);
  }
}

/**
 * Refuses wrong landmarks: opening would begin at a frame of another kind.
 *
 * @param newest the newest frame of each kind, as the indexes name them
 * @param last the last frame that was read; later ones are not judged
 */
export async function checkLandmarks(
  journal: ReadableJournal,
  newest: ReadonlyMap<string, number>,
  last: number,
): Promise<void> {
  for (const kind of LANDMARKS) {
    const found = await journal.findLast(kind, last + 1);
    if (found === undefined || found.seq > last || (found.seq === newest.get(kind) && found.kind === kind)) continue;
    throw damaged(found.seq, `the index finds a ${kind} here, but the frame is a ${found.kind}`);
  }
}

function place(seq: number | undefined): string {
  return seq === undefined ? 'nowhere' : `at frame ${seq}`;
}
