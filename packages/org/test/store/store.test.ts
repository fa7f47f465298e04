import { appOf, openAgentWorld } from '@reprise/agent';
import { memory, verifyStore } from '@reprise/kernel';
import { llmGenerateAdapter } from '@reprise/providers';
import { describe, expect, it } from 'vitest';
import { memoryPart } from '../../src/index.js';

describe('a store', () => {
  it('a store finds a memory by its words, explains it, refuses one from nowhere, and verifies', async () => {
    const store = memory();
    const world = await openAgentWorld({
      store,
      models: {},
      llm: (judge) => llmGenerateAdapter({}, { judge }),
      agents: [],
      parts: [memoryPart()],
    });
    const notes = await world.part(memoryPart()).open('public');
    expect(await notes.store({ text: 'The API limits bodies to 1 MiB.', said: 'remember that' }, { id: 'a' })).toEqual({
      id: 1,
      existed: false,
    });
    expect(await notes.store({ text: 'The API limits bodies to 1 MiB.', said: 'remember that' }, { id: 'a' })).toEqual({
      id: 1,
      existed: false,
    });
    await notes.store({ text: 'Tea is at four.', said: 'tea' });
    expect((await notes.search('limit of bodies')).map(({ id }) => id)).toEqual([1]);
    expect((await notes.why(1))?.words).toBe('remember that');
    await expect(notes.store({ text: 'x' })).rejects.toThrow('validation_error/origin');
    await world.close();
    expect((await verifyStore(await store.openReadonly(), { app: appOf([memoryPart()]) })).unverified).toBe(0);
  });

  it('a search with several tags finds the memories that have all of them, and no others', async () => {
    await using world = await openAgentWorld({
      store: memory(),
      models: {},
      llm: (judge) => llmGenerateAdapter({}, { judge }),
      agents: [],
      parts: [memoryPart()],
    });
    const notes = await world.part(memoryPart()).open('public');
    for (const tags of [['api', 'limits', 'old'], ['api'], ['limits'], []])
      await notes.store({ text: 'The API limits bodies.', said: 'remember that', tags });
    const found = async (...tags: string[]) =>
      (await notes.search('limits of bodies', { tags })).map(({ id }) => id).sort();
    expect(await found('api', 'limits')).toEqual([1]);
    expect(await found('api')).toEqual([1, 2]);
    expect(await found('api', 'new')).toEqual([]);
    expect(await found()).toEqual([1, 2, 3, 4]);
  });
});
