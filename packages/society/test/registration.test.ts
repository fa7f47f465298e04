import { createHash } from 'node:crypto';
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';

import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

describe('an agent of a person', () => {
  const fetchInvoices = defineTool({
    name: 'fetch_invoices',
    description: 'Fetches the invoices of a month.',
    args: z.strictObject({ month: z.string() }),
    run: ({ month }) => ({ month, count: 3 }),
  });
  const filing = defineAgent({ name: 'filing', model: 'main', instructions: 'File invoices.', tools: [fetchInvoices] });

  it('An agent uses a tool until its parent takes the tool away, and its id is the digest of its key [SOC-6] [CAP-11]', async () => {
    const main = script(
      { calls: [{ tool: 'fetch_invoices', args: { month: 'March' } }] },
      { text: 'March has 3 invoices.' },
      { calls: [{ tool: 'fetch_invoices', args: { month: 'April' } }] },
      { text: 'I may not fetch any more.' },
    );
    const part = society();
    await using world = await openWorld({ store: memory(), models: { main }, agents: [filing], parts: [part] });
    const office = world.part(part);
    const ann = await office.human('ann');
    const bot = await ann.register(
      { agentType: 'custom', displayName: 'Filing', capabilities: { tools: ['fetch_invoices'], ttl_seconds: 3600 } },
      { id: 'filing' },
    );
    expect(bot.agent_id).toBe(createHash('sha256').update(Buffer.from(bot.public_key, 'base64')).digest('hex'));
    const agent = office.entity(bot.agent_id);
    expect(await (await agent.send(filing, 'Find March', { id: 'march' })).text()).toBe('March has 3 invoices.');
    const { effective } = await ann.capabilities(bot.agent_id, { capabilities: { tools: [] } });
    expect(effective.tools).toStrictEqual([]);
    expect(await (await agent.send(filing, 'Find April', { id: 'april' })).text()).toBe('I may not fetch any more.');
    await world.verify();
  });
});
