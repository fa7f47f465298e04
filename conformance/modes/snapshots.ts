/**
 * Mode `snapshots`: whoever begins at a snapshot has, after each frame, exactly the state of who began at genesis.
 *
 * States are compared by the root of the map of all leaves: it is the digest of their bytes.
 */
import assert from 'node:assert/strict';
import { agentApp } from '@reprise/agent';
import { portableSha256, type ReadonlyStore, type StoredFrame } from '@reprise/kernel';
import { MerkleMap } from '../../packages/kernel/src/map/index.js';
import { Replayer, startFrom } from '../../packages/kernel/src/replay/index.js';
import { LeafTable } from '../../packages/kernel/src/state/leaf-table.js';
import { ComputedNodes } from '../../packages/kernel/src/state/value-nodes.js';

/** The root of the state after each frame, by its number. */
export type Roots = ReadonlyMap<number, string>;

/** Performs a world from the newest snapshot at or before a frame, or from genesis when the frame is -1. */
export async function rootsFrom(store: ReadonlyStore, seq: number): Promise<Roots> {
  const hash = store.hash ?? portableSha256;
  const table = new LeafTable(new MerkleMap(new ComputedNodes(store.content, hash), hash));
  const start = await startFrom(store, table, seq);
  const replayer = new Replayer({ app: agentApp, hash }, table, start);
  const roots = new Map<number, string>();
  for await (const stored of store.journal.read(start.seq + 1)) {
    await replayer.step(stored);
    roots.set(stored.seq, (await table.snapshot()).ref.hex);
  }
  return roots;
}

/** Holds every snapshot of a world to its genesis. @returns how many there are */
export async function holdSnapshots(store: ReadonlyStore): Promise<number> {
  const frames: StoredFrame[] = [];
  for await (const frame of store.journal.read(0)) frames.push(frame);
  const genesis = await rootsFrom(store, -1);
  assert.equal(genesis.size, frames.length);
  const snapshots = frames.filter(({ kind }) => kind === 'snapshot');
  for (const { seq } of snapshots) holdRoots(genesis, await rootsFrom(store, seq), seq);
  return snapshots.length;
}

/** Holds the states since a snapshot to those since genesis. */
export function holdRoots(genesis: Roots, since: Roots, snapshot: number): void {
  for (const [at, root] of since) {
    assert.equal(root, genesis.get(at), `from the snapshot at ${snapshot} the state after frame ${at} is another`);
  }
}
