/** Ends of time of agents whose makers have failed. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice } from './support/office.js';

const DAY = 86_400_000;

describe('an agent whose time ends while the cell of its maker has failed', () => {
  it.each([
    ['deactivated', 60_000],
    ['removed', 3 * DAY],
  ] as const)(
    'an agent that was %s then has no rights that end, and stands in its groups as it would have, once its maker is revived [SOC-120]',
    async (status, wait) => {
      await using scene = await openOffice({ failing: true, society: { grace: '2d' } });
      const { office, world } = scene;
      const ann = await office.human('ann');
      const boss = office.entity(await agentOf(ann));
      const bot = office.entity(await agentOf(boss, { ttl_seconds: 60 }));
      const crew = office.group('crew');
      await crew.open({ owner: 'ann' });
      await crew.join(bot.id);
      await failEntity(world, boss.id);
      await scene.clock.advance(wait);
      await world.pump();
      expect((await bot.state())?.status).toBe(status);
      await boss.revive();
      await world.pump();
      expect(Object.keys(await crew.members())).toEqual(status === 'removed' ? [] : [bot.id]);
      const { declared } = await world.kernel.rights(`cell:society/Entity@1/${bot.id}`);
      expect(declared?.exercise?.expires_at).toBeUndefined();
      expect((await boss.agents()).items.map((one) => one.status)).toEqual([status]);
      expect(await bot.state()).toMatchObject({ waits_for_maker: false, asking: null });
      expect((await world.verify()).unverified).toBe(0);
    },
  );
});

describe('an agent whose time ends', () => {
  it.each(['chatty', 'moderate'] as const)(
    'the members of its %s groups hear that it ended and was removed, whether the cell of its maker has failed or not [SOC-120]',
    async (broadcast_eagerness) => {
      const heard = [];
      for (const fails of [false, true]) {
        await using scene = await openOffice({ failing: true, society: { grace: '2d' } });
        const { office, world } = scene;
        const ann = await office.human('ann');
        const boss = office.entity(await agentOf(ann));
        const bot = office.entity(await agentOf(boss, { ttl_seconds: 60 }));
        await office.group('crew').open({ owner: 'ann', culture: { broadcast_eagerness } });
        for (const id of ['ann', bot.id]) await office.group('crew').join(id);
        if (fails) await failEntity(world, boss.id);
        for (const ms of [60_000, 2 * DAY]) await scene.clock.advance(ms);
        await world.pump();
        if (fails) await boss.revive();
        const { events } = await ann.use('events_poll', {});
        const ofBot = events.filter(({ payload }) => JSON.stringify(payload).includes(bot.id));
        heard.push(ofBot.map(({ event, payload }) => `${event} ${Reflect.get(payload as object, 'new_status') ?? ''}`));
      }
      expect(heard[0]?.slice(1)).toEqual([
        'agent.status_changed deactivated',
        'agent.status_changed removed',
        'group.member_left ',
      ]);
      expect(heard[1]).toEqual(heard[0]);
    },
  );
});

describe('an agent that its maker ends while its cell has failed', () => {
  it('the groups of a failed agent hear each change of its status once, and lose it when it is removed, whether it is ever revived or not [SOC-126]', async () => {
    await using scene = await openOffice({ failing: true, society: { grace: '2d' } });
    const { office, world } = scene;
    const ann = await office.human('ann');
    const bot = office.entity(await agentOf(ann));
    const crew = office.group('crew');
    await crew.open({ owner: 'ann' });
    for (const id of ['ben', bot.id]) {
      if (id === 'ben') await office.human(id);
      await crew.join(id);
    }
    await ann.setStatus(bot.id, 'activate');
    await failEntity(world, bot.id);
    await ann.setStatus(bot.id, 'suspend');
    await ann.setStatus(bot.id, 'deactivate');
    const heard = async () => {
      const { events } = await office.entity('ben').use('events_poll', {});
      return events.flatMap(({ payload }) => (payload as { readonly new_status?: string }).new_status ?? []);
    };
    expect(await heard()).toEqual(['active', 'suspended', 'deactivated']);
    await scene.clock.advance(2 * DAY);
    await world.pump();
    expect(Object.keys(await crew.members())).toEqual(['ben']);
    expect(await heard()).toEqual(['active', 'suspended', 'deactivated', 'removed']);
    await bot.revive();
    await world.pump();
    expect(await heard()).toEqual(['active', 'suspended', 'deactivated', 'removed']);
    expect((await bot.state())?.status).toBe('removed');
    expect((await world.verify()).unverified).toBe(0);
  });
});
