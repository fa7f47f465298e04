/** What members are shown of items that others wrote: by news, boards, inboxes and resources, and never more than they may read. */
import { defineAgent, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type AgentRegister, type Entity, society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import type { CultureIn } from '../src/index.js';
import { writeTo } from './support/crew.js';
import { agentOf } from './support/office.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** A group of Ann and one agent of hers, whose prompts are kept. */
async function openCrew(culture: CultureIn, more: Partial<AgentRegister> = {}) {
  const prompts: string[] = [];
  const step = ({ messages }: { readonly messages: unknown }) => {
    prompts.push(JSON.stringify(messages));
    return { text: '.' };
  };
  const part = society();
  const clock = new VirtualClock();
  const models = { main: script(...Array(8).fill(step)) };
  const world = await openWorld({ store: memory(), clock, models, agents: [worker], parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const crew = office.group('crew');
  await crew.open({ owner: 'ann', culture });
  await crew.join('ann', 'owner');
  const bot = office.entity(await agentOf(ann, (more.capabilities ?? {}) as never, more));
  await crew.join(bot.id);
  return { world, office, clock, ann, bot, crew, prompts };
}

type Crew = Awaited<ReturnType<typeof openCrew>>;

const EMPTY: NonNullable<AgentRegister['capabilities']['memory_read']> = {
  layers: ['l1', 'l2'],
  groups: [],
  visibility: ['private', 'group', 'public'],
};

/** How an agent that is a member comes to read nothing of its group. */
const WAYS: readonly (readonly [string, Partial<AgentRegister>, (at: Crew) => Promise<unknown>])[] = [
  ['was narrowed', {}, ({ ann, bot }) => ann.capabilities(bot.id, { capabilities: { memory_read: EMPTY } })],
  ['has a low tier', {}, ({ ann, bot, office }) => wrongTwice(office, ann, bot)],
  ['was registered with no group to read', { capabilities: { memory_read: EMPTY } }, async () => undefined],
];

/** Ann judges two items of the agent in another group: its tier falls to low. */
async function wrongTwice(office: Crew['office'], ann: Entity, bot: Entity): Promise<void> {
  const judged = office.group('judged');
  await judged.open({ owner: 'ann', culture: { broadcast_eagerness: 'taciturn' } });
  for (const id of ['ann', bot.id]) await judged.join(id);
  for (const text of ['One.', 'Two.']) {
    const { item_id = '' } = await writeTo(undefined as never, bot, 'judged', text);
    await ann.assess(item_id, { verdict: 'wrong', basis: 'user' });
  }
}

async function polled(entity: Entity): Promise<string> {
  return JSON.stringify((await entity.answerTo('events_poll', {})).value);
}

async function inboxRead({ world, bot }: Crew): Promise<string> {
  const bytes = await world.served[0]?.resources?.[0]?.read(
    world.kernel.as(`cell:society/Entity@1/${bot.id}`),
    `society://inbox/${bot.id}`,
  );
  return new TextDecoder().decode(bytes);
}

describe('given a member of a group that may not read its store', () => {
  it.each((['chatty', 'moderate'] as const).flatMap((eagerness) => WAYS.map((way) => [eagerness, ...way] as const)))(
    'news of items reaches neither a prompt nor the inbox of a member in a %s group that %s [SOC-91] [SOC-92]',
    async (broadcast_eagerness, _way, more, make) => {
      const at = await openCrew({ broadcast_eagerness }, more);
      await using world = at.world;
      await (await at.bot.send(worker, 'Begin.')).text();
      await make(at);
      await writeTo(at as never, at.ann, 'crew', 'canary-1');
      await at.clock.advance(0);
      await (await at.bot.send(worker, 'Go on.')).text();
      expect(at.prompts).toHaveLength(2);
      expect(at.prompts.join()).not.toContain('canary-1');
      expect(await polled(at.bot)).not.toContain('group:crew#1');
      expect(await inboxRead(at)).not.toContain('group:crew#1');
      await world.verify();
    },
  );

  it('what the entity was shown stays, and what comes after the narrowing is not shown [SOC-92]', async () => {
    const at = await openCrew({ broadcast_eagerness: 'moderate' });
    await using world = at.world;
    await writeTo(at as never, at.ann, 'crew', 'canary-1');
    await (await at.bot.send(worker, 'Begin.')).text();
    await WAYS[0]?.[2](at);
    await writeTo(at as never, at.ann, 'crew', 'canary-2');
    await (await at.bot.send(worker, 'Go on.')).text();
    expect(at.prompts.map((prompt) => ['canary-1', 'canary-2'].map((text) => prompt.includes(text)))).toStrictEqual([
      [true, false],
      [true, false],
    ]);
    await world.verify();
  });

  it('an event that the entity polled does not show the words of its item after the narrowing [SOC-92]', async () => {
    const at = await openCrew({ broadcast_eagerness: 'moderate' });
    await using world = at.world;
    await writeTo(at as never, at.ann, 'crew', 'canary-1');
    expect(await polled(at.bot)).toContain('group:crew#1');
    await WAYS[0]?.[2](at);
    await (await at.bot.send(worker, 'Begin.')).text();
    expect(at.prompts.join()).not.toContain('canary-1');
    expect(await polled(at.bot)).toContain('group:crew#1');
    await world.verify();
  });

  it('the follower of an inbox is not told from the journal what its entity might not read [SOC-91]', async () => {
    const heard = async (narrowed: boolean) => {
      const at = await openCrew({ broadcast_eagerness: 'taciturn' });
      await using _world = at.world;
      if (narrowed) await WAYS[0]?.[2](at);
      for (let n = 0; n < 258; n++) await writeTo(at as never, at.ann, 'crew', `canary-${n}`);
      await polled(at.bot); // two have left the board unread
      await at.crew.leave('ann');
      let items = 0;
      for await (const { event } of at.bot.inbox()) {
        if (event === 'memory.written') items++;
        if (event === 'group.member_left') break;
      }
      return items;
    };
    expect([await heard(false), await heard(true)]).toStrictEqual([258, 0]);
  });

  it('a person learns nothing of items in the stores of others by judging them [SOC-96]', async () => {
    const at = await openCrew({ broadcast_eagerness: 'taciturn' });
    await using world = at.world;
    const eve = await at.office.human('eve');
    await writeTo(at as never, at.bot, 'crew', 'canary-1');
    await at.bot.memory.write({ type: 'note', content: 'canary-2', visibility: 'private' });
    for (const item_id of ['group:crew#1', `private:${at.bot.id}#1`]) {
      const { value } = await eve.answerTo('memory_assess', { item_id, verdict: 'wrong', basis: 'user' });
      expect(value).toStrictEqual({ error: 'capability_denied', detail: 'visibility' });
    }
    expect(
      await at.ann.answerTo('memory_assess', { item_id: 'group:crew#1', verdict: 'right', basis: 'user' }),
    ).toMatchObject({
      is_error: false,
    });
    await world.verify();
  });

  it('a connected client is not told of items that its entity may not read [SOC-91]', async () => {
    for (const broadcast_eagerness of ['chatty', 'moderate'] as const) {
      const at = await openCrew({ broadcast_eagerness });
      await using world = at.world;
      await WAYS[0]?.[2](at);
      const before = world.kernel.head.seq;
      await writeTo(at as never, at.ann, 'crew', 'canary-1');
      const uris: string[] = [];
      for await (const frame of world.kernel.frames(before + 1)) {
        uris.push(...((await world.served[0]?.resources?.[0]?.changed?.(frame)) ?? []));
        if (frame.seq === world.kernel.head.seq) break;
      }
      expect(uris).not.toContain(`society://inbox/${at.bot.id}`);
    }
  });
});

describe('given a member that may read the store of its group', () => {
  it('erasing an item removes its words from prompts that were shown them [SOC-93]', async () => {
    for (const broadcast_eagerness of ['chatty', 'moderate'] as const) {
      const at = await openCrew({ broadcast_eagerness });
      await using world = at.world;
      await (await at.bot.send(worker, 'Begin.')).text();
      await writeTo(at as never, at.ann, 'crew', 'canary-1');
      await (await at.bot.send(worker, 'Go on.')).text();
      expect(at.prompts[1]).toContain('canary-1');
      const [[, item]] = (await world.kernel.table(['memory/Store@1', 'group:crew'], 'items')) as never as [
        [string, { readonly content_ref: never; readonly summary_ref: never }],
      ];
      await world.kernel.erase({ refs: [item.content_ref, item.summary_ref] });
      await (await at.bot.send(worker, 'Once more.')).text();
      expect(at.prompts[2]).not.toContain('canary-1');
      await world.verify();
    }
  });

  it('an item that members were shown unasked was not used [MEM-8]', async () => {
    const at = await openCrew({ broadcast_eagerness: 'moderate' });
    await using world = at.world;
    await writeTo(at as never, at.ann, 'crew', 'canary-1');
    await (await at.bot.send(worker, 'Begin.')).text();
    expect(at.prompts.join()).toContain('canary-1');
    const uses = async () =>
      (await world.kernel.table(['memory/Store@1', 'group:crew'], 'items')).map(
        ([, item]) => (item as { uses: number }).uses,
      );
    expect(await uses()).toStrictEqual([0]);
    await at.bot.memory.read('group:crew#1');
    expect(await uses()).toStrictEqual([1]);
  });

  it('events and facts of news link no text [SOC-93]', async () => {
    const at = await openCrew({ broadcast_eagerness: 'chatty' });
    await using world = at.world;
    await writeTo(at as never, at.ann, 'crew', 'canary-1');
    const names = ['society/Wrote@1', 'flow/Publish@1', 'flow/Published@1', 'society/Noticed@1', 'society/Posted@1'];
    const found: string[] = [];
    for await (const { seq, records } of world.kernel.frames(0)) {
      for (const record of records) {
        if (record.kind === 'event' && names.includes(record.event.name))
          found.push(JSON.stringify(record.event.value));
        if (record.kind === 'fact' && names.includes(record.name)) found.push(JSON.stringify(record.value));
      }
      if (seq === world.kernel.head.seq) break;
    }
    expect(found.some((text) => text.includes('group:crew#1'))).toBe(true);
    expect(found.filter((text) => /sha256|_ref/.test(text))).toStrictEqual([]);
  });

  it('what comes while the agent is suspended is shown at its next run, with the rights of that moment [SOC-94]', async () => {
    const at = await openCrew({ broadcast_eagerness: 'chatty' });
    await using world = at.world;
    await (await at.bot.send(worker, 'Begin.')).text();
    await at.ann.setStatus(at.bot.id, 'suspend');
    await writeTo(at as never, at.ann, 'crew', 'canary-1');
    await at.ann.setStatus(at.bot.id, 'resume');
    await (await at.bot.send(worker, 'Go on.')).text();
    expect(at.prompts[1]).toContain('canary-1');
    await world.verify();
  });

  it('a run is shown eight items, and the next run those that follow [SOC-94]', async () => {
    const at = await openCrew({ broadcast_eagerness: 'moderate' });
    await using world = at.world;
    for (let n = 10; n < 20; n++) await writeTo(at as never, at.ann, 'crew', `canary-${n}`);
    for (const text of ['Begin.', 'Go on.']) await (await at.bot.send(worker, text)).text();
    const shown = (prompt = '') => [...prompt.matchAll(/canary-(\d+)/g)].map(([, n]) => Number(n));
    expect([shown(at.prompts[0]), shown(at.prompts[1]).slice(8)]).toStrictEqual([
      [10, 11, 12, 13, 14, 15, 16, 17],
      [18, 19],
    ]);
    await world.verify();
  });
});
