import { defineAgent, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { groupTools, society } from 'reprise/society';
import { describe, expect, it } from 'vitest';

const notes = { group: 'crew', type: 'note', visibility: 'group' };

describe('the tools of group memory in a session', () => {
  it('a model shares an item with its group, and another judges it by tools that its capabilities name [SOC-44]', async () => {
    const part = society();
    const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Note.', tools: [...groupTools] });
    const main = script(
      { calls: [{ tool: 'memory_write_warm', args: { ...notes, content: 'Bodies have 1 MiB.' } }] },
      { text: 'Shared.' },
      { calls: [{ tool: 'memory_assess', args: { item_id: 'group:crew#1', verdict: 'wrong', basis: 'user' } }] },
      ({ last }) => ({ text: last }),
      { calls: [{ tool: 'memory_write_warm', args: { ...notes, content: 'More.' } }] },
      ({ last }) => ({ text: last }),
    );
    await using world = await openWorld({ store: memory(), models: { main }, agents: [clerk], parts: [part] });
    const office = world.part(part);
    const ann = await office.human('ann');
    const crew = office.group('crew');
    await crew.open();
    await crew.join('ann');
    const bot = async (tools: readonly string[]) => {
      const capabilities = { tools: [...tools] };
      const { agent_id } = await ann.register({ agentType: 'custom', displayName: 'Bot', capabilities });
      await crew.join(agent_id);
      return office.entity(agent_id);
    };
    const [writer, judge] = [await bot(['memory_write_warm']), await bot(['memory_assess'])];
    const said = async (entity: typeof writer, words: string) => (await entity.send(clerk, words)).text();
    await said(writer, 'Share it.');
    const { items } = await ann.use('memory_read_warm', { item_id: 'group:crew#1' });
    expect(items[0]).toMatchObject({ author: writer.id, content: 'Bodies have 1 MiB.' });
    expect(await said(judge, 'Judge it.')).toContain('"observations":1');
    expect(await judge.trust(writer.id)).toMatchObject({ observations: 1, accuracy: 0 });
    expect(await said(judge, 'Share more.')).toContain('capability_denied');
    expect((await ann.use('memory_read_warm', { group: 'crew' })).items.length).toBe(1);
    await world.verify();
  });
});
