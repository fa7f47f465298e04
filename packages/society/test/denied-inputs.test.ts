/** Inputs for sessions of entities that the gate denies: the message is answered, and nobody waits for it. */
import { AGENT_POLICY } from '@reprise/agent';
import type { PolicyRule } from '@reprise/contracts';
import { defineAgent, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';

const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.' });

describe('given a policy that denies inputs of an entity for its session', () => {
  it.each([
    ['the first input', 'aos.agent/SessionReducer@1/ann/helper#aos.agent/UserInput@1'],
    ['the definition of a new session', 'aos.agent/SessionReducer@1/ann/helper#aos.agent/AgentAdopted@1'],
  ])('%s is answered with the denial, and so is the next one [SOC-65]', async (_, send) => {
    const part = society();
    const policy: PolicyRule[] = [{ send, decision: 'deny' }, ...AGENT_POLICY];
    const models = { main: scriptBy(() => ({ text: 'Yes.' })) };
    await using world = await openWorld({ store: memory(), models, agents: [helper], policy, parts: [part] });
    const ann = await world.part(part).human('ann');
    for (let n = 0; n < 2; n++)
      await expect(ann.send(helper, 'Hello?')).rejects.toMatchObject({ code: 'policy_denied' });
    expect((await world.verify()).unverified).toBe(0);
  });
});
