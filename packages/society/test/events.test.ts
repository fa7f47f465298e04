/** Events: who hears of what. */
import { describe, expect, it } from 'vitest';
import type { MemoryScope } from '../src/pure/index.js';
import { agentOf, openOffice, told, writeTo } from './support/crew.js';

interface Polled {
  readonly events: readonly { readonly event: string; readonly payload: object }[];
  readonly next: number;
  readonly dropped: number;
}

describe('the inbox of an entity', () => {
  it('an inbox has each event with its payload, and no content [SOC-40] [SOC-42]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
    const crew = at.office.group('crew');
    await crew.open({ owner: 'ann' });
    await crew.join('ann', 'owner');
    const bot = await agentOf(at.office, ben);
    await crew.join(bot.id);
    await writeTo(at, bot, 'crew', 'A marker: xyzzy.');
    await told(ann, 'memory_assess', { item_id: 'group:crew#1', verdict: 'right', basis: 'user' });
    await ben.setStatus(bot.id, 'suspend');
    await crew.leave(bot.id);
    const heard = (await told(ann, 'events_poll', {})) as Polled;
    expect(heard.events.map(({ event, payload }) => ({ event, payload }))).toStrictEqual([
      { event: 'group.member_joined', payload: { group_id: 'crew', entity_id: bot.id, role: 'member' } },
      { event: 'agent.status_changed', payload: { agent_id: bot.id, old_status: 'registered', new_status: 'active' } },
      { event: 'memory.written', payload: { item_id: 'group:crew#1', type: 'note', group_id: 'crew' } },
      { event: 'trust.score_changed', payload: { agent_id: bot.id, old_score: 650_000, new_score: 666_667 } },
      { event: 'agent.status_changed', payload: { agent_id: bot.id, old_status: 'active', new_status: 'suspended' } },
      { event: 'group.member_left', payload: { group_id: 'crew', entity_id: bot.id } },
    ]);
    expect(JSON.stringify(heard)).not.toContain('xyzzy');
    await world.verify();
  });

  it('an inbox holds the last 256 events and counts the others [SOC-42]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
    const crew = at.office.group('crew');
    await crew.open();
    for (const name of ['ann', 'ben']) await crew.join(name);
    for (let n = 0; n < 260; n++) await writeTo(at, ann, 'crew', `Item ${n}`);
    const first = (await told(ben, 'events_poll', { limit: 4 })) as Polled;
    expect([first.dropped, first.events[0], first.next]).toMatchObject([
      4,
      { payload: { item_id: 'group:crew#5' } },
      8,
    ]);
    const next = (await told(ben, 'events_poll', { after: first.next, limit: 1 })) as Polled;
    expect(next.events).toMatchObject([{ payload: { item_id: 'group:crew#9' } }]);
    expect((await world.kernel.table(ben.address, 'inbox', { limit: 256 })).length).toBe(256);
  });

  it('an entity takes subscriptions within reach only, and is silent after leaving [SOC-43] [SOC-21]', async () => {
    const at = await openOffice(['ann', 'ben', 'cem']);
    await using world = at.world;
    const [ann, ben, cem] = ['ann', 'ben', 'cem'].map((name) => at.office.entity(name)) as never as [
      never,
      never,
      never,
    ];
    const scope: MemoryScope = { layers: ['l1', 'l2'], groups: ['crew'], visibility: ['group'] };
    const bot = await agentOf(at.office, ben, { capabilities: { memory_read: scope, memory_write: scope } });
    const wanted = [
      { event: 'memory.written', group_id: 'crew' },
      { event: 'memory.written', group_id: 'others' },
    ];
    const asked = await told(ben, 'agent_capabilities', { agent_id: bot.id, subscriptions: wanted });
    expect(asked).toMatchObject({ refused_subscriptions: [wanted[1]] });
    const crew = at.office.group('crew');
    await crew.open();
    for (const id of ['ann', bot.id]) await crew.join(id);
    await writeTo(at, ann, 'crew', 'One.');
    const poll = async (of: typeof bot) => ((await told(of, 'events_poll', {})) as Polled).events.length;
    expect(await poll(bot)).toBe(1);
    await crew.leave(bot.id);
    await writeTo(at, ann, 'crew', 'Two.');
    expect([await poll(bot), await poll(cem)]).toStrictEqual([1, 0]);
    await world.verify();
  });
});
