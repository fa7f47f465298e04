/** What an agent hears, once it is revived, of news that it may read only by what it gained while its cell had failed. */
import type { Entity } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice } from './support/office.js';

/** The groups in which items are written; the agent is a member of some of them. */
const GROUPS = ['crew', 'den', 'eve'] as const;

const reading = (...groups: string[]) => ({
  capabilities: { memory_read: { layers: ['l1' as const, 'l2' as const], groups, visibility: ['group' as const] } },
});

/** Ann, her agent, an agent below that one, and the groups. */
async function officeOf(broadcast_eagerness: 'chatty' | 'moderate', more: object = {}) {
  const scene = await openOffice({ failing: true });
  const ann = await scene.office.human('ann');
  const boss = scene.office.entity(await agentOf(ann));
  const bot = scene.office.entity(await agentOf(boss, {}, more));
  for (const name of GROUPS) {
    const group = scene.office.group(name);
    await group.open({ culture: { broadcast_eagerness } });
    for (const { id } of [ann, boss, bot]) await group.join(id);
  }
  const write = (group: string) =>
    ann.memory.write({ type: 'note', visibility: 'group', group, content: 'Said meanwhile.' });
  return { ...scene, ann, boss, bot, write };
}

type At = Awaited<ReturnType<typeof officeOf>>;

async function itemsHeardBy(entity: Entity): Promise<readonly unknown[]> {
  const { events } = await entity.use('events_poll', {});
  return events.flatMap(({ payload }) => (payload as { readonly item_id?: string }).item_id ?? []);
}

/** How an agent gains the group `eve`: what is done before its cell fails, and meanwhile. */
interface Gain {
  readonly what: string;
  readonly before: (at: At) => Promise<unknown>;
  readonly meanwhile: (at: At) => Promise<unknown>;
}

const GAINS: readonly Gain[] = [
  {
    what: 'the last of two changes by its maker',
    before: ({ boss, bot }) => boss.capabilities(bot.id, reading()),
    meanwhile: async ({ boss, bot }) => {
      await boss.capabilities(bot.id, reading('crew', 'den'));
      await boss.capabilities(bot.id, reading('eve'));
    },
  },
  {
    what: 'the last of five changes by its maker',
    before: ({ boss, bot }) => boss.capabilities(bot.id, reading()),
    meanwhile: async ({ boss, bot }) => {
      for (const group of ['crew', 'den', 'crew', 'den', 'eve']) await boss.capabilities(bot.id, reading(group));
    },
  },
  {
    what: 'a change by its maker that comes after one by an entity further up',
    before: ({ boss, bot }) => boss.capabilities(bot.id, reading('crew', 'eve')),
    meanwhile: async ({ ann, boss, bot }) => {
      await ann.capabilities(bot.id, reading('eve'));
      for (const group of ['den', 'eve']) await boss.capabilities(bot.id, reading(group));
    },
  },
  {
    what: 'the end of the suspension of its maker',
    before: ({ ann, boss }) => ann.setStatus(boss.id, 'suspend'),
    meanwhile: ({ ann, boss }) => ann.setStatus(boss.id, 'resume'),
  },
  {
    what: 'what its maker gained',
    before: ({ ann, boss }) => ann.capabilities(boss.id, reading()),
    meanwhile: ({ ann, boss }) => ann.capabilities(boss.id, reading('eve')),
  },
];

describe('news that an agent may read only by what it gained while its cell had failed', () => {
  it.each(GAINS.flatMap((gain) => (['chatty', 'moderate'] as const).map((eagerness) => ({ ...gain, eagerness }))))(
    'a revived member of a $eagerness group hears of what was written meanwhile where $what lets it read that [SOC-129]',
    async ({ eagerness, before, meanwhile }) => {
      await using at = await officeOf(eagerness);
      await at.boss.setStatus(at.bot.id, 'activate');
      await before(at);
      await failEntity(at.world, at.bot.id);
      await meanwhile(at);
      await at.write('eve');
      await at.bot.revive();
      await at.world.pump();
      expect(await itemsHeardBy(at.bot)).toEqual(['group:eve#1']);
      expect((await at.world.verify()).unverified).toBe(0);
    },
  );
});
