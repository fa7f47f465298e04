/** Stored definitions that a world keeps: they are forgotten when content is erased. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { foundBy } from '../../../../conformance/broken-build.js';
import { holdStoredAgents } from './kept-agents.js';

describe('stored definitions that are kept', () => {
  it('an agent whose instructions were erased is stored again [RPL-29]', async () => {
    await holdStoredAgents();
  });

  it('mutant: a build that keeps a definition over an erasure is found [RPL-29]', async () => {
    const found = await foundBy(path.join(import.meta.dirname, 'kept-agents.ts'), 'holdStoredAgents', {
      file: path.join(import.meta.dirname, '../../src/define/store-agent.ts'),
      from: 'known?.erased === erased',
      to: 'known !== undefined',
    });
    expect(found).toMatch(/erased/);
  });
});
