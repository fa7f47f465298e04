/** What the agents of a swarm may do once its creator may do more: as much as an agent that the creator registered itself. */
import type { Entity, SwarmManifest } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, agentWith, openOffice } from './support/office.js';

const FEW = ['memory_write_warm', 'swarm_create'];
const MORE = ['memory_search', 'memory_write_warm', 'swarm_create'];
const NOTE = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' } as const;

const scouts: SwarmManifest = {
  swarmId: 'scouts',
  goal: 'Look.',
  strategy: 'hierarchical',
  agents: [{ slot: 'scout', agent: 'worker', agentType: 'custom', capabilities: {}, count: 2 }],
};

/** A boss two below Ann, its creator of a swarm that may use few tools, an agent of that creator, and what all below it may use. */
async function openSwarm() {
  const scene = await openOffice({ failing: true, agents: [agentWith([])] });
  const ann = await scene.office.human('ann');
  const top = scene.office.entity(await agentOf(ann));
  const boss = scene.office.entity(await agentOf(top));
  const maker = scene.office.entity(await agentOf(boss));
  const own = await agentOf(maker);
  const narrow = (entity: Entity, tools: string[]) => boss.capabilities(entity.id, { capabilities: { tools } });
  await narrow(maker, FEW);
  const { created } = await maker.createSwarm({ ...scouts, coordinatorAgentId: maker.id });
  const below = [own, ...created.agents.map(({ agent_id }) => agent_id)];
  const tools = () =>
    Promise.all(
      below.map(
        async (id) => (await scene.world.kernel.rights(`cell:society/Entity@1/${id}`)).effective?.exercise.may.tool,
      ),
    );
  return { ...scene, ann, top, maker, below, narrow, tools };
}

describe('a swarm whose creator was narrowed when it made it', () => {
  it('the agents of a swarm gain and lose tools with their creator, as an agent does that it registered [SOC-128]', async () => {
    await using at = await openSwarm();
    for (const tools of [FEW, MORE, FEW, MORE]) {
      await at.narrow(at.maker, tools);
      expect(await at.tools()).toStrictEqual(at.below.map(() => tools));
    }
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it.each(['creator', 'agent of the swarm'] as const)(
    'the agents of a swarm have what their creator gained while the cell of the %s had failed, once it is revived [SOC-128]',
    async (who) => {
      await using at = await openSwarm();
      const failed = at.office.entity(who === 'creator' ? at.maker.id : (at.below[1] ?? ''));
      await failEntity(at.world, failed.id);
      await at.narrow(at.maker, MORE);
      await failed.revive();
      expect(await at.tools()).toStrictEqual(at.below.map(() => MORE));
      expect((await at.world.verify()).unverified).toBe(0);
    },
  );

  it('an agent of a swarm has what a hold on the maker of its creator kept from it, from its first call after that was lifted [SOC-128]', async () => {
    await using at = await openSwarm();
    const memory_write = { layers: ['l2' as const], groups: ['other'], visibility: ['group' as const] };
    await failEntity(at.world, at.top.id);
    await at.ann.capabilities(at.top.id, { capabilities: { memory_write } });
    await at.office.group('crew').open({ owner: 'ann' });
    await at.office.group('crew').join('ann', 'owner');
    const [own = '', worker = ''] = at.below;
    for (const id of [at.maker.id, own, worker]) await at.office.group('crew').join(id);
    const holder = `cell:society/Entity@1/${at.top.id}` as const;
    const write = async (id: string) => (await at.office.entity(id).answerTo('memory_write_warm', NOTE)).value;
    for (const id of [own, worker]) expect(await write(id)).toMatchObject({ error: 'capability_denied' });
    const [hold] = (await at.world.kernel.rights(holder)).declared?.holds ?? [];
    await at.world.kernel.command('sys/SetRights@1', { holder, hold: null, granter: hold?.[0] as `cell:${string}` });
    for (const id of [at.maker.id, own, worker]) expect(await write(id)).toMatchObject({ state: 'live' });
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it.each([0, 1, 2, 4, 8, 16, 32])(
    'the agents of a swarm have what their creator gained while the swarm was being made, %i turns after it was asked for [SOC-128]',
    async (turns) => {
      await using at = await openSwarm();
      const making = at.maker.createSwarm({ ...scouts, swarmId: 'second', coordinatorAgentId: at.maker.id });
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      const [{ created }] = await Promise.all([making, at.narrow(at.maker, MORE)]);
      const rights = async (id: string) =>
        (await at.world.kernel.rights(`cell:society/Entity@1/${id}`)).effective?.exercise.may.tool;
      for (const { agent_id } of created.agents) expect(await rights(agent_id)).toStrictEqual(MORE);
      expect(await at.tools()).toStrictEqual(at.below.map(() => MORE));
    },
  );
});
