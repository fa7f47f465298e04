/** Which cells of some reducers exist after a frame, from the newest snapshot and the frames behind it. */
import type { Address } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { StateFieldsFold, snapshotBefore } from '@reprise/kernel/inspect';
import { readFrame } from '@reprise/kernel/store';

/** The cells of some reducers that exist after a frame, in the order of their keys. */
export async function cellsAt(
  store: ReadonlyStore,
  seq: number,
  reducers: readonly string[],
  signal?: AbortSignal,
): Promise<readonly Address[]> {
  const fold = new StateFieldsFold(Object.fromEntries(reducers.map((name) => [name, []])));
  const snapshot = await snapshotBefore(store, seq);
  await fold.load(snapshot);
  for await (const frame of store.journal.read(snapshot.seq + 1, seq)) {
    signal?.throwIfAborted();
    fold.take(frame.seq, frame.at, readFrame(frame.bytes, frame.seq).all);
  }
  return [...fold.cells.values()].map(({ address }) => address).sort(([, a], [, b]) => (a < b ? -1 : 1));
}
