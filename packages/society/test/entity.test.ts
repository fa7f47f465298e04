/** The typed calls of an entity: what they answer, and that they are the calls of the tools. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { HotContext, InboxEvent, ReadMemory, TrustScore } from '../src/index.js';
import { SOCIETY_TOOLS } from '../src/pure/index.js';
import { agentOf, openOffice, writeTo } from './support/crew.js';
import { refusedWith } from './support/office.js';

async function crewOf() {
  const at = await openOffice();
  const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
  const bot = await agentOf(at.office, ann);
  const crew = at.office.group('crew');
  await crew.open({ owner: 'ann' });
  for (const id of ['ann', 'ben', bot.id]) await crew.join(id);
  return { ...at, at, ann, ben, bot, crew };
}

/** The first events of an inbox. */
async function take(events: AsyncGenerator<InboxEvent>, count: number): Promise<readonly InboxEvent[]> {
  const taken: InboxEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

describe('an entity as an app uses it', () => {
  it('an entity reads and changes its hot context in the form of the tools, by the version that it read [SOC-11] [SOC-12]', async () => {
    const { world, bot } = await crewOf();
    await using _ = world;
    const before = await bot.l1();
    expectTypeOf(before).toEqualTypeOf<HotContext>();
    const task = { goal: 'Find the limit', progress: 0.5, findings: ['1 MiB'] };
    const after = await bot.writeL1({ active: { file: 'limits.md' }, agent: { task } }, before.version);
    expect(after).toMatchObject({ version: before.version + 1, active: { file: 'limits.md' }, agent: { task } });
    expect(after.agent.task.context).toBeNull(); // not stated: it stays as it was
    expect(SOCIETY_TOOLS.memory_read_hot.answer.safeParse(after).error).toBeUndefined();
    expect(await refusedWith(bot.writeL1({ active: null }, before.version))).toBe('revision_conflict');
    expect(await refusedWith(bot.writeL1({ prefs: {} }, after.version))).toBe('not_yours');
    expect(await bot.l1()).toStrictEqual(after);
    const cleared = await bot.writeL1({ active: null, ephemeral: undefined }, after.version);
    expect([cleared.active, cleared.agent.task.goal]).toStrictEqual([null, 'Find the limit']);
    await world.verify();
  });

  it('an entity writes, reads, lists, finds, shares and validates items as itself, and is refused as itself [SOC-31] [SOC-28]', async () => {
    const { world, office, ann, ben, bot, crew } = await crewOf();
    await using _ = world;
    const note = { type: 'note', visibility: 'group', group: 'crew' } as const;
    const limit = await bot.memory.write({ ...note, content: 'Bodies have at most 1 MiB.', confidence: 0.9 });
    expect(limit).toStrictEqual({ item_id: 'group:crew#1', state: 'live' });
    const read = await ben.memory.read(limit.item_id);
    expectTypeOf(read).toEqualTypeOf<ReadMemory>();
    expect(read).toMatchObject({ content: 'Bodies have at most 1 MiB.', author: bot.id, confidence: 0.9 });
    const doubted = await bot.memory.write({ ...note, content: 'Headers perhaps 8 KiB.', confidence: 0.2 });
    expect(doubted.state).toBe('quarantined');
    expect((await ann.memory.search('headers', { groups: ['crew'] })).items).toStrictEqual([]);
    expect(await refusedWith(bot.memory.validate(doubted.item_id))).toBe('not_authorized');
    expect(await ann.memory.validate(doubted.item_id)).toStrictEqual({ item_id: doubted.item_id, state: 'live' });
    const { items, withheld } = await ann.memory.search('headers', { k: 5 });
    expect([items.map(({ item_id }) => item_id), withheld]).toStrictEqual([[doubted.item_id], 0]);
    const guests = office.group('guests');
    await guests.open();
    await guests.join('ann');
    const copy = await ann.memory.share(limit.item_id, 'guests');
    expect(copy).toMatchObject({ item_id: 'group:guests#1', origin: limit.item_id });
    await crew.leave('ben');
    expect(await refusedWith(ben.memory.read(limit.item_id))).toBe('capability_denied');
    await world.verify();
  });

  it('a list of a group’s items begins where the page before ended, and leaves nothing out', async () => {
    const { world, at, ann } = await crewOf();
    await using _ = world;
    for (let n = 1; n <= 11; n++) await writeTo(at, ann, 'crew', `Item ${n}`);
    const ids = (page: { readonly items: readonly ReadMemory[] }) => page.items.map(({ item_id }) => item_id);
    const all = Array.from({ length: 11 }, (_, n) => `group:crew#${n + 1}`);
    expect(ids(await ann.memory.list('crew'))).toStrictEqual(all);
    const first = await ann.memory.list('crew', { limit: 9 });
    expect(ids(first)).toStrictEqual(all.slice(0, 9));
    const rest = await ann.memory.list('crew', first.next === undefined ? {} : { after: first.next });
    expect(ids(rest)).toStrictEqual(all.slice(9));
    const wrong = ann.memory.list('crew', { before: '3' } as never);
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('an entity’s trust is its own verdicts: the prior before the first, and afterwards what its last verdict answered [SOC-23] [SOC-24]', async () => {
    const { world, at, ann, ben, bot } = await crewOf();
    await using _ = world;
    await writeTo(at, bot, 'crew', 'One.');
    const prior = { accuracy: null, score: 0.65, observations: 0, tier: 'medium', last_updated: null };
    expect(await ann.trust(bot.id)).toStrictEqual({
      ...{ agent_id: bot.id, observer_entity_id: 'ann', ...prior },
      ...{ window_start: null, window_end: null },
    });
    const head = world.kernel.head.seq;
    const evidenceRef = 'RFC 9110, 15.5.14';
    const score = await ann.assess('group:crew#1', { verdict: 'right', basis: 'user', evidenceRef });
    expectTypeOf(score).toEqualTypeOf<TrustScore>();
    expect(score).toMatchObject({ accuracy: 1, observations: 1 });
    expect(world.kernel.head.seq).toBeGreaterThan(head);
    const asked = world.kernel.head.seq;
    expect(await ann.trust(bot.id)).toStrictEqual(score);
    expect((await ben.trust(bot.id)).observations).toBe(0);
    expect(world.kernel.head.seq).toBe(asked); // a score is read, not asked for
    const retracted = await ann.assess('group:crew#1', { verdict: 'retract', basis: 'user' });
    expect(retracted).toMatchObject({ observations: 0, accuracy: null });
    expect(await refusedWith(bot.assess('group:crew#1', { verdict: 'right', basis: 'user' }))).toBe('not_authorized');
    await world.verify();
  });

  it('an inbox is followed from an event on, and has those that it dropped, once each and in order [SOC-42]', async () => {
    const { world, at, ann, ben } = await crewOf();
    await using _ = world;
    const joined = await take(ann.inbox(), 2);
    expect(joined.map(({ n, event }) => [n, event])).toStrictEqual([
      [1, 'group.member_joined'],
      [2, 'group.member_joined'],
    ]);
    const next = take(ann.inbox(2), 1); // waits: nothing is there yet
    await writeTo(at, ben, 'crew', 'The first.');
    const [written] = await next;
    expect(written).toMatchObject({ n: 3, event: 'memory.written', payload: { item_id: 'group:crew#1' } });
    expect(SOCIETY_TOOLS.events_poll.answer.shape.events.element.safeParse(written).error).toBeUndefined();
    for (let n = 0; n < 260; n++) await writeTo(at, ben, 'crew', `Item ${n}`);
    const polled = await ann.use('events_poll', { after: 3, limit: 1 });
    expect(polled.events[0]?.n).toBeGreaterThan(4); // dropped
    const all = await take(ann.inbox(3), 260);
    expect(all.map(({ n }) => n)).toStrictEqual(Array.from({ length: 260 }, (_, n) => n + 4));
    expect(polled.events[0]).toStrictEqual(all.find(({ n }) => n === polled.events[0]?.n));
  });
});
