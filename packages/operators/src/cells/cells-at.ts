/** Which cells of some reducers exist after a frame, from the newest snapshot and the frames behind it. */
import type { Address } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { StateFieldsFold, snapshotBefore } from '@reprise/kernel/inspect';
import { skimFrames, textsIn } from '../skim/index.js';

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
  const holding = textsIn(reducers);
  await skimFrames(store, { from: snapshot.seq + 1, to: seq, holding, signal }, (frame, at, records) =>
    fold.take(frame, at, records),
  );
  return [...fold.cells.values()].map(({ address }) => address).sort(([, a], [, b]) => (a < b ? -1 : 1));
}
