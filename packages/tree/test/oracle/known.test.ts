/** Schedules that showed a defect once, and are played again. */
import { expect, it } from 'vitest';
import { play } from '../../../../conformance/tree/play.js';
import type { Schedule } from '../../../../conformance/tree/schedule.js';
import { treeReducer } from '../../src/pure/reducer/tree-reducer.js';

/** A node is tried again while a question of its first run is open, and its parent asks a child that needs it. */
const CIRCLE = {
  terms: { nodes: 5, depth: 2, children: 2, parallel: 2, generations: 1, attempts: 2, asks: 1 },
  purse: { unit: 'tokens', node: null, tree: null, stated: false },
  people: 'human',
  steps: [
    ['compose', 0, 0, 0],
    ['spawn', 0, 0, 3],
    ['ask', 1, 7, 0],
    ['end', 3, 4, 0],
    ['ask', 0, 3, 0],
    ['compose', 0, 0, 0],
    ['compose', 0, 0, 0],
    ['compose', 0, 0, 0],
    ['compose', 0, 0, 0],
  ],
} as unknown as Schedule;

it('a question goes up when the node that is asked waits for the end of the one that asks [TREE-25]', () => {
  expect(play(treeReducer, CIRCLE).nodes).toBeGreaterThan(2);
});
