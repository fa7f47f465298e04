/** The names of a world's sessions and agents after a frame. */
import type { ReadonlyStore } from '@reprise/kernel';
import { snapshotBefore } from '@reprise/kernel/inspect';
import { readFrame } from '@reprise/kernel/store';
import { WorldNames } from './world-names.js';

/** Reads the names after a frame: the price is that of the sessions and agents, and of the frames since the newest snapshot. */
export async function namesAt(store: ReadonlyStore, seq: number, signal?: AbortSignal): Promise<WorldNames> {
  const names = new WorldNames();
  const snapshot = await snapshotBefore(store, seq);
  await names.load(snapshot);
  for await (const frame of store.journal.read(snapshot.seq + 1, seq)) {
    signal?.throwIfAborted();
    for (const record of readFrame(frame.bytes, frame.seq).all) names.take(record);
  }
  return names;
}
