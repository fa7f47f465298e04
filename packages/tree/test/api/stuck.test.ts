/** A tree that stood still once, as the oracle found, in a real world. */
import { describe, expect, it } from 'vitest';
import { type Answers, call, calls, complete, forest } from './forest.js';

const spawn = (goal: string) => ['spawn', { goal, prompt: `Do ${goal}.` }] as const;

/** The root makes a child; the child asks it. */
const asks: Answers = ({ n, run, step }) => {
  if (n === 1) return run === 0 && step === 0 ? calls(spawn('a')) : run === 0 ? { text: 'made' } : complete('all');
  return step === 0 ? call('ask', { question: 'Which?', target: 'parent' }) : complete('mine');
};

describe('a tree that would stand still', () => {
  it('a question goes to people when the node that was asked gets no budget before the asker has its answer [TREE-25] [TREE-32]', () =>
    forest(asks, async ({ trees, world }) => {
      const budget = { node: { tokens: 100_000 }, tree: { tokens: 100_030 } };
      const tree = await trees.start('poor', { goal: 'top', budget });
      await world.pump();
      expect((await tree.asks()).map(({ asker, route }) => ({ asker, route }))).toEqual([{ asker: 2, route: [] }]);
      const [ask] = await tree.asks();
      await tree.answer(ask?.ask ?? 0, 'this one');
      expect(await tree.result()).toMatchObject({ status: 'complete' });
    }));
});
