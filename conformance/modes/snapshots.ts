/**
 * Mode `snapshots`: a replay from a snapshot has, after each frame, exactly the state of a replay from genesis.
 *
 * States are compared by the root of the map of all leaves: it is the digest of their bytes.
 */
import assert from 'node:assert/strict';
import { agentApp } from '@reprise/agent';
import { portableSha256, type ReadonlyStore, type StoredFrame } from '@reprise/kernel';
import { Replayer, startFrom } from '../../packages/kernel/src/replay/verify/index.js';
import { MerkleMap } from '../../packages/kernel/src/run/map/index.js';
import { LeafTable } from '../../packages/kernel/src/run/state/leaf-table.js';
import { ComputedNodes } from '../../packages/kernel/src/run/state/value-nodes.js';

/** The root of the state after each frame, by its number; -1 is before the first. */
export type Roots = ReadonlyMap<number, string>;

/**
 * Replays a world from the newest snapshot at or before a frame, or from genesis when the frame is -1.
 *
 * @returns the root of the state that it begins with, and after each frame
 */
export async function rootsFrom(store: ReadonlyStore, seq: number): Promise<Roots> {
  const hash = store.hash ?? portableSha256;
  const table = new LeafTable(new MerkleMap(new ComputedNodes(store.content, hash), hash));
  const start = await startFrom(store, table, seq);
  const replayer = new Replayer({ app: agentApp, hash }, table, start);
  const rootNow = async () => (await table.snapshot()).ref.hex;
  const roots = new Map([[start.seq, await rootNow()]]);
  for await (const stored of store.journal.read(start.seq + 1)) {
    await replayer.step(stored);
    roots.set(stored.seq, await rootNow());
  }
  return roots;
}

/** Holds every snapshot of a world to its genesis. @returns how many there are */
export async function holdSnapshots(store: ReadonlyStore): Promise<number> {
  const frames: StoredFrame[] = [];
  for await (const frame of store.journal.read(0)) frames.push(frame);
  const genesis = await rootsFrom(store, -1);
  assert.equal(genesis.size, frames.length + 1);
  const snapshots = frames.filter(({ kind }) => kind === 'snapshot');
  for (const { seq } of snapshots) holdRoots(genesis, await rootsFrom(store, seq), seq);
  return snapshots.length;
}

/** Holds the states since a snapshot, its own among them, to those since genesis. */
export function holdRoots(genesis: Roots, since: Roots, snapshot: number): void {
  const [first, last] = [Math.min(...since.keys()), Math.max(...genesis.keys())];
  assert.deepEqual(
    [first, since.size],
    [snapshot, last - snapshot + 1],
    `the snapshot at ${snapshot} was not begun at`,
  );
  for (const [at, root] of since) {
    assert.equal(root, genesis.get(at), `from the snapshot at ${snapshot} the state after frame ${at} is another`);
  }
}
