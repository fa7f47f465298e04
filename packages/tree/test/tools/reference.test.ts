/** The reference page of trees names all that the contracts hold. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { treeLimits } from '../../src/pure/contracts/index.js';
import { NODE_STATUSES, NODE_TOOLS, TREE_LIMITS, TREE_REFUSALS, TREE_STATUSES } from '../../src/pure/index.js';

const page = readFileSync(new URL('../../../../docs/reference/trees.md', import.meta.url), 'utf8');

describe('the reference page of trees', () => {
  it.each([
    ['tools', NODE_TOOLS],
    ['refusals', TREE_REFUSALS],
    ['states', [...NODE_STATUSES, ...TREE_STATUSES]],
  ])('the page names all %s', (_, names) => {
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('the page names the bounds that hold', () => {
    expect(TREE_LIMITS.nodes).toBe(1_000);
    expect(page).toContain(`1,000 nodes, depth ${TREE_LIMITS.depth}`);
    expect(page).toContain('at most 20,000 nodes');
    expect(treeLimits.shape.nodes.safeParse(20_000).success).toBe(true);
    expect(treeLimits.shape.nodes.safeParse(20_001).success).toBe(false);
  });
});
