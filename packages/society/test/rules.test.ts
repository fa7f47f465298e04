/** Scopes that are left out, ends, commands from above, removals, private stores: what each of them means. */

import type { AgentWorld } from 'reprise';
import { defineAgent } from 'reprise';
import type { Capabilities, Entity } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice, refusedWith } from './support/office.js';

const DAY = 86_400_000;

const scope = (groups: readonly string[], visibility: readonly string[] = ['group']) =>
  ({ layers: ['l1', 'l2'], groups: [...groups], visibility: [...visibility] }) as never;

const NOTHING = { layers: [], groups: [], visibility: [] } as never;

const mayOf = async (world: AgentWorld, id: string) =>
  (await world.kernel.rights(`cell:society/Entity@1/${id}`)).effective?.exercise.may ?? {};

/** Ann, and an agent of hers that is bounded to one group. */
async function bounded(more: Capabilities = {}) {
  const scene = await openOffice({ failing: true });
  const ann = await scene.office.human('ann');
  const both = scope(['crew'], ['private', 'group']);
  const lead = scene.office.entity(await agentOf(ann, { memory_read: both, memory_write: both, ...more } as never));
  await scene.office.group('crew').open();
  return { ...scene, ann, lead };
}

describe('a scope that is left out', () => {
  it.each([
    ['only what it reads', { memory_read: scope(['crew']) }, ['read', 'write']],
    ['only what it writes', { memory_write: scope(['crew']) }, ['read', 'write']],
    ['that it reads nothing', { memory_read: NOTHING }, ['write']],
    ['that it writes nothing', { memory_write: NOTHING }, ['read']],
    ['nothing', {}, ['read', 'write']],
  ])('an agent of a bounded parent that states %s has the rest from its parent [SOC-85]', async (_, stated, sides) => {
    await using at = await bounded();
    const id = await agentOf(at.lead, stated as Capabilities);
    await at.office.group('crew').join(id);
    const { mem_read = [], mem_write = [], group = [] } = await mayOf(at.world, id);
    const has = [mem_read.includes('group:crew') ? 'read' : '', mem_write.includes('group:crew') ? 'write' : ''];
    expect(has.filter((side) => side !== '')).toEqual(sides);
    expect(group).toEqual(['crew']);
  });

  it('an agent whose lists are all empty is registered and may do nothing with tools and memory [SOC-85]', async () => {
    await using at = await bounded();
    const id = await agentOf(at.lead, { memory_read: NOTHING, memory_write: NOTHING, tools: [] });
    await at.office.group('crew').join(id);
    const may = await mayOf(at.world, id);
    expect([may.tool, may.mem_read, may.group]).toEqual([[], [`staging:${id}.*`], []]);
  });

  it('a scope that names more than the parent has is refused with the dimension, whichever of the two is named [CAP-2]', async () => {
    await using at = await bounded();
    for (const dimension of ['memory_read', 'memory_write'])
      await expect(agentOf(at.lead, { [dimension]: scope(['crew', 'other']) } as never)).rejects.toMatchObject({
        details: { reason: 'capability_exceeds_parent', actual: { dimension } },
      });
  });
});

describe('the end of an agent', () => {
  it('an agent may end exactly when its parent does, also when its seconds are rounded up, and not a second later [SOC-86]', async () => {
    await using at = await bounded({ ttl_seconds: 3_600 });
    const end = (await at.lead.state())?.expires_at;
    await at.clock.advance(1_500);
    const left = 3_599; // 3,598.5 are left
    const refusedOf = at.lead.register({
      agentType: 'custom',
      displayName: 'X',
      capabilities: { ttl_seconds: left + 1 },
    });
    await expect(refusedOf).rejects.toMatchObject({
      details: {
        reason: 'capability_exceeds_parent',
        actual: { dimension: 'ttl_seconds', asked: left + 1, allowed: left },
      },
    });
    for (const ttl_seconds of [left, left - 1]) {
      const id = await agentOf(at.lead, { ttl_seconds });
      const ends = (await at.office.entity(id).state())?.expires_at ?? 0;
      expect(ends).toBe(ttl_seconds === left ? end : at.clock.wall() + ttl_seconds * 1_000);
    }
  });

  it('an agent without a time of its own ends with its parent, also after a change that takes its own away [SOC-86] [CAP-8]', async () => {
    await using at = await bounded({ ttl_seconds: 3_600 });
    const id = await agentOf(at.lead, { ttl_seconds: 60 });
    await at.lead.capabilities(id, { capabilities: { ttl_seconds: null } });
    expect((await at.office.entity(id).state())?.expires_at).toBe((await at.lead.state())?.expires_at);
  });
});

describe('the store of a parent', () => {
  it('a claude-code agent reaches the private store of its parent only as far as the parent names it [SOC-87] [SOC-30]', async () => {
    await using at = await openOffice();
    const ann = await at.office.human('ann');
    const mine = async (capabilities: object) => {
      const { mem_read = [], mem_write = [] } = await mayOf(
        at.world,
        await agentOf(ann, capabilities as Capabilities, { agentType: 'claude-code' }),
      );
      return [mem_read.includes('private:ann'), mem_write.includes('private:ann')];
    };
    expect(await mine({})).toEqual([false, false]);
    expect(await mine({ memory_read: scope([], ['private']) })).toEqual([true, false]);
    expect(await mine({ memory_write: scope([], ['private']) })).toEqual([false, true]);
    expect(await mine({ memory_read: scope([], ['group']) })).toEqual([false, false]);
  });
});

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
const agents = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: { tools: [] }, count: 2 }];

describe('a swarm that an agent has created', () => {
  async function formed() {
    const scene = await openOffice({ agents: [scout], steps: [{ text: 'A.' }, { text: 'B.' }] });
    const ann = await scene.office.human('ann');
    const ben = await scene.office.human('ben');
    const lead = scene.office.entity(await agentOf(ann));
    const creator = scene.office.entity(await agentOf(lead));
    const manifest = { swarmId: 'crew', goal: 'Look.', strategy: 'broadcast', agents } as const;
    await creator.createSwarm(manifest as never);
    return { ...scene, ann, ben, lead, creator };
  }

  it('every entity above the creator sees the swarm, lists its agents and disbands it; others learn nothing of it [SOC-88]', async () => {
    await using at = await formed();
    for (const above of [at.creator, at.lead, at.ann]) {
      expect(await above.use('swarm_status', { swarm_id: 'crew' })).toMatchObject({ swarm_id: 'crew' });
      const { agents: rows } = await above.use('agent_list', { entity_id: at.creator.id });
      expect(rows.map(({ agent_type, parent_entity_id }) => [agent_type, parent_entity_id])).toEqual([
        ['swarm-worker', at.creator.id],
        ['swarm-worker', at.creator.id],
      ]);
    }
    expect(await refusedWith(at.ben.use('swarm_status', { swarm_id: 'crew' }))).toBe('swarm_unknown');
    expect(await refusedWith(at.ben.use('swarm_disband', { swarm_id: 'crew' }))).toBe('swarm_unknown');
    expect(await at.ann.use('swarm_disband', { swarm_id: 'crew', mode: 'delete' })).toMatchObject({
      status: 'disbanded',
    });
    const { items } = await at.creator.agents();
    expect(items.map(({ status }) => status)).toEqual(['deactivated', 'deactivated']);
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('an agent of the swarm does not disband it [SOC-88] [SOC-44]', async () => {
    await using at = await formed();
    const [worker] = (await at.creator.agents()).items;
    const asked = at.office.entity(worker?.agent_id ?? '').answerTo('swarm_disband', { swarm_id: 'crew' });
    expect(JSON.stringify((await asked).value)).toMatch(/not_authorized|agent_not_active|capability_denied/);
  });
});

describe('the removal of an agent', () => {
  /** Three agents below one another: the first without a time, and one that stands beside the last. */
  async function chain(isActive: boolean) {
    const scene = await openOffice({ failing: true });
    const ann = await scene.office.human('ann');
    const first = scene.office.entity(await agentOf(ann));
    const second = scene.office.entity(await agentOf(first, { autonomous: true }));
    const third = scene.office.entity(await agentOf(second));
    if (isActive) for (const one of [first, second, third]) await one.agents();
    return { ...scene, ann, all: [first, second, third] };
  }

  const statuses = (all: readonly Entity[]) => Promise.all(all.map(async (one) => (await one.state())?.status));

  it.each([true, false])(
    'every agent below a removed one ends, begun or not (%s), and is removed after its grace [SOC-89]',
    async (isActive) => {
      await using at = await chain(isActive);
      await at.ann.setStatus(at.all[0]?.id ?? '', 'deactivate', { grace: '60s' });
      await at.clock.advance(61_000);
      expect(await statuses(at.all)).toEqual(['removed', 'deactivated', 'deactivated']);
      await expect(at.ann.setStatus(at.all[1]?.id ?? '', 'reactivate')).rejects.toThrow();
      await at.clock.advance(8 * DAY);
      expect(await statuses(at.all)).toEqual(['removed', 'removed', 'removed']);
      expect((await at.world.verify()).unverified).toBe(0);
    },
  );

  it('agents below one that was removed end also when the clock has gone 400 days on meanwhile [SOC-89]', async () => {
    await using at = await chain(false);
    await at.ann.setStatus(at.all[0]?.id ?? '', 'deactivate');
    await at.clock.advance(400 * DAY);
    await at.clock.settle();
    for (const status of await statuses(at.all)) expect(['deactivated', 'removed']).toContain(status);
  });

  it('a failed agent that is revived after its end and removal does nothing, and neither do those below it [SOC-89] [SOC-76]', async () => {
    await using at = await chain(true);
    const [first, , third] = at.all as [Entity, Entity, Entity];
    await failEntity(at.world, first.id);
    await at.ann.setStatus(first.id, 'deactivate', { grace: '60s' });
    await at.clock.advance(61_000);
    await first.revive();
    expect(await refusedWith(first.agents())).toMatch(/capability_denied|agent_not_active/);
    expect(await refusedWith(third.agents())).toMatch(/capability_denied|agent_not_active/);
  });
});

describe('an agent that has not begun', () => {
  it('a registered agent can be suspended, does nothing then, and is active once it is resumed [SOC-90] [SOC-35]', async () => {
    await using at = await openOffice();
    const ann = await at.office.human('ann');
    const agent = at.office.entity(await agentOf(ann));
    expect((await ann.setStatus(agent.id, 'suspend')).status).toBe('suspended');
    expect(await refusedWith(agent.agents())).toBe('agent_not_active');
    expect((await ann.setStatus(agent.id, 'resume')).status).toBe('active');
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('a registered agent whose cell has failed can be suspended [SOC-90] [SOC-77]', async () => {
    await using at = await openOffice({ failing: true });
    const ann = await at.office.human('ann');
    const id = await agentOf(ann);
    await failEntity(at.world, id);
    expect(await ann.setStatus(id, 'suspend')).toMatchObject({ status: 'suspended', cell: 'failed' });
  });
});
