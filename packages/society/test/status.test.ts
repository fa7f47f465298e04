/** The status of agents: which changes are legal, who may make them, and what comes with each. */
import { memoryPart } from 'reprise/org';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { agentOf, openOffice, refusedWith } from './support/office.js';

const DAY = 86_400_000;

describe('given an agent with agents of its own', () => {
  it('a status changes only along its table, and another change is refused with the status that it has [SOC-35]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const id = await agentOf(ann);
    expect(await refusedWith(ann.setStatus(id, 'resume'))).toBe('illegal_transition');
    expect(await refusedWith(ann.setStatus(id, 'reactivate'))).toBe('illegal_transition');
    expect((await ann.setStatus(id, 'activate')).status).toBe('active');
    expect(await refusedWith(ann.setStatus(id, 'activate'))).toBe('illegal_transition');
    expect((await ann.setStatus(id, 'suspend')).status).toBe('suspended');
    expect((await ann.setStatus(id, 'resume')).status).toBe('active');
    const { status, grace_until } = await ann.setStatus(id, 'deactivate');
    expect([status, Date.parse(grace_until ?? '') - scene.clock.wall()]).toStrictEqual(['deactivated', 7 * DAY]);
    expect(await refusedWith(ann.setStatus(id, 'suspend'))).toBe('illegal_transition');
    expect((await ann.setStatus(id, 'reactivate')).status).toBe('active');
    await scene.world.verify();
  });

  it('an agent is suspended with its parent agent unless it is autonomous, and comes back with it [CAP-7] [SOC-36]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann);
    const leader = scene.office.entity(lead);
    const [bound, free] = [await agentOf(leader, { autonomous: false }), await agentOf(leader, { autonomous: true })];
    await leader.setStatus(bound, 'activate');
    await leader.setStatus(free, 'activate');
    await ann.setStatus(lead, 'suspend');
    const statusOf = async (id: string) => (await scene.office.entity(id).state())?.status;
    expect([await statusOf(lead), await statusOf(bound), await statusOf(free)]).toStrictEqual([
      'suspended',
      'suspended',
      'active',
    ]);
    expect(await refusedWith(scene.office.entity(bound).agents())).toBe('agent_not_active');
    expect(await scene.office.entity(free).agents()).toStrictEqual({ items: [] });
    await ann.setStatus(lead, 'resume');
    expect([await statusOf(lead), await statusOf(bound), await statusOf(free)]).toStrictEqual([
      'active',
      'active',
      'active',
    ]);
    await scene.world.verify();
  });

  it('an agent ends by its time, cannot act in its time of grace, comes back by its parent with new time, and is removed after it [SOC-37] [CAP-6]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const id = await agentOf(ann, { ttl_seconds: 60 });
    const agent = scene.office.entity(id);
    await scene.clock.advance(60_000);
    expect((await agent.state())?.status).toBe('deactivated');
    expect(await refusedWith(agent.agents())).toBe('agent_not_active');
    expect(await refusedWith(ann.setStatus(id, 'reactivate'))).toBe('ttl_spent');
    expect((await ann.setStatus(id, 'reactivate', { ttl: '60s' })).status).toBe('active');
    expect(await agent.agents()).toStrictEqual({ items: [] });
    await scene.clock.advance(60_000);
    expect((await agent.state())?.status).toBe('deactivated');
    await scene.clock.advance(7 * DAY);
    expect((await agent.state())?.status).toBe('removed');
    expect(await refusedWith(ann.setStatus(id, 'reactivate', { ttl: '60s' }))).toBe('illegal_transition');
    await scene.world.verify();
  });

  it('the grace that a society states counts for every agent below its people, unless a deactivation states another time [SOC-37]', async () => {
    await using scene = await openOffice({ society: { grace: '2d' } });
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann);
    const [usual, short] = [await agentOf(scene.office.entity(lead)), await agentOf(scene.office.entity(lead))];
    const left = async (id: string, options = {}) => {
      const { grace_until } = await ann.setStatus(id, 'deactivate', options);
      return Date.parse(grace_until ?? '') - scene.clock.wall();
    };
    expect(await left(usual)).toBe(2 * DAY);
    expect(await left(short, { grace: '1m' })).toBe(60_000);
    await scene.clock.advance(2 * DAY);
    expect((await scene.office.entity(usual).state())?.status).toBe('removed');
    await scene.world.verify();
  });

  it.each([0, -1, '7 days', '400d', Number.NaN])(
    'a grace of %s is refused when the society is defined, naming the option',
    (grace) => {
      expect(() => society({ grace: grace as never })).toThrow(
        expect.objectContaining({ code: 'invalid_definition', message: expect.stringContaining('grace') }),
      );
    },
  );

  it('a suspended agent is resumed by the one that suspended it, or by one above that, and by no one below it [SOC-36]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const lead = await agentOf(ann);
    const leader = scene.office.entity(lead);
    const id = await agentOf(leader);
    await leader.setStatus(id, 'activate');
    await ann.setStatus(id, 'suspend');
    expect(await refusedWith(leader.setStatus(id, 'resume'))).toBe('not_authorized');
    expect((await ann.setStatus(id, 'resume')).status).toBe('active');
    await leader.setStatus(id, 'suspend');
    expect((await ann.setStatus(id, 'resume')).status).toBe('active');
  });

  it('a deactivated agent leaves an archive item in the private store of its parent, once for each deactivation [SOC-39]', async () => {
    await using scene = await openOffice();
    const ann = await scene.office.human('ann');
    const id = await agentOf(ann);
    const { archive_item_id } = await ann.setStatus(id, 'deactivate');
    expect(archive_item_id).toBe(`agent-archive-${id}-${scene.clock.wall()}`);
    await scene.world.pump();
    const store = scene.world.part(memoryPart()).store('private:ann');
    const [item] = await store.search('entities mentioned');
    expect(item?.summary).toContain(id);
    await scene.world.verify();
  });
});
