/** What the first screen says of last words. The adversary is an answer that only calls a tool. */
import { defineAgent, defineTool } from 'reprise';
import { memory } from 'reprise/kernel';
import { script, testWorld } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { nowOf } from '../src/now/index.js';

describe('the last words of a session', () => {
  it('given a session that spoke and then only called a tool, when its last words are read, then they are what it said', async () => {
    const book = defineTool({
      name: 'book',
      description: 'Books a table.',
      args: z.strictObject({ table: z.int() }),
      approval: 'always',
      run: ({ table }) => `Booked ${table}.`,
    });
    const desk = defineAgent({ name: 'desk', model: 'main', instructions: 'Book.', tools: [book] });
    const main = script({ text: 'Which table?' }, { calls: [{ tool: 'book', args: { table: 7 } }] });
    const place = memory();
    const world = await testWorld({ store: place, models: { main }, agents: [desk] });
    for (const words of ['A table, please.', 'Seven.']) {
      await world.session('evening', desk).send(words);
      await world.pump();
    }
    const store = await place.openReadonly();
    const { words, pending } = await nowOf(store);
    expect(words.map(({ of, words: said }) => [of.agent, said])).toEqual([['desk', 'Which table?']]);
    expect(pending.waiting.map(({ kind }) => kind)).toEqual(['approval']);
    await store.close();
    await world.close();
  });
});
