import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { grown } from '../../../../conformance/tree/play.js';
import { treeReducer } from '../../src/pure/reducer/tree-reducer.js';

/** With the last one, a plan of a node that only answers a question fails. */
const SEEDS = [39, 2_039, 98_100];

describe('plans of a tree that fail', () => {
  it.each(SEEDS)(
    'every plan that fails for ever has an outcome: no call is left open, and nothing is remembered of the plan (seed %i) [TREE-25]',
    (seed) => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 100_000 }), (of) => {
          const stage = grown(treeReducer, of);
          for (let failures = 0; failures < 500; failures++) {
            const [ordinal] = stage.plans.keys();
            if (ordinal === undefined) break;
            stage.plans.delete(ordinal);
            stage.send({ name: 'sys/PlanFailed@1', value: { plan: ['tree/Tree@1', 't', ordinal], code: 'boom' } });
          }
          const calls = [...stage.sessions.values()].flatMap(({ run }) => [...(run?.calls.values() ?? [])]);
          expect(stage.plans.size).toBe(0);
          expect(stage.table('plans').keys).toEqual([]);
          expect(calls).not.toContain('open');
        }),
        { seed, numRuns: 60 / stepOf(4), examples: [[98_100]] },
      );
    },
  );

  it('a tree remembers what each of its plans under way is for, and of no other plan', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), (seed) => {
        const stage = grown(treeReducer, seed);
        expect(stage.table('plans').keys.map(Number)).toEqual([...stage.plans.keys()].sort((a, b) => a - b));
      }),
      { seed: 39, numRuns: 60 / stepOf(4) },
    );
  });
});
