/** How agents end and come back, as clients see it: grace, archives, removal with all below, and who stands above. */
import { defineAgent } from 'reprise';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../../conformance/society/failing.js';
import { agentAs, type Caller, openServed, registered } from './support.js';

const HOUR_S = 3_600;
const DAY = 86_400_000;
const note = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' };

/** Agents one below the other, of which the first is a member of a group, each with a client. */
async function chainOf(length: number) {
  const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [] });
  const at = await openServed({ agents: [worker] });
  for (const name of ['ann', 'ben']) await at.office.human(name);
  const ann = await at.as('human:ann');
  const ids: string[] = [];
  const clients: Caller[] = [];
  for (let n = 0; n < length; n++) {
    const id = await registered(clients.at(-1) ?? ann, ids.at(-1) ?? 'ann');
    ids.push(id);
    clients.push(await at.as(agentAs(id)));
  }
  const crew = at.office.group('crew');
  await crew.open({ owner: 'ann' });
  await crew.join('ann', 'owner');
  await crew.join(ids[0] ?? '');
  const statusOf = async (id = '') => (await at.office.entity(id).state())?.status;
  const people = async () => [await at.as('human:ann'), await at.as('human:ben')] as const;
  return { ...at, ann, ben: await at.as('human:ben'), people, crew, ids, clients, statusOf };
}

type Chain = Awaited<ReturnType<typeof chainOf>>;

const statusesIn = ({ data }: { readonly data: { readonly agents: readonly { readonly status: string }[] } }) =>
  data.agents.map(({ status }) => status);

describe('an agent that is deactivated', () => {
  it('a deactivated agent does nothing, keeps its hot context for seven days, and comes back by its parent alone with its trust [SOC-37] [SOC-23]', async () => {
    await using at = await chainOf(1);
    const [id = ''] = at.ids;
    const [bot] = at.clients as [Caller];
    await bot.call('memory_write_hot', { patch: { active: { file: 'a.ts' } }, expected_version: 1 });
    const { data: item } = await bot.call('memory_write_warm', note);
    const { data: trust } = await at.ann.call('memory_assess', {
      item_id: item.item_id,
      verdict: 'right',
      basis: 'user',
    });
    const { data: ended } = await at.ann.call('agent_deactivate', { agent_id: id });
    expect(Date.parse(ended.grace_until) - at.clock.wall()).toBe(7 * DAY);
    await expect(bot.call('memory_read_hot')).rejects.toThrow(/valid token/);
    await at.clock.advance(7 * DAY - 1);
    const back = { agent_id: id, to: 'reactivate' };
    const [ann, ben] = await at.people(); // tokens end after an hour
    expect((await ben.call('agent_set_status', back)).data.error).toBe('agent_unknown');
    expect((await ann.call('agent_set_status', back)).data.status).toBe('active');
    const again = await at.as(agentAs(id));
    expect((await again.call('memory_read_hot')).data.active).toStrictEqual({ file: 'a.ts' });
    const { data: same } = await ann.call('memory_assess', {
      item_id: item.item_id,
      verdict: 'right',
      basis: 'user',
    });
    expect([same.score, same.observations]).toStrictEqual([trust.score, 1]);
  });

  it('a removed agent leaves its group and its key, keeps its trust, ends all agents below it, and none comes back [SOC-38] [SOC-89] [SOC-23]', async () => {
    await using at = await chainOf(3);
    const [first = '', second = '', third = ''] = at.ids;
    const [bot] = at.clients as [Caller];
    const { data: item } = await bot.call('memory_write_warm', note);
    await at.ann.call('memory_assess', { item_id: item.item_id, verdict: 'right', basis: 'user' });
    await at.ann.call('agent_deactivate', { agent_id: first, grace_seconds: HOUR_S });
    expect(await at.statusOf(third)).not.toBe('deactivated');
    await at.clock.advance(HOUR_S * 1_000);
    await at.clock.settle();
    const [ann] = await at.people();
    expect(statusesIn((await ann.call('agent_list')) as never)).toStrictEqual(['removed']);
    for (const id of [second, third]) expect(await at.statusOf(id)).toBe('deactivated');
    for (const agent_id of [first, second, third]) {
      const { isError } = await ann.call('agent_set_status', { agent_id, to: 'reactivate' });
      expect([agent_id, isError]).toStrictEqual([agent_id, true]);
      await expect(at.as(agentAs(agent_id))).rejects.toThrow();
    }
    expect(Object.keys(await at.crew.members())).toStrictEqual(['ann']);
    const { data: judged } = await ann.call('memory_assess', {
      item_id: item.item_id,
      verdict: 'right',
      basis: 'user',
    });
    expect(judged.observations).toBe(1);
    await at.clock.advance(8 * DAY);
    await at.clock.settle();
    for (const id of [second, third]) expect(await at.statusOf(id)).toBe('removed');
    expect(await at.keys.list(at.world.kernel.id)).toStrictEqual([]);
  });

  it('an agent that was registered and has not begun is suspended by a client, does nothing, and is active once it is resumed [SOC-90]', async () => {
    await using at = await chainOf(1);
    const [agent_id] = at.ids;
    const [bot] = at.clients as [Caller];
    expect((await at.ann.call('agent_set_status', { agent_id, to: 'suspend' })).data.status).toBe('suspended');
    expect((await bot.call('memory_read_hot')).data.error).toBe('agent_not_active');
    expect((await at.ann.call('agent_set_status', { agent_id, to: 'resume' })).data.status).toBe('active');
    expect((await bot.call('memory_read_hot')).isError).toBe(false);
  });
});

describe('who stands above', () => {
  it('every entity above the creator of a swarm reads it, lists its agents and ends it by its client; another person learns nothing of it [SOC-88] [SOC-44]', async () => {
    await using at = await chainOf(2);
    const [parent, creator] = at.clients as [Caller, Caller];
    const slot = { slot: 'worker', agent_type: 'swarm-worker', capabilities: { tools: ['memory_*'] }, count: 2 };
    const manifest = { swarm_id: 'markets', goal: 'Compare', strategy: 'hierarchical', agents: [slot] };
    const { data: made } = await creator.call('swarm_create', { ...manifest, coordinator_agent_id: at.ids[1] });
    const swarm = { swarm_id: 'markets' };
    for (const { call } of [creator, parent, at.ann]) {
      expect((await call('swarm_status', swarm)).data.agents).toHaveLength(2);
      const { data } = await call('agent_list', { entity_id: at.ids[1] });
      expect(
        data.agents.map(({ agent_type, parent_entity_id }: Record<string, string>) => [agent_type, parent_entity_id]),
      ).toStrictEqual([1, 2].map(() => ['swarm-worker', at.ids[1]]));
    }
    for (const [tool, args] of [
      ['swarm_status', swarm],
      ['swarm_disband', swarm],
      ['swarm_task', { ...swarm, action: 'collect' }],
    ] as const)
      expect([tool, (await at.ben.call(tool, args)).data.error]).toStrictEqual([tool, 'swarm_unknown']);
    expect((await at.ben.call('agent_list', { entity_id: at.ids[1] })).data.error).toBe('agent_unknown');
    const { data: ended } = await parent.call('swarm_disband', { ...swarm, mode: 'delete' });
    expect([ended.status, [...ended.deactivated].sort()]).toStrictEqual([
      'disbanded',
      made.agents.map(({ agent_id }: { agent_id: string }) => agent_id).sort(),
    ]);
    const { data: after } = await at.ann.call('agent_list', { entity_id: at.ids[1], status: ['deactivated'] });
    expect(after.agents).toHaveLength(2);
  });

  it('an entity above registers, narrows and ends an agent further below; one beside it hears that it is unknown [SOC-4] [CAP-11] [SOC-44]', async () => {
    await using at = await chainOf(2);
    const [, id] = at.ids;
    const beside = await at.as(agentAs(await registered(at.ann, 'ann')));
    const calls = [
      ['agent_capabilities', { agent_id: id, capabilities: { tools: ['memory_*'] } }],
      ['agent_set_status', { agent_id: id, to: 'suspend' }],
      ['agent_deactivate', { agent_id: id }],
    ] as const;
    for (const { call } of [beside, at.ben])
      for (const [tool, args] of calls)
        expect([tool, (await call(tool, args)).data.error]).toStrictEqual([tool, 'agent_unknown']);
    for (const [tool, args] of calls)
      expect([tool, (await at.ann.call(tool, args)).isError]).toStrictEqual([tool, false]);
    expect(await at.statusOf(id)).toBe('deactivated');
  });
});

describe('a swarm whose coordinator existed before it', () => {
  it.each([
    ['its creator deactivates it', {}, ({ ann }: Chain, id: string) => ann.call('agent_deactivate', { agent_id: id })],
    ['its time is over', { ttl_seconds: 60 }, ({ clock }: Chain) => clock.advance(60_000)],
  ])(
    'a swarm fails when the cell of its coordinator has failed and %s, and its creator reads why [SOC-63] [SOC-77]',
    async (_, capabilities, end) => {
      await using at = await chainOf(1);
      const [parent] = at.clients as [Caller];
      const lead = await registered(parent, at.ids[0] ?? '', capabilities);
      const slot = { slot: 'worker', agent_type: 'swarm-worker', capabilities: {}, count: 1 };
      const manifest = { swarm_id: 'markets', goal: 'Compare', strategy: 'hierarchical', agents: [slot] };
      await (await at.as(agentAs(lead))).call('memory_read_hot');
      await at.ann.call('swarm_create', { ...manifest, coordinator_agent_id: lead });
      await failEntity(at.world, lead);
      expect((await at.ann.call('swarm_status', { swarm_id: 'markets' })).data.status).toBe('executing');
      await end(at, lead);
      const { data } = await at.ann.call('swarm_status', { swarm_id: 'markets' });
      expect(data).toMatchObject({ status: 'failed', code: 'coordinator/deactivated' });
      expect(statusesIn({ data })).toStrictEqual(['deactivated']);
    },
  );
});
