/** Inputs for sessions of entities that the gate denies: the message is answered, and nobody waits for it. */
import { AGENT_POLICY } from '@reprise/agent';
import type { Address, PolicyRule } from '@reprise/contracts';
import { defineAgent, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { entityAt, l1At } from '../src/pure/contracts/cell/names.js';
import { defectiveSociety } from './support/failing.js';

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

/** The rule that lets no definition through to a session. */
const noDefinition = (session: string): PolicyRule[] => [
  { send: `aos.agent/SessionReducer@1/${session}#aos.agent/AgentAdopted@1`, decision: 'deny' },
  ...AGENT_POLICY,
];

describe('given a session that stands, and a policy that denies its next definition', () => {
  const poet = defineAgent({ name: 'poet', model: 'main', instructions: 'Help in verse.' });

  it('an input that brings the definition is answered with the denial and runs under no other, and a later one brings it again [SOC-140]', async () => {
    const store = memory();
    const ran: string[] = [];
    const main = scriptBy(({ system }) => {
      ran.push(system.split('\n', 1)[0] ?? '');
      return { text: 'Yes.' };
    });
    const under = async (policy: PolicyRule[], act: (ask: (agent: typeof helper) => Promise<string>) => unknown) => {
      const part = society();
      await using world = await openWorld({ store, models: { main }, agents: [helper, poet], policy, parts: [part] });
      const ann = await world.part(part).human('ann');
      await act(async (agent) => (await ann.send(agent, 'Hello?', { session: 'helper' })).text());
      expect((await world.verify()).unverified).toBe(0);
    };
    await under([...AGENT_POLICY], (ask) => ask(helper));
    await under(noDefinition('ann/helper'), async (ask) => {
      for (let n = 0; n < 2; n++) await expect(ask(poet)).rejects.toMatchObject({ code: 'policy_denied' });
      await ask(helper); // it has this one
    });
    expect(ran).toStrictEqual(['Help.', 'Help.']);
    await under([...AGENT_POLICY], async (ask) => {
      await ask(poet);
      await ask(helper);
    });
    expect(ran.slice(2)).toStrictEqual(['Help in verse.', 'Help.']);
  });
});

describe('given an entity that fails at the answer of a session which has taken another definition', () => {
  const poet = defineAgent({ name: 'poet', model: 'main', instructions: 'Help in verse.' });

  it('the revival refuses the input, which starts no run, and the next input runs under its own definition [SOC-140]', async () => {
    const ran: string[] = [];
    const main = scriptBy(({ system }) => {
      ran.push(system.split('\n', 1)[0] ?? '');
      return { text: 'Yes.' };
    });
    let isOver = false;
    const part = defectiveSociety(({ reducer, event, value }) => {
      const { tag = '' } = value as { readonly tag?: string };
      return !isOver && reducer === 'society/Entity@1' && event === 'sys/Reply@1' && tag.startsWith('adopted.');
    });
    const options = { store: memory(), models: { main }, agents: [helper, poet], onError: () => undefined };
    await using world = await openWorld({ ...options, policy: [...AGENT_POLICY], parts: [part] });
    const ann = await world.part(part).human('ann');
    const ask = async (agent: typeof helper, id: string) => {
      const run = await ann.send(agent, 'Hello?', { session: 'helper', id });
      return run.text();
    };
    await ask(helper, 'first');
    await expect(ask(poet, 'lost')).rejects.toMatchObject({ code: 'cell_failed' });
    isOver = true;
    await ann.revive();
    expect(await world.kernel.table(entityAt('ann'), 'adopting')).toStrictEqual([]);
    await expect(ask(poet, 'lost')).rejects.toMatchObject({ code: 'cell_failed' });
    expect(ran).toStrictEqual(['Help.']);
    await ask(helper, 'second');
    await ask(poet, 'third');
    await ask(helper, 'fourth');
    expect(ran.slice(1)).toStrictEqual(['Help.', 'Help in verse.', 'Help.']);
  });
});

describe('given a policy that denies the first definition of a session of an agent', () => {
  it('neither the hot context of the agent nor its maker counts the session as open [SOC-140]', async () => {
    const store = memory();
    const main = scriptBy(() => ({ text: 'Yes.' }));
    const opened = async (policy: PolicyRule[]) => {
      const part = society();
      const world = await openWorld({ store, models: { main }, agents: [helper], policy, parts: [part] });
      return { world, office: world.part(part), [Symbol.asyncDispose]: () => world.close() };
    };
    let id = '';
    {
      await using at = await opened([...AGENT_POLICY]);
      const ann = await at.office.human('ann');
      id = (await ann.register({ agentType: 'custom', displayName: 'Bot', capabilities: {} })).agent_id;
      await ann.setStatus(id, 'activate');
    }
    await using at = await opened(noDefinition(`${id}/helper`));
    await expect(at.office.entity(id).send(helper, 'Hello?')).rejects.toMatchObject({ code: 'policy_denied' });
    const rows = async (cell: Address, table: string) => at.world.kernel.table(cell, table);
    expect(await rows(entityAt(id), 'sessions')).toStrictEqual([]);
    expect(await rows(entityAt('ann'), 'agent_sessions')).toStrictEqual([]);
    expect(await rows(l1At(id), 'sessions')).toStrictEqual([]);
    expect((await at.world.verify()).unverified).toBe(0);
  });
});
