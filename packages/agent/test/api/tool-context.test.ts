/** What a tool is told of the world that it is called in. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineAgent, defineTool, type ToolContext } from '../../src/index.js';
import { play } from './scene.js';

const look = (seen: unknown[]) =>
  defineTool({
    name: 'look',
    description: 'Looks.',
    args: z.strictObject({}),
    run: async (_args, { world, session }) => {
      seen.push(
        await world.sessions({ limit: 5 }),
        await world.pending({ limit: 5 }),
        await world.usage(session.key),
        await world.usage('nobody'),
        await world.transcript(session.key, { from: 1, limit: 1 }),
        await world.transcript(session.key, { from: 0, limit: 1 }),
      );
      return 'seen';
    },
  });

describe('a tool', () => {
  it('a tool reads the sessions, pending items, usage and transcripts of its world', async () => {
    const seen: unknown[] = [];
    const agent = defineAgent({ name: 'a', model: 'main', instructions: 'x', tools: [look(seen)] });
    const steps = [{ text: 'I look.', calls: [{ id: 'c1', tool: 'look' }] }, { text: 'Done.' }];
    await play({ agents: [agent], steps }, async ({ world, settle }) => {
      await world.session('s-1', agent, { labels: { tenant: 'acme' } }).send('Look around.');
      await settle();
    });
    expect(seen).toMatchObject([
      { items: [{ session: 's-1', agent: 'a', status: 'Running', labels: { tenant: 'acme' } }] },
      [],
      { runs: 1 },
      null,
      [{ index: 1, role: 'assistant', text: 'I look.', calls: [{ call_id: 'c1', tool: 'look' }] }],
      [{ index: 0, role: 'user', origin: 'input', text: 'Look around.' }],
    ]);
  });

  it('a tool is notified that its world closes, also when its call ended long before', async () => {
    const contexts: ToolContext[] = [];
    const keep = defineTool({
      name: 'keep',
      description: 'Keeps something running.',
      args: z.strictObject({}),
      run: (_args, ctx) => {
        contexts.push(ctx);
        return 'running';
      },
    });
    const agent = defineAgent({ name: 'a', model: 'main', instructions: 'x', tools: [keep] });
    const steps = [{ calls: [{ tool: 'keep' }, { tool: 'keep' }] }, { text: 'Done.' }];
    await play({ agents: [agent], steps }, async ({ world, settle }) => {
      await world.session('s', agent).send('Go.');
      await settle();
      expect(contexts.map(({ closing }) => closing.aborted)).toEqual([false, false]);
      expect(contexts[0]?.closing).toBe(contexts[1]?.closing);
    });
    expect(contexts[0]?.closing.aborted).toBe(true);
  });
});
