/** The names of a world's sessions and agents after a frame. */
import type { ReadonlyStore } from '@reprise/kernel';
import { snapshotBefore } from '@reprise/kernel/inspect';
import { skimFrames } from '../skim/index.js';
import { HOLDING_NAMES, WorldNames } from './world-names.js';

/** Reads the names after a frame: the price is that of the sessions and agents, and of the frames since the newest snapshot. */
export async function namesAt(store: ReadonlyStore, seq: number, signal?: AbortSignal): Promise<WorldNames> {
  const names = new WorldNames();
  const snapshot = await snapshotBefore(store, seq);
  await names.load(snapshot);
  await skimFrames(store, { from: snapshot.seq + 1, to: seq, holding: HOLDING_NAMES, signal }, (_, __, records) => {
    for (const record of records) names.take(record);
  });
  return names;
}
