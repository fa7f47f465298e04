import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grown } from '../../../../conformance/tree/play.js';
import type { NodeRow } from '../../src/pure/contracts/node.js';
import { treeReducer } from '../../src/pure/reducer/tree-reducer.js';

describe('runs of a tree whose sessions fail', () => {
  it('a run of which nothing more is heard counts as all that was set aside for it, where a budget bounds it, and gives it back (from the seed 39) [TREE-32]', () => {
    let counted = 0;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), (seed) => {
        const stage = grown(treeReducer, seed);
        const { unit, stated, tree } = stage.state.budget;
        for (const session of [...stage.sessions.values()].filter(({ run }) => run !== null)) {
          const n = stage.table('sessions').get(session.key) as number;
          const { reserved, run } = stage.table('nodes').get(String(n).padStart(12, '0')) as NodeRow;
          const before = stage.state.spent[unit];
          const isCounted = (stated || tree !== null) && ['live', 'waiting', 'draining'].includes(run);
          const cell = ['aos.agent/SessionReducer@1', session.key];
          stage.send({ name: 'sys/ChildFailed@1', value: { cell, code: 'threw', effect: null } });
          expect(stage.state.spent[unit] - before).toBe(isCounted ? reserved : 0);
          const nodes = stage.table('nodes');
          const rows = nodes.keys.map((at) => nodes.get(at) as NodeRow);
          expect(rows.reduce((sum, row) => sum + row.reserved, 0)).toBe(stage.state.reserved);
          if (isCounted && reserved > 0) counted++;
        }
      }),
      { seed: 39, numRuns: 80 },
    );
    expect(counted).toBeGreaterThan(10);
  });
});
