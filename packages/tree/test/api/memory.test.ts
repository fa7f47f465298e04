/** Trees with a store: nodes search it, and store what they find when the tree may write. */
import { memoryPart } from '@reprise/org';
import { describe, expect, it } from 'vitest';
import { call, complete, forest } from './forest.js';

const SCOPE = 'project:manual';

describe('a tree with a store of memories', () => {
  it('a node finds what is stored, and stores what leads back to the task of the tree [TREE-50]', async () => {
    const seen: string[] = [];
    await forest(
      ({ step, last }) => {
        if (step > 0) seen.push(last);
        if (step === 0) return call('memory_query', { query: 'chapters' });
        if (step === 1) return call('memory_store', { text: 'The manual has three chapters.', tags: ['manual'] });
        if (step === 2) return call('memory_query', { ids: [2] });
        return complete('three');
      },
      async ({ world, trees }) => {
        const store = await world.part(memoryPart()).open(SCOPE);
        await store.store({ text: 'Chapters are numbered.', said: 'Number the chapters.' });
        const tree = await trees.start('count', { goal: 'Count the chapters.', memory: { scope: SCOPE, write: true } });
        expect((await tree.result()).text).toBe('three');
        expect(seen[0]).toContain('<quoted-said by="memory 1, score 0">\nChapters are numbered.');
        expect(seen[1]).toContain('{"id":2,"existed":false}');
        expect(seen[2]).toContain('The manual has three chapters.');
        const why = await store.why(2);
        expect(why?.chain.map(({ kind, id }) => `${kind} ${id}`)).toEqual(['memory 2', 'node 1', 'message 1']);
        expect([why?.words, why?.dangling]).toEqual(['Count the chapters.', []]);
      },
    );
  });

  it('a tree that may only read has no tool that writes, and a tree without a store has neither [TREE-50]', async () => {
    const offered: (readonly string[])[] = [];
    await forest(
      ({ request }) => {
        offered.push(request.tools.filter((name) => name.startsWith('memory_')));
        return complete('done');
      },
      async ({ trees }) => {
        await (await trees.start('reads', { goal: 'Read.', memory: { scope: SCOPE } })).result();
        await (await trees.start('plain', { goal: 'Work.' })).result();
        await (await trees.start('writes', { goal: 'Write.', memory: { scope: SCOPE, write: true } })).result();
        expect(offered).toEqual([['memory_query'], [], ['memory_query', 'memory_store']]);
      },
    );
  });

  it('a node whose rights do not name the store cannot search it [TREE-50]', async () => {
    const seen: string[] = [];
    await forest(
      ({ step, last }) => {
        if (step === 0) return call('memory_query', { query: 'chapters' });
        seen.push(last);
        return complete('done');
      },
      async ({ trees }) => {
        const rights = { may: { mem_read: ['public'] } };
        await (await trees.start('narrow', { goal: 'Read.', memory: { scope: SCOPE }, rights })).result();
        expect(seen[0]).toContain('not_permitted');
      },
    );
  });

  it('a search under way ends before any other input when the rights of its node no longer name the store [TREE-49]', async () => {
    const seen: string[] = [];
    await forest(
      ({ step, last }) => {
        if (step === 0) return call('memory_query', { query: 'chapters' });
        seen.push(last);
        return complete('done');
      },
      async ({ trees, world }) => {
        const tree = await trees.start('narrow', { goal: 'Read.', memory: { scope: SCOPE } });
        const searches = async () => (await world.kernel.pending()).map(({ kind }) => kind);
        await expect.poll(async () => (await searches()).length).toBe(1);
        expect(await tree.restrict(1, { may: { mem_read: [SCOPE] } })).toMatchObject({ status: 'accepted' });
        expect(await searches()).toHaveLength(1);
        expect(await tree.restrict(1, { may: { mem_read: ['public'] } })).toMatchObject({ status: 'accepted' });
        expect(await searches()).toEqual([]);
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(seen[0]).toContain('"code":"revoked"');
      },
      {
        more: {
          // It waits for a person who never comes.
          policy: [
            { effect: 'memory.search@1', decision: 'require_approval' },
            { effect: '*', decision: 'allow' },
          ],
        },
      },
    );
  });

  it('a store with an unusual scope is refused when the tree is started', async () => {
    await forest(
      () => complete('done'),
      async ({ trees }) => {
        await expect(trees.start('odd', { goal: 'Read.', memory: { scope: 'ö' } })).rejects.toThrow('memory.scope');
      },
    );
  });
});
