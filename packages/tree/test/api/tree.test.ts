/** Trees in real worlds, with models that answer by the node that they work for. */
import { describe, expect, it } from 'vitest';
import { complete, forest } from './forest.js';

describe('a tree in a world', () => {
  it('a node that does its work alone gives its result, and the tree is complete [TREE-1]', () =>
    forest(
      () => complete('It is a parser.'),
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'What is it?' });
        expect(await tree.result()).toMatchObject({
          status: 'complete',
          value: 'It is a parser.',
          text: 'It is a parser.',
        });
      },
    ));
});
