/** What suspends an agent: operations that fail, never what an operation answers. */
import type { FailureCode } from '@reprise/contracts';
import { defineAgent, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { type Entity, type Society, society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { memoryVault } from '../src/adapters/vault.js';

const bot = defineAgent({ name: 'bot', model: 'main', instructions: 'Work.' });

/** Ann with an active agent; the vault of keys fails once it is told to, and a model that is told to fails. */
async function openScene() {
  const state: { fails: boolean; code: FailureCode } = { fails: false, code: 'provider_error_terminal' };
  const keys = memoryVault();
  const make: typeof keys.make = (...asked) => {
    if (state.fails) throw new Error('the vault is away');
    return keys.make(...asked);
  };
  const clock = new VirtualClock();
  const part = society({ keys: { ...keys, make } });
  const main = scriptBy(() => (state.fails ? { fail: state.code } : { text: 'Done.' }));
  const world = await openWorld({ store: memory(), clock, models: { main }, agents: [bot], parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const { agent_id } = await ann.register({ agentType: 'custom', displayName: 'Bot', capabilities: {} });
  await ann.setStatus(agent_id, 'activate');
  return { world, clock, office, ann, agent: office.entity(agent_id), state };
}

const statusOf = async (agent: Entity) => (await agent.state())?.status;

const narrow = { agentType: 'custom', displayName: 'X', capabilities: {} } as const;

/** Each: an operation that is answered with a refusal, and that refusal. */
const ANSWERS: readonly (readonly [string, (agent: Entity, office: Society) => Promise<unknown>])[] = [
  ['revision_conflict', (agent) => agent.answerTo('memory_write_hot', { patch: {}, expected_version: 99 } as never)],
  ['store_unknown', (agent) => agent.answerTo('memory_validate', { item_id: `private:${agent.id}#9` } as never)],
  [
    'item_unknown',
    async (agent) => {
      await agent.memory.write({ type: 'note', visibility: 'private', content: 'x' });
      return agent.answerTo('memory_validate', { item_id: `private:${agent.id}#99` } as never);
    },
  ],
  ['agent_unknown', (agent) => agent.answerTo('agent_deactivate', { agent_id: 'e'.repeat(64) } as never)],
  ['swarm_unknown', (agent) => agent.answerTo('swarm_status', { swarm_id: 'none' } as never)],
  ['capability_denied', (agent) => agent.answerTo('memory_read_warm', { group: 'crew' } as never)],
  ['invalid_arguments', (agent) => agent.answerTo('swarm_task', { swarm_id: 'none', action: 'x' } as never)],
  [
    'capability_exceeds_parent',
    (agent) =>
      agent.answerTo('agent_register', {
        ...{ agent_type: 'custom', display_name: 'X' },
        parent_entity_id: agent.id,
        capabilities: { tools: ['memory_*', 'agent_*'] },
      } as never),
  ],
];

describe('given an active agent', () => {
  it.each(ANSWERS)('ten answers %s do not suspend it [SOC-82]', async (code, ask) => {
    const { world, ann, agent, office } = await openScene();
    await using _world = world;
    if (code === 'capability_exceeds_parent')
      await ann.capabilities(agent.id, { capabilities: { tools: ['agent_*'] } });
    for (let n = 0; n < 10; n++) {
      const answer = (await ask(agent, office)) as { readonly value: object; readonly is_error: boolean };
      expect([answer.is_error, JSON.stringify(answer.value)]).toEqual([true, expect.stringContaining(code)]);
    }
    expect(await statusOf(agent)).toBe('active');
  });

  it('five registrations of which the vault of keys fails suspend it for ten minutes [SOC-82] [SOC-35]', async () => {
    const { world, clock, agent, state } = await openScene();
    await using _world = world;
    state.fails = true;
    for (let n = 0; n < 4; n++) await agent.register(narrow).catch(() => undefined);
    expect(await statusOf(agent)).toBe('active');
    await agent.register(narrow).catch(() => undefined);
    expect(await statusOf(agent)).toBe('suspended');
    await clock.advance(10 * 60_000);
    expect(await statusOf(agent)).toBe('active');
  });

  it('five runs that fail by their model suspend it [SOC-82]', async () => {
    const { world, agent, state } = await openScene();
    await using _world = world;
    state.fails = true;
    for (let n = 0; n < 5; n++) {
      expect(await statusOf(agent)).toBe('active');
      await (await agent.send(bot, 'Go.', { id: `g${n}` })).result().catch(() => undefined);
    }
    expect(await statusOf(agent)).toBe('suspended');
  });

  it.each(['provider_error_retryable/rate_limited', 'provider_error_terminal/quota'] as const)(
    'one run whose model is refused with %s suspends it at once, until it has cooled down [SOC-127]',
    async (code) => {
      const { world, clock, agent, state } = await openScene();
      await using _world = world;
      state.code = code;
      state.fails = true;
      await (await agent.send(bot, 'Go.')).result().catch(() => undefined);
      expect(await agent.state()).toMatchObject({ status: 'suspended', reason: 'rate_limit' });
      await clock.advance(10 * 60_000);
      expect(await agent.state()).toMatchObject({ status: 'active', reason: 'cooled_down' });
      expect((await world.verify()).unverified).toBe(0);
    },
  );

  it('five failures over more than ten minutes do not suspend it [SOC-82]', async () => {
    const { world, clock, agent, state } = await openScene();
    await using _world = world;
    state.fails = true;
    for (let n = 0; n < 8; n++) {
      await agent.register(narrow).catch(() => undefined);
      await clock.advance(150_000);
    }
    expect(await statusOf(agent)).toBe('active');
  });
});
