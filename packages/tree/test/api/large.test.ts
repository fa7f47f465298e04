/** What is large: many children in one answer, and many agents of one tree. */
import { defineAgent } from '@reprise/agent';
import { describe, expect, it } from 'vitest';
import { calls, complete, forest } from './forest.js';

describe('children of one answer', () => {
  it('of sixty-four children whose goals are too large together the first are made, and the rest is refused as data', () => {
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
  it('a tree with thirty agents starts, or is refused with the number of bytes and what to do', () => {
    const others = Array.from({ length: 29 }, (_, i) =>
      defineAgent({ name: `agent-${i}`, model: 'main', instructions: `Do part ${i}.` }),
    );
    return forest(
      () => complete('r'),
      async ({ trees }) => {
        const tree = await trees.start('many', { goal: 'top' });
        expect((await tree.result()).status).toBe('complete');
      },
      { others },
    );
  });
});
