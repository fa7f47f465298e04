import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth, stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { appOf, MUTANTS } from './mutants.js';
import { anyTree, playTree } from './play-tree.js';

const command = 'npx vitest run packages/agent/test/budgets';

describe('budgets, in random trees of sessions', () => {
  it('budgets hold at every call: the amounts used, set aside and reserved are at most each run’s budget [CHILD-10, LIM-11, LIM-12]', async () => {
    let launches = 0;
    let deepest = 0;
    const kept = fc.asyncProperty(anyTree, async (tree) => {
      const grown = await playTree(tree, undefined, launches % 20 === 0);
      launches += grown.launches;
      deepest = Math.max(deepest, grown.deepest);
    });
    await hold(kept, { numRuns: 250 / stepOf(2), seed: SEED, command });
    expect([launches > 1_000 / stepOf(2), deepest > 2]).toEqual([true, true]);
  });

  it.each(everyNth(2, Object.entries(MUTANTS)))(
    'mutant: the law finds the reducer in which %s [CHILD-10]',
    async (_what, mutant) => {
      const app = appOf(mutant);
      const broken = fc.asyncProperty(anyTree, async (tree) => {
        await playTree(tree, app);
      });
      await expect(hold(broken, { numRuns: 1_500, seed: SEED, command, shrink: false })).rejects.toThrow(
        / of \d+ when /,
      );
    },
  );
});
