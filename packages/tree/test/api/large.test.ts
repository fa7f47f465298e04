/** What is large: many children in one answer, and many agents of one tree. */
import { type AnyAgent, defineAgent } from '@reprise/agent';
import { describe, expect, it } from 'vitest';
import { TREE, trees as treesOf } from '../../src/index.js';
import { TREE_AGENTS_MAX } from '../../src/limits.js';
import { calls, complete, forest } from './forest.js';

describe('children of one answer', () => {
  it('the first of sixty-four children whose goals are too large together are made, and the rest is refused as data', () => {
    const goal = (i: number) => `${i} `.padEnd(490, 'goal ');
    const refusals: string[] = [];
    return forest(
      ({ n, run, step, request }) => {
        if (n !== 1 || run > 0) return complete('r');
        if (step > 0) {
          refusals.push(...request.messages.filter(({ text }) => text.includes('too_large')).map(({ text }) => text));
          return { text: 'x' };
        }
        return calls(
          ...Array.from({ length: 64 }, (_, i) => ['spawn', { goal: goal(i), prompt: `Do ${i}.` }] as const),
        );
      },
      async ({ trees }) => {
        const tree = await trees.start('wide', { goal: 'top', limits: { parallel: 64 } });
        expect((await tree.result()).status).toBe('complete');
        const children = (await tree.nodes()).filter(({ parent }) => parent === 1);
        expect(children.length).toBeGreaterThan(20);
        expect(children.length).toBeLessThan(64);
        expect(children.map((row) => row.goal.split(' ')[0])).toEqual(children.map((_, i) => String(i)));
        expect(refusals).toHaveLength(64 - children.length);
      },
    );
  });
});

describe('the agents of a tree', () => {
  const agents = (count: number, spawns: readonly AnyAgent[] = []): AnyAgent[] =>
    Array.from({ length: count }, (_, i) =>
      defineAgent({ name: `agent-${i}`, model: 'main', instructions: `Do part ${i}.`, spawns: [...spawns] }),
    );

  it('a tree of thirty-one ordinary agents starts', () =>
    forest(
      () => complete('r'),
      async ({ trees }) => {
        const tree = await trees.start('many', { goal: 'top' });
        expect((await tree.result()).status).toBe('complete');
      },
      { others: agents(30) },
    ));

  it('more agents, or agents that are too large together, are refused with what to do', async () => {
    expect(() => treesOf({ agents: agents(TREE_AGENTS_MAX + 1) })).toThrow(/at most 32 agents/);
    const helpers = agents(8).map((agent, i) => ({ ...agent, name: `helper-${i}` }));
    await forest(
      () => complete('r'),
      async ({ trees, world }) => {
        const refused = trees.start('large', { goal: 'top' });
        await expect(refused).rejects.toThrow(/too large together.*at most 65000 bytes.*fewer agents/s);
        expect(await world.kernel.state([TREE, 'large'])).toBeUndefined();
      },
      { others: agents(20, helpers) },
    );
  });
});
