/** Kept values and plans, and folding from bytes: what verification uses, and that they cannot tell different stories. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anySchedule, programApp } from '../../../../testkit/src/arbitraries/index.js';
import { encode, FRAME_DEPTH_MAX, type Store, verifyStore } from '../../../src/index.js';
import { readInputs } from '../../../src/ports/journal/frame.js';
import { toHex } from '../../../src/pure/codec/index.js';
import { foldIngress, type LeafKey, type LeafReader } from '../../../src/pure/engine/index.js';
import { MerkleMap } from '../../../src/run/map/index.js';
import { DecodedLeaves } from '../../../src/run/state/decoded-leaves.js';
import { LeafTable } from '../../../src/run/state/leaf-table.js';
import { loaded } from '../../../src/run/state/loaded.js';
import { ComputedNodes } from '../../../src/run/state/value-nodes.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';
import { nativeHash, runSchedule } from '../../support/laws/run-schedule.js';

type Wrap = (kept: LeafReader) => LeafReader;

const asKept: Wrap = (kept) => kept;

/** A reader that loses or changes something whenever a leaf is read: a cache that went wrong. */
const changing =
  (change: (key: LeafKey, leaf: Record<string, unknown>) => unknown): Wrap =>
  (kept) => ({
    get: <L>(key: LeafKey<L>) => {
      const leaf = kept.get(key);
      return leaf === undefined ? undefined : (change(key, leaf as never) as L);
    },
    list: (kind) => kept.list(kind),
  });

/** Folds every frame of a journal twice, from kept values and plans and from bytes, and holds them to each other. */
async function holdBoth(store: Store, wrap: Wrap): Promise<number> {
  const open = await store.openReadonly();
  const nodes = new ComputedNodes(open.content, nativeHash);
  const table = new LeafTable(new MerkleMap(nodes, nativeHash));
  const env = { app: programApp, hash: nativeHash, plans: new WeakMap() };
  let frames = 0;
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
    expect(toHex(kept.bytes), `frame ${seq}`).toBe(toHex(fromBytes.bytes));
    expect(toHex(kept.bytes), `frame ${seq} of the journal`).toBe(toHex(bytes));
    for (const [i, { key, after }] of kept.changes.entries()) {
      const other = fromBytes.changes[i];
      expect(key.id).toBe(other?.key.id);
      if (after === undefined) expect(other?.after).toBe(undefined);
      else expect(toHex(encode(after, FRAME_DEPTH_MAX))).toBe(toHex(encode(other?.after, FRAME_DEPTH_MAX)));
    }
    if (ingress.kind === 'snapshot') table.rebase((await table.snapshot()).ref);
    table.apply(kept.changes);
    frames++;
  }
  await open.close();
  return frames;
}

const lawFor = (wrap: Wrap) =>
  fc.asyncProperty(anySchedule(), async (schedule) => {
    const { store } = await runSchedule(schedule);
    await holdBoth(store, wrap);
  });

describe(`kept values against bytes (seed ${SEED})`, () => {
  it('every frame is the same from kept values and plans as from bytes, and so is every leaf after it [RPL-29]', async () => {
    await hold(lawFor(asKept), { numRuns: 25, command: rerun('thorough.test.ts') });
  });

  it.each<[string, Wrap]>([
    ['forgets the deliveries of a cell', changing(({ path }, leaf) => (path[0] === 'cell' ? { ...leaf, n: 0 } : leaf))],
    [
      'gives a log without its last item',
      changing(({ path }, leaf) =>
        path[0] === 'log' ? { ...leaf, tail: (leaf.tail as unknown[]).slice(0, -1) } : leaf,
      ),
    ],
    [
      'gives an effect that is not armed',
      changing(({ path }, leaf) => (path[0] === 'effect' ? { ...leaf, attempt: 0 } : leaf)),
    ],
  ])('mutant: a cache that %s is found', async (_, wrap) => {
    await expect(hold(lawFor(wrap), { numRuns: 60, shrink: false, command: '' })).rejects.toThrow();
  });

  it('a thorough verification gives the report of an ordinary one', async () => {
    const [schedule] = fc.sample(anySchedule(), { numRuns: 1, seed: SEED });
    const { store } = await runSchedule(schedule as never);
    const open = await store.openReadonly();
    const ordinary = await verifyStore(open, { app: programApp });
    expect(await verifyStore(open, { app: programApp, thorough: true })).toEqual(ordinary);
    expect(ordinary.unverified).toBe(0);
  });
});
