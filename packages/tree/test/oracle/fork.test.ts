import { describe, expect, it } from 'vitest';
import { CUT_AT, growAndFork } from '../../../../conformance/tree/fork.js';

/** As a program: `conformance/tree-fork.ts`. */
describe('forks of a tree of thirty nodes', () => {
  it('a dry fork makes every node again without a call of a model, and a live one departs where another model first answers otherwise [TREE-43]', async () => {
    const { nodes, dry, live } = await growAndFork('owner calls');
    expect(nodes).toBe(30);
    expect(dry).toEqual({ nodes: 30, missing: 0, calls: 0, isSameResult: true, unmatched: 0 });
    expect(live.departs).toMatchObject({ n: CUT_AT, launch: 1 });
    expect(live.calls).toBeGreaterThan(30);
  });

  it('a dry fork of a tree whose nodes make children by requests of a handler misses nodes', async () => {
    const { dry } = await growAndFork('handlers');
    expect(dry.missing).toBeGreaterThan(0);
    expect(dry.isSameResult).toBe(false);
  });
});
