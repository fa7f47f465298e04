/** Members whose cells have failed and were revived: they hear of their groups again. */
import { defineAgent } from 'reprise';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice, refusedWith } from './support/office.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

describe('a member whose cell was revived', () => {
  it('A revived member of a chatty group hears of the items that are written from then on, and its next run is shown them [SOC-620]', async () => {
    const prompts: string[] = [];
    const step = ({ messages }: { readonly messages: unknown }) => {
      prompts.push(JSON.stringify(messages));
      return { text: '.' };
    };
    await using scene = await openOffice({ failing: true, agents: [worker], steps: Array(1).fill(step) });
    const { office, world } = scene;
    const [ann, ben] = [await office.human('ann'), await office.human('ben')];
    const crew = office.group('crew');
    await crew.open({ culture: { broadcast_eagerness: 'chatty' } });
    for (const id of ['ann', 'ben']) await crew.join(id);
    const write = (content: string) => ann.memory.write({ type: 'note', visibility: 'group', group: 'crew', content });
    await failEntity(world, 'ben');
    await write('Said meanwhile.');
    await ben.revive();
    await write('Said afterwards.');
    const { events } = await ben.use('events_poll', {});
    const heard = events.map(({ payload }) => (payload as { readonly item_id?: string }).item_id);
    expect(heard).toEqual(['group:crew#2']);
    await (await ben.send(worker, 'Go on.')).text();
    expect(prompts.map((prompt) => [prompt.includes('meanwhile'), prompt.includes('afterwards')])).toEqual([
      [false, true],
    ]);
    await world.verify();
  });
});

/** Ann with an agent and one below it, whose cell fails, and a group of all three. */
async function openFailed() {
  const scene = await openOffice({ failing: true });
  const { office, world } = scene;
  const ann = await office.human('ann');
  const above = office.entity(await agentOf(ann));
  const bot = office.entity(await agentOf(above));
  await ann.setStatus(bot.id, 'activate');
  const crew = office.group('crew');
  await crew.open({ owner: 'ann' });
  for (const id of ['ann', above.id, bot.id]) await crew.join(id);
  const note = { type: 'note', visibility: 'group', group: 'crew', content: 'Said to members.' } as const;
  await ann.memory.write(note);
  const { item_id } = await bot.memory.write(note);
  await bot.memory.write({ ...note, content: 'Said by an agent.' });
  await failEntity(world, bot.id);
  return { ...scene, ann, above, bot, crew, note, item_id };
}

type Failed = Awaited<ReturnType<typeof openFailed>>;

/** What happens while the cell has failed, and what the revived entity then may not do. */
const MISSED: readonly (readonly [
  string,
  (at: Failed) => Promise<unknown>,
  (at: Failed) => Promise<unknown>,
  string,
])[] = [
  [
    'was removed from a group reads it no more',
    ({ crew, bot }) => crew.leave(bot.id),
    ({ bot }) => bot.memory.list('crew'),
    'capability_denied',
  ],
  [
    'was made a viewer writes no more',
    ({ crew, bot }) => crew.join(bot.id, 'viewer'),
    ({ bot, note }) => bot.memory.write(note),
    'capability_denied',
  ],
  [
    'stands below an agent that was suspended does not act',
    ({ ann, above }) => ann.setStatus(above.id, 'suspend'),
    ({ bot }) => bot.memory.list('crew'),
    'agent_not_active',
  ],
  [
    'has fallen to a low tier writes no more',
    async ({ above, item_id, bot, ann }) => {
      await above.assess(item_id, { verdict: 'wrong', basis: 'user' });
      const judged = await ann.memory.list('crew');
      const others = judged.items.filter(({ author, item_id: id }) => author === bot.id && id !== item_id);
      for (const one of others) await above.assess(one.item_id, { verdict: 'wrong', basis: 'user' });
    },
    ({ bot, note }) => bot.memory.write(note),
    'capability_denied',
  ],
  [
    'is a member of a group in emergency mode writes nothing',
    ({ crew }) => crew.emcon(true),
    ({ bot, note }) => bot.memory.write(note),
    'emcon',
  ],
];

describe('a revived entity', () => {
  it.each(MISSED)('A revived entity that %s [SOC-621]', async (_, meanwhile, tries, reason) => {
    await using scene = await openFailed();
    await meanwhile(scene);
    await scene.bot.revive();
    expect(await refusedWith(tries(scene))).toBe(reason);
    await scene.world.verify();
  });

  it('A revived entity has the rights that its parent was given meanwhile [SOC-621]', async () => {
    await using scene = await openFailed();
    const { ann, above, bot } = scene;
    const reading = (groups: string[]) =>
      ({ capabilities: { memory_read: { layers: ['l2'], groups, visibility: ['group'] } } }) as never;
    await bot.revive();
    await ann.capabilities(above.id, reading([]));
    expect(await refusedWith(bot.memory.list('crew'))).toBe('capability_denied');
    await failEntity(scene.world, bot.id);
    await ann.capabilities(above.id, reading(['crew']));
    await bot.revive();
    expect((await bot.memory.list('crew')).items).toHaveLength(3);
    await scene.world.verify();
  });
});
