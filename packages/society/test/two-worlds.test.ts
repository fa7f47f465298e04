import type { ServedAnswer, WorldPart } from '@reprise/agent';
import { type AgentWorld, defineAgent, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { type Society, society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { memoryVault } from '../src/adapters/vault.js';

const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'File papers.' });

/** A world of a process that hosts several with one part, as a host of many tenants does. */
async function tenant(part: WorldPart<Society>, answer: string) {
  const main = scriptBy(() => ({ text: answer }));
  const world = await openWorld({ store: memory(), models: { main }, agents: [clerk], parts: [part] });
  return { world, ann: await world.part(part).human('ann'), office: world.part(part) };
}

/** The agents that a client of the person is shown. */
async function agentsOf(world: AgentWorld): Promise<readonly unknown[]> {
  const call = { signal: new AbortController().signal };
  const answers = world.served.map((part) => part.call(world.kernel.as('human:ann'), 'agent_list', {}, 'list', call));
  const [answer] = (await Promise.all(answers)) as [ServedAnswer];
  return (answer.structured as unknown as { readonly agents: readonly unknown[] }).agents;
}

describe('two worlds with the same part', () => {
  it('sessions, calls of clients and keys of one world stay there when another world is opened after it [SOC-5] [SOC-44]', async () => {
    const keys = memoryVault();
    const part = society({ keys });
    const first = await tenant(part, 'first');
    const second = await tenant(part, 'second');
    await using one = first.world;
    await using two = second.world;

    const { agent_id } = await first.ann.register({ agentType: 'custom', displayName: 'Clerk', capabilities: {} });
    expect(await (await first.office.entity(agent_id).send(clerk, 'Hello')).text()).toBe('first');
    expect(await keys.list(one.kernel.id)).toHaveLength(1);
    expect(await keys.list(two.kernel.id)).toHaveLength(0);

    expect(await agentsOf(one)).toHaveLength(1);
    expect(await agentsOf(two)).toHaveLength(0);
    await one.verify();
    await two.verify();
  });
});
