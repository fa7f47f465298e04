/** What is large: many children in one answer, and many agents of one tree. */
import { type AnyAgent, defineAgent } from '@reprise/agent';
import type { World } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { TREE, trees as treesOf } from '../../src/index.js';
import { TREE_AGENTS_MAX } from '../../src/pure/contracts/bounds.js';
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

describe('calls of one answer', () => {
  it('the answers to sixty-four calls that read the tree are each given, though they are too large for one event [OWN-11]', () => {
    const texts: string[] = [];
    return forest(
      ({ n, run, step, request }) => {
        if (n !== 1 || run > 0) return complete('r');
        if (step === 0)
          return calls(...Array.from({ length: 24 }, () => ['spawn', { goal: 'g'.repeat(80), prompt: 'p' }] as const));
        if (step === 1) return calls(...Array.from({ length: 64 }, () => ['read_tree', {}] as const));
        texts.push(
          ...request.messages
            .filter(({ role }) => role === 'tool')
            .map(({ text }) => text)
            .slice(-64),
        );
        return { text: 'x' };
      },
      async ({ trees, world }) => {
        const tree = await trees.start('read', { goal: 'top' });
        expect((await tree.result()).status).toBe('complete');
        expect(texts).toHaveLength(64);
        expect(new Set(texts.map((text) => /"id":1,/.test(text)))).toEqual(new Set([true]));
        expect(texts.join('').length).toBeGreaterThan(128 * 1024);
        expect(await eventsTo(world.kernel, 'aos.agent/OwnerAnswers@1')).toBeGreaterThan(2);
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

async function eventsTo(world: World, name: string): Promise<number> {
  let found = 0;
  for await (const { seq, records } of world.frames()) {
    found += records.filter((record) => record.kind === 'event' && record.event.name === name).length;
    if (seq >= world.head.seq) return found;
  }
  return found;
}
