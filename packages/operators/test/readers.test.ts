/** Who may read an item, beside what the society answers when they try. The adversary is a member that has left. */
import { memoryPart } from '@reprise/org';
import { defineAgent, memory, openWorld } from 'reprise';
import { type ScriptRequest, type ScriptStep, script, scriptBy } from 'reprise/providers';
import { society } from 'reprise/society';
import { skill, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { allPackages } from '../../cli/src/world/built-in.js';
import { agentOf } from '../../society/test/support/crew.js';
import { readersOf } from '../src/readers/index.js';

/** A group of ann, ben and a bot of ann; the bot has written one item to it, and one that is private. */
async function givenCrew() {
  const place = memory();
  const part = society();
  const world = await openWorld({ store: place, models: { main: script() }, parts: [part] });
  const office = world.part(part);
  for (const name of ['ann', 'ben', 'cleo']) await office.human(name);
  const ann = office.entity('ann');
  const bot = await agentOf(office, ann, { displayName: 'scribe' });
  await agentOf(office, ann, { displayName: 'other' });
  const crew = office.group('crew');
  await crew.open({ owner: 'ann' });
  for (const id of ['ann', 'ben', bot.id]) await crew.join(id, id === 'ben' ? 'viewer' : 'member');
  const shared = await bot.memory.write({ type: 'note', visibility: 'group', group: 'crew', content: 'Limits.' });
  const own = await bot.memory.write({ type: 'note', visibility: 'private', content: 'Mine.' });
  const { app } = await allPackages();
  const readers = async (item: string, options = {}) => {
    const store = await place.openReadonly();
    const report = await readersOf(store, { app }, item, options);
    await store.close();
    return report;
  };
  const rowsOf = async (item: string, options = {}) =>
    (await readers(item, options)).rows.map(({ of, may, reason, role }) => [
      of?.agent ?? 'operator',
      may,
      reason,
      role,
    ]);
  return { world, office, crew, bot, shared, own, readers, rowsOf };
}

/** A coordinator gives one task; every other session answers. */
function led({ system, messages }: ScriptRequest): ScriptStep {
  if (!system.includes('You lead') || messages.at(-1)?.role === 'tool') return { text: 'Yes.' };
  return { calls: [{ tool: 'spawn_agent', args: { task: 'Write.', skill: 'clerk' } }] };
}

describe('the readers of an item', () => {
  it('given an item of a group, when its readers are listed, then members may read it with their roles, others may not, and its author is named', async () => {
    const { world, office, shared, readers, rowsOf } = await givenCrew();
    await using _ = world;
    expect(await rowsOf(shared.item_id)).toEqual([
      ['operator', true, 'operator', null],
      ['ann', true, 'member', expect.any(String)],
      ['ben', true, 'member', 'viewer'],
      ['scribe', true, 'member', 'member'],
      ['cleo', false, 'not_member', null],
      ['other', false, 'narrowed', null],
    ]);
    const { item, rows } = await readers(shared.item_id);
    expect(item).toMatchObject({ id: 1, author_name: 'scribe', state: 'live' });
    for (const { of, may } of rows.filter((row) => row.of?.entity != null)) {
      const tried = office
        .entity(of?.entity ?? '')
        .memory.read(shared.item_id)
        .then(
          () => true,
          () => false,
        );
      expect([of?.agent, await tried]).toEqual([of?.agent, may]);
    }
  });

  it('given an item that is private, when its readers are listed, then only its owner may read it, and a link of its chain is named for each other', async () => {
    const { world, own, readers, rowsOf } = await givenCrew();
    await using _ = world;
    const rows = await rowsOf(own.item_id);
    expect(rows.filter(([, may]) => may)).toEqual([
      ['operator', true, 'operator', null],
      ['scribe', true, 'owner', null],
    ]);
    const refused = (await readers(own.item_id)).rows.filter(({ may }) => !may);
    expect(refused.map(({ by, by_name, patterns }) => [by !== null, by_name, patterns !== null])).toEqual(
      refused.map(({ of }) => [true, of?.agent, true]),
    );
  });

  it('given a member that has left, when its readers are listed as of a frame before that, then it may read the item, and now it may not', async () => {
    const { world, crew, shared, readers } = await givenCrew();
    await using _ = world;
    const { frame } = await readers(shared.item_id);
    await crew.leave('ben');
    const ben = async (options = {}) =>
      (await readers(shared.item_id, options)).rows.find(({ of }) => of?.agent === 'ben')?.may;
    expect([await ben({ at: frame }), await ben()]).toEqual([true, false]);
  });

  it('given sessions whose rights name stores, when the readers of one are listed, then the link that permits or refuses is named, and what runs no reading of its own is no row', async () => {
    const place = memory();
    const stores = memoryPart();
    const clerk = skill({ name: 'clerk', description: 'Writes', tools: [], body: 'Write.' });
    const crew = team({
      name: 'crew',
      tools: [],
      skills: [clerk],
      coordinator: { model: 'main', identity: 'You lead.' },
    });
    const talker = defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.' });
    const world = await openWorld({
      ...{ store: place, models: { main: scriptBy(led) } },
      ...{ parts: [stores, crew], agents: [talker] },
    });
    await using _ = world;
    const notes = await world.part(stores).open('app#notes');
    await notes.store({ text: 'Tea.', said: 'Note it.' });
    await world.part(crew).project('party').send('Plan it.');
    for (const name of ['may', 'not']) await world.session(name, talker).send('Hello.');
    await world.pump();
    for (const [name, store] of [
      ['may', 'app#*'],
      ['not', 'other#*'],
    ] as const)
      await world.kernel.command('sys/SetRights@1', {
        holder: `cell:aos.agent/SessionReducer@1/${name}`,
        exercise: { may: { effect: ['*'], mem_read: [store] } },
      });
    const store = await place.openReadonly();
    const { rows } = await readersOf(store, { app: (await allPackages()).app }, 'app#notes');
    await store.close();
    expect(await world.kernel.state(['work/Job@1', 'party/j1'])).toBeDefined();
    const told = new Map(rows.map(({ holder, may, reason, by }) => [holder, [may, reason, by]]));
    const [may, not] = ['may', 'not'].map((name) => `cell:aos.agent/SessionReducer@1/${name}`);
    expect(told.get(may ?? '')).toEqual([true, 'rights', may]);
    expect(told.get(not ?? '')).toEqual([false, 'narrowed', not]);
    expect(told.has('cell:specialists/Project@1/party')).toBe(true);
    expect([...told.keys()].filter((holder) => holder.includes('/Job@'))).toEqual([]);
  });

  it.each([
    ['group:crew#9', 'no such item'],
    ['group:nosuch', 'no such store'],
    ['group:crew#0', 'names no item'],
    ['#1', 'names no item'],
    ['', 'names no item'],
  ])(
    'given %j, which is not there, when its readers are asked for, then it is refused with what can be named',
    async (item, words) => {
      const { world, readers } = await givenCrew();
      await using _ = world;
      await expect(readers(item)).rejects.toMatchObject({ code: 'invalid_argument' });
      await expect(readers(item)).rejects.toThrow(words);
    },
  );
});
