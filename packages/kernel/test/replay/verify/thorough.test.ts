/** Kept values and plans, and folding from bytes: what verification uses, and that they cannot tell different stories. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anySchedule, programApp } from '../../../../testkit/src/arbitraries/index.js';
import { verifyStore } from '../../../src/index.js';
import type { LeafKey } from '../../../src/pure/engine/index.js';
import { keptFrames, type Wrap } from '../../kept/kept-frames.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';
import { runSchedule } from '../../support/laws/run-schedule.js';

/** A reader that loses or changes something whenever a leaf is read: a cache that went wrong. */
const changing =
  (change: (key: LeafKey, leaf: Record<string, unknown>) => unknown): Wrap =>
  (kept) => ({
    get: <L>(key: LeafKey<L>) => {
      const leaf = kept.get(key);
      return leaf === undefined ? undefined : (change(key, leaf as never) as L);
    },
    list: (kind) => kept.list(kind),
    naming: (kind, cell) => kept.naming(kind, cell),
  });

describe(`kept values against bytes (seed ${SEED})`, () => {
  it('every frame is the same from kept values and plans as from bytes, and so is every leaf after it [RPL-29]', async () => {
    await hold(keptFrames(), { numRuns: 25, command: rerun('thorough.test.ts') });
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
    await expect(hold(keptFrames(wrap), { numRuns: 60, shrink: false, command: '' })).rejects.toThrow();
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
