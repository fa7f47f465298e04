/** A group whose cell has failed: what its members tell it meanwhile, it and the other members hear once it is revived. */
import { memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { expect, it } from 'vitest';
import { agentOf } from './support/office.js';

const NOTE = { type: 'note', visibility: 'group', group: 'crew' } as const;

/** A group fails of the answer of an entity that nobody has. */
function breakable(): ReturnType<typeof society> {
  const part = society();
  const reducers = (part.reducers ?? []).map((one) => ({
    ...one,
    reduce: (...given: Parameters<ReducerDefinition['reduce']>) => {
      const [, { name, value }, { address }] = given;
      const { tag = '' } = value as { readonly tag?: string };
      if (address[0] === 'society/Group@1' && name === 'sys/Reply@1' && tag.endsWith(' broken'))
        throw new Error('a defect of this test');
      return one.reduce(...given);
    },
  }));
  return { ...part, reducers };
}

async function openScene(eagerness: 'chatty' | 'moderate') {
  const part = breakable();
  const world = await openWorld({ store: memory(), models: { main: script() }, agents: [], parts: [part] });
  const office = world.part(part);
  const [ann, ben] = [await office.human('ann'), await office.human('ben')];
  const bot = office.entity(await agentOf(ben));
  const crew = office.group('crew');
  await crew.open({ owner: 'ann', culture: { broadcast_eagerness: eagerness } });
  await crew.join('ann', 'owner');
  for (const id of ['ben', bot.id]) await crew.join(id);
  const write = async (content: string) => (await bot.use('memory_write_warm', { ...NOTE, content })).item_id;
  const fail = () => crew.join('broken').catch(() => undefined);
  const revive = () => world.kernel.revive(['society/Group@1', 'crew']);
  const heard = async () => {
    const { events } = await ann.use('events_poll', { limit: 256 });
    return events.flatMap(({ event, payload }) => {
      const { item_id, new_status } = payload as { readonly item_id?: string; readonly new_status?: string };
      return event === 'memory.written' || event === 'agent.status_changed' ? [item_id ?? new_status] : [];
    });
  };
  return { world, ann, ben, bot, crew, write, fail, revive, heard };
}

it.each(['chatty', 'moderate'] as const)(
  'the members of a %s group hear once of the items, and once of the changed statuses, each in their order, that it was told while its cell had failed [SOC-137]',
  async (eagerness) => {
    const at = await openScene(eagerness);
    await using world = at.world;
    const before = await at.write('Before.');
    await at.fail();
    expect((await world.trouble()).map(({ where }) => where)).toStrictEqual([['society/Group@1', 'crew']]);
    const first = await at.write('First.');
    await at.ben.setStatus(at.bot.id, 'suspend');
    await at.ben.setStatus(at.bot.id, 'resume');
    const second = await at.write('Second.');
    await at.revive();
    const after = await at.write('After.');
    const heard = await at.heard();
    const isItem = (one = '') => one.startsWith('group:');
    expect(heard.filter(isItem)).toStrictEqual([before, first, second, after]);
    expect(heard.filter((one) => !isItem(one))).toStrictEqual(['active', 'suspended', 'active']);
    await at.fail();
    await at.revive();
    expect(await at.heard()).toHaveLength(7);
    await world.verify();
  },
);

it('more items than one delivery tells are told to a revived group, and nothing is kept afterwards [SOC-137]', async () => {
  const at = await openScene('moderate');
  await using world = at.world;
  await at.fail();
  const items: string[] = [];
  for (let n = 0; n < 70; n++) items.push(await at.write(`Item ${n}.`));
  await at.revive();
  expect((await at.heard()).filter((one) => one?.startsWith('group:'))).toStrictEqual(items);
  const untold = () => world.kernel.table(['society/Entity@1', at.bot.id], 'untold');
  expect(await untold()).toStrictEqual([]);
});

it('what the owner of a group finds of a member while the cell of the group has failed counts once it is revived [SOC-137] [SOC-83]', async () => {
  const at = await openScene('moderate');
  await using world = at.world;
  const items = [await at.write('One.'), await at.write('Two.'), await at.write('Three.')];
  await at.fail();
  for (const item_id of items) await at.ann.assess(item_id, { verdict: 'wrong', basis: 'user' });
  await at.revive();
  const { value } = await at.bot.answerTo('memory_write_warm', { ...NOTE, content: 'Four.' });
  expect(value).toMatchObject({ error: 'capability_denied' });
  await world.verify();
});

it('an agent that was removed while the cell of a group had failed is no member of it once the group is revived [SOC-137] [SOC-38]', async () => {
  const at = await openScene('moderate');
  await using world = at.world;
  await at.fail();
  await at.ben.use('agent_deactivate', { agent_id: at.bot.id, grace_seconds: 0 });
  await expect.poll(async () => (await at.bot.state())?.status).toBe('removed');
  await at.revive();
  expect(Object.keys(await at.crew.members())).toStrictEqual(['ann', 'ben']);
  await world.verify();
});
