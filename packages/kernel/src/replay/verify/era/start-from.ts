/** Where a replay begins: at the newest snapshot. */
import { readInputs } from '../../../ports/journal/frame.js';
import { EMPTY_HEAD, type Head } from '../../../ports/journal/port.js';
import type { ReadonlyStore } from '../../../ports/store/store.js';
import { portableSha256 } from '../../../pure/codec/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { followChain } from './replayer.js';
import { inSnapshot } from './snapshot-map.js';

/** Loads the newest snapshot at or before `seq`. @returns the head after it, or the empty head */
export async function startFrom(
  store: Pick<ReadonlyStore, 'journal' | 'hash'>,
  table: LeafTable,
  seq: number,
): Promise<Head & { readonly at?: number }> {
  const stored = await store.journal.findLast('snapshot', seq);
  if (stored === undefined) return EMPTY_HEAD;
  for await (const before of store.journal.read(stored.seq - 1, stored.seq - 1)) {
    followChain({ seq: before.seq, digest: before.head }, stored, store.hash ?? portableSha256);
  }
  const { ingress } = readInputs(stored.bytes, stored.seq);
  if (ingress.kind !== 'snapshot') return EMPTY_HEAD;
  await inSnapshot(stored.seq, table.openAt(ingress.root));
  return { seq: stored.seq, digest: stored.head, at: stored.at };
}
