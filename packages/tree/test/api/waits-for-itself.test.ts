/** A tool of a node that waits for the end of its own tree: it is told at once, where the tree would never end. */
import { defineAgent, defineTool } from '@reprise/agent';
import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Tree } from '../../src/index.js';
import { call, calls, complete, forest } from './forest.js';

describe('a node whose tool waits for its tree', () => {
  it('a tool of a node is refused the end of its own tree, and may wait for another tree [TREE-69]', async () => {
    const met: string[] = [];
    let other: Promise<Tree> | undefined;
    let own: Promise<Tree> | undefined;
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      args: z.strictObject({}),
      run: async () => {
        met.push((await (await other)?.result())?.status ?? 'none');
        return (await own)?.result().catch((error: unknown) => {
          met.push(isRepriseError(error) ? error.code : String(error));
          throw error;
        });
      },
    });
    const waiter = defineAgent({ name: 'waiter', model: 'main', instructions: 'Wait.', tools: [wait] });
    await forest(
      ({ n, step, prompt }) => {
        if (prompt.includes('Short')) return complete('All.');
        if (n === 2) return step === 0 ? call('wait', {}) : complete('Told.');
        const spawn = ['spawn', { goal: 'Wait', prompt: 'Wait', agent: 'waiter' }] as const;
        return step === 0 && !prompt.includes('Results') ? calls(spawn) : complete('Done.');
      },
      async ({ trees }) => {
        other = trees.start('other', { goal: 'Short' });
        own = trees.start('own', { goal: 'Long' });
        expect(await (await own).result()).toMatchObject({ status: 'complete' });
        expect(met).toEqual(['complete', 'waits_for_itself']);
      },
      { others: [waiter] },
    );
  });
});
