/** Every frame of a random world folded twice: from what a verification keeps, and from bytes alone. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { anySchedule, programApp } from '../../../testkit/src/arbitraries/index.js';
import { decode, encode, FRAME_DEPTH_MAX, type Store } from '../../src/index.js';
import { readInputs } from '../../src/ports/journal/frame.js';
import { toHex } from '../../src/pure/codec/index.js';
import { foldIngress, type LeafReader } from '../../src/pure/engine/index.js';
import { DecodedLeaves } from '../../src/state/decoded-leaves.js';
import { LeafTable } from '../../src/state/leaf-table.js';
import { loaded } from '../../src/state/loaded.js';
import { MerkleMap } from '../../src/state/map/index.js';
import { ComputedNodes } from '../../src/state/value-nodes.js';
import { nativeHash, type RunOptions, runSchedule } from '../support/laws/run-schedule.js';

/** Puts a reader of leaves around the one that keeps them. */
export type Wrap = (kept: LeafReader) => LeafReader;

/** Folds every frame of a journal twice, from kept values and plans and from bytes, and holds them to each other. */
async function holdBoth(store: Store, wrap: Wrap): Promise<void> {
  const open = await store.openReadonly();
  const nodes = new ComputedNodes(open.content, nativeHash);
  const table = new LeafTable(new MerkleMap(nodes, nativeHash));
  const env = { app: programApp, hash: nativeHash, plans: new WeakMap() };
  for await (const { seq, bytes } of open.journal.read(0)) {
    const { ingress, armed } = readInputs(bytes, seq);
    const sealed = async (how: typeof env | Omit<typeof env, 'plans'>, leaves: LeafReader) => {
      const folded = await loaded(table, () => foldIngress(how, leaves, ingress));
      const named = armed.map((one) => (typeof one === 'number' ? folded.effectAt(one) : one));
      return folded.seal(named as string[]);
    };
    const { plans: _plans, ...uncached } = env;
    const fromBytes = await sealed(uncached, new DecodedLeaves(table));
    const kept = await sealed(env, wrap(table));
    assert.equal(toHex(kept.bytes), toHex(fromBytes.bytes), `frame ${seq}`);
    assert.equal(toHex(kept.bytes), toHex(bytes), `frame ${seq} of the journal`);
    for (const [i, { key, after }] of kept.changes.entries()) {
      const other = fromBytes.changes[i];
      assert.equal(key.id, other?.key.id);
      if (after === undefined) assert.equal(other?.after, undefined);
      else holdLeaf(after, other?.after, `${key.id} after frame ${seq}`);
    }
    if (ingress.kind === 'snapshot') table.rebase((await table.snapshot()).ref);
    table.apply(kept.changes);
  }
  await open.close();
}

/**
 * A kept leaf has the bytes of the other one, and is what they decode to; the state in a cell also by the order of its
 * keys, which code can see.
 */
function holdLeaf(kept: unknown, other: unknown, where: string): void {
  const bytes = encode(kept, FRAME_DEPTH_MAX);
  assert.equal(toHex(bytes), toHex(encode(other, FRAME_DEPTH_MAX)), where);
  const decoded = decode(bytes, FRAME_DEPTH_MAX);
  assert.deepEqual(kept, decoded, where);
  const [state, again] = [kept, decoded].map((leaf) => JSON.stringify((leaf as { state?: unknown }).state));
  assert.equal(state, again, where);
}

/**
 * The law for random schedules.
 *
 * @param options how the world is run; by default each of its frames is folded twice already when it is written
 */
export const keptFrames = (wrap: Wrap = (kept) => kept, options: RunOptions = {}) =>
  fc.asyncProperty(anySchedule(), async (schedule) => {
    const { store } = await runSchedule(schedule, options);
    await holdBoth(store, wrap);
  });
