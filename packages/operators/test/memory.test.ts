/** What agents keep, in a society, beside what its tables say. The adversary is a judge who changes its mind. */
import { memoryPart, provenanceOf } from '@reprise/org';
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type Entity, society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { allPackages } from '../../cli/src/world/built-in.js';
import { agentOf } from '../../society/test/support/crew.js';
import { memoryOf } from '../src/memory/index.js';
import { trustOf } from '../src/society/index.js';

/** The most entries that one read of a table has. */
const TABLE_PAGE = 256;

/** A group of ann, ben and a bot of ann, in which the bot has written one item. */
async function givenCrew() {
  const place = memory();
  const part = society();
  const world = await openWorld({ store: place, models: { main: script() }, parts: [part] });
  const office = world.part(part);
  for (const name of ['ann', 'ben']) await office.human(name);
  const [ann, ben] = [office.entity('ann'), office.entity('ben')];
  const bot = await agentOf(office, ann, { displayName: 'scribe' });
  const crew = office.group('crew');
  await crew.open({ owner: 'ann' });
  for (const id of ['ann', 'ben', bot.id]) await crew.join(id);
  const write = (content: string, more = {}) =>
    bot.memory.write({ type: 'note', visibility: 'group', group: 'crew', content, ...more });
  const judge = (by: Entity, verdict: string) =>
    by.answerTo('memory_assess', { item_id: 'group:crew#1', verdict, basis: 'user' } as never);
  await write('Limits.');
  const { app } = await allPackages();
  const read = async <T>(ask: (store: Awaited<ReturnType<typeof place.openReadonly>>) => Promise<T>): Promise<T> => {
    const store = await place.openReadonly();
    const answer = await ask(store);
    await store.close();
    return answer;
  };
  const rows = async (options = {}) => (await read((store) => memoryOf(store, { app }, options))).rows;
  return { world, place, app, ann, ben, bot, write, judge, read, rows };
}

describe('the items of a memory', () => {
  it('given a judge who changes its mind and takes it back, when the item is listed, then each verdict has its trust, and none but the last may stand', async () => {
    const { world, ben, judge, rows, read } = await givenCrew();
    await using _ = world;
    const told = async () =>
      ((await rows({ item: 'group:crew#1' }))[0]?.verdicts ?? []).map(({ verdict, stands, trust }) => [
        verdict,
        stands,
        trust?.ppm,
      ]);
    for (const verdict of ['right', 'wrong']) await judge(ben, verdict);
    expect(await told()).toEqual([
      ['right', false, 666_667],
      ['wrong', true, 619_048],
    ]);
    await judge(ben, 'retract');
    expect(await told()).toEqual([
      ['right', false, 666_667],
      ['wrong', false, 619_048],
      ['retract', false, 650_000],
    ]);
    const { pairs } = await read((store) => trustOf(store));
    expect(pairs).toMatchObject([
      { observer: { name: 'ben' }, agent: { name: 'scribe' }, score_ppm: 650_000, observations: 0, tier: 'medium' },
    ]);
    expect(pairs[0]?.changes.map(({ item, trust }) => [item, trust.old_ppm, trust.ppm])).toEqual([
      ['group:crew#1', 650_000, 666_667],
      ['group:crew#1', 666_667, 619_048],
      ['group:crew#1', 619_048, 650_000],
    ]);
  });

  it('given two judges, when trust is read in pages and as of the first verdict, then each page has one pair, and the first frame knows one', async () => {
    const { world, ann, ben, judge, read } = await givenCrew();
    await using _ = world;
    await judge(ben, 'right');
    const { seq } = world.kernel.head;
    await judge(ann, 'wrong');
    const [first, second] = [
      await read((store) => trustOf(store, { limit: 1 })),
      await read((store) => trustOf(store, { limit: 1, after: 'ann ' })).catch(({ code }) => code),
    ];
    expect([first.pairs.length, second]).toEqual([1, 'invalid_argument']);
    const rest = await read((store) => trustOf(store, { limit: 1, after: first.next ?? '' }));
    expect([...first.pairs, ...rest.pairs].map(({ observer }) => observer.name)).toEqual(['ann', 'ben']);
    expect(rest.next).toBeNull();
    const then = await read((store) => trustOf(store, { at: seq }));
    expect(then.pairs.map(({ observer }) => observer.name)).toEqual(['ben']);
  });

  it('given a store with more items than one read of its table has, when they are listed in pages of every size, then no item is missing and none stands twice', async () => {
    const place = memory();
    const stores = memoryPart();
    const world = await openWorld({ store: place, models: { main: script() }, parts: [stores] });
    await using _ = world;
    const notes = await world.part(stores).open('app#notes');
    const numbers = Array.from({ length: TABLE_PAGE + 44 }, (_, i) => i + 1);
    await Promise.all(numbers.map((n) => notes.store({ text: `Note ${n}.`, said: 'Note it.' })));
    const { app } = await allPackages();
    const store = await place.openReadonly();
    const all = numbers.map((n) => `app#notes#${n}`);
    for (const limit of [1_000, TABLE_PAGE, 99]) {
      const found: string[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const { rows, next } = await memoryOf(store, { app }, { limit, ...(after === undefined ? {} : { after }) });
        found.push(
          ...rows.map(({ item, words }) => (words === `Note ${item.split('#')[2]}.` ? item : `${item} ${words}`)),
        );
        after = next;
      }
      expect([limit, found]).toEqual([limit, all]);
    }
    await store.close();
  });

  it('given an item that was shared with a group, when its provenance is read, then no place is a gap: the copy comes from the share', async () => {
    const { world, bot, rows } = await givenCrew();
    await using _ = world;
    const own = await bot.memory.write({ type: 'note', visibility: 'private', content: 'Ask ann.' });
    await bot.memory.share(own.item_id, 'crew');
    const found = await provenanceOf(await world.views(), 'group:crew', 2);
    expect(found?.dangling).toEqual([]);
    expect(found?.chain.map(({ kind, title }) => `${kind} ${title}`)).toEqual(['memory memory 2', 'message share 3']);
    const [copy] = await rows({ item: 'group:crew#2' });
    expect(copy).toMatchObject({ copy_of: own.item_id, from: [{ kind: 'message', title: 'share 3' }] });
    expect(copy?.from[0]?.frame).not.toBeNull();
  });

  it('given a signal that is aborted, when the items or trust are asked for, then the reading ends with its reason', async () => {
    const { world, app, read } = await givenCrew();
    await using _ = world;
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(read((store) => memoryOf(store, { app }, { signal }))).rejects.toThrow('enough');
    await expect(read((store) => trustOf(store, { signal }))).rejects.toThrow('enough');
  });
});
