import { type Ref, ref, value } from '@reprise/contracts';
import { VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../../../conformance/part.js';
import {
  creates,
  defineApp,
  defineReducer,
  defineTextIndex,
  memory,
  openKernelWorld,
  putErasable,
  type World,
} from '../../../src/index.js';
import { wordsOf } from '../../../src/pure/text/index.js';
import { memoryViews, openViews, readViews, type TextQuery, type Views } from '../../../src/serve/views/index.js';
import { hold, SEED } from '../../support/laws/hold.js';
import { refusalOf } from '../../support/laws/world-laws.js';

const Noted = z.strictObject({
  id: value(),
  text: z.array(z.union([z.string(), ref()])),
  salted: z.exactOptional(z.boolean()),
});
const erasable = (text: string | Ref) => (typeof text === 'string' ? text : { erasable: text });
const note = defineReducer({
  name: 'note/Note@1',
  state: z.strictObject({}),
  events: {
    'note/Noted@1': creates(Noted),
    'note/Removed@1': creates(z.strictObject({ id: value() })),
  },
  init: () => ({}),
  reduce: () => undefined,
});
const app = defineApp({ reducers: [note] });

const notes = defineTextIndex({
  name: 'note/Text@1',
  from: {
    'event:note/Noted@1': Noted,
    'event:note/Removed@1': z.strictObject({ id: value() }),
  },
  fold(documents, entry) {
    if (entry.from === 'event:note/Noted@1')
      documents.put(entry.value.id as string, entry.value.salted ? entry.value.text.map(erasable) : entry.value.text);
    else documents.remove(entry.value.id as string);
  },
});

const utf8 = (text: string) => new TextEncoder().encode(text);
const open = (store = memory()): Promise<World> => openKernelWorld({ store, app, clock: new VirtualClock() });
const tell = (world: World, name: string, what: object) =>
  world.request(['note/Note@1', 'all'], { name: `note/${name}@1`, value: what });
const put = (world: World, id: unknown, ...text: (string | Ref)[]) => tell(world, 'Noted', { id, text });

async function found(views: Views, query: TextQuery | string): Promise<unknown[]> {
  await views.caughtUp();
  const { hits } = await views.text(notes).search(typeof query === 'string' ? { text: query } : query);
  return hits.map(({ id }) => id);
}

describe('a text index', () => {
  it('a search finds documents with every word, with any of the words, or with a word of that beginning', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    await put(world, 'a', 'Tea with milk');
    await put(world, 'b', 'Coffee with milk and sugar');
    await put(world, 'c', 'Milkshake');
    expect(await found(views, 'MILK')).toEqual(['a', 'b']);
    expect(await found(views, 'with coffee')).toEqual(['b']);
    expect(await found(views, { text: 'tea sugar', match: 'any' })).toEqual(['a', 'b']);
    expect(await found(views, { text: 'milk', prefix: true })).toEqual(expect.arrayContaining(['a', 'b', 'c']));
    expect(await found(views, { text: 'with mil', prefix: true })).toEqual(['a', 'b']);
    expect(await found(views, 'tea coffee')).toEqual([]);
    expect(await found(views, '…')).toEqual([]);
  });

  it('only the last word of a search is a beginning, and a document with two such words still lacks the other word', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    await put(world, 'a', 'teapot milk');
    await put(world, 'b', 'tea team');
    expect(await found(views, { text: 'tea mil', prefix: true })).toEqual([]);
    expect(await found(views, { text: 'milk te', prefix: true })).toEqual(['a']);
  });

  it.each([null, 7, { erasable: 'no link' }])(
    'an index stops with an error at a document whose text contains %j, which is neither text nor a link',
    async (id) => {
      await using world = await open();
      const odd = defineTextIndex({
        name: 'note/Odd@1',
        from: { 'event:note/Noted@1': Noted },
        fold: (documents, { value }) => documents.put('odd', ['text', value.id as never]),
      });
      await using views = await openViews(world, [odd]);
      const { seq } = await put(world, id, 'tea');
      const error = await refusalOf(views.caughtUp(seq));
      expect([error?.code, String(error?.cause)]).toEqual(['view_failed', expect.stringContaining('neither text nor')]);
    },
  );

  it('a search ranks rare words, many of them and short documents first, and equal ranks by id', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    await put(world, 'long', `needle ${'hay '.repeat(50)}`);
    await put(world, 'twice', 'needle needle hay');
    await put(world, 'z', 'needle hay');
    await put(world, 'b', 'needle hay');
    await put(world, 'rare', 'pin needle');
    expect(await found(views, 'needle')).toEqual(['twice', 'b', 'rare', 'z', 'long']);
    expect((await found(views, { text: 'pin hay', match: 'any' }))[0]).toBe('rare');
    await views.caughtUp();
    const page = await views.text(notes).search({ text: 'needle', limit: 2 });
    expect([page.hits.map(({ id }) => id), page.total]).toEqual([['twice', 'b'], 5]);
  });

  it('a search can be restricted to documents under a key', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    await put(world, ['ada', 1], 'tea');
    await put(world, ['bob', 1], 'tea');
    expect(await found(views, { text: 'tea', under: 'bob' })).toEqual([['bob', 1]]);
  });

  it('a replaced, removed or composed document is found by its current text', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    await put(world, 'a', 'tea', 'milk');
    await put(world, 'b', 'tea');
    await put(world, 'a', 'coffee');
    expect(await found(views, 'tea')).toEqual(['b']);
    expect(await found(views, 'coffee')).toEqual(['a']);
    await tell(world, 'Removed', { id: 'b' });
    expect(await found(views, 'tea')).toEqual([]);
  });

  it('an index reads text from linked content, salted or not; content that is not text has no words', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    await put(world, 'plain', await world.content.put(utf8('plain tea')), 'with words');
    await put(world, 'binary', await world.content.put(Uint8Array.of(255, 254)));
    const salted = await putErasable(world.content, utf8('salted tea'));
    await tell(world, 'Noted', { id: 'salted', text: [salted], salted: true });
    expect(await found(views, 'tea')).toEqual(['salted', 'plain']);
    expect(await found(views, 'words')).toEqual(['plain']);
  });

  it('an index drops erased text; rebuilt without the content, it has the same bytes [VIEW-9]', async () => {
    const [store, kept] = [memory(), memoryViews()];
    await using world = await open(store);
    await using views = await openViews(world, [notes], { store: kept });
    const secret = await putErasable(world.content, utf8('a secret tea'));
    await tell(world, 'Noted', { id: 'a', text: ['open', secret], salted: true });
    await put(world, 'b', 'tea for all');
    expect(await found(views, 'tea')).toEqual(['b', 'a']);
    await world.erase({ refs: [secret] });
    expect(await found(views, 'tea')).toEqual(['b']);
    expect(await found(views, 'open')).toEqual([]);
    await tell(world, 'Noted', { id: 'c', text: ['late', secret], salted: true }).catch(() => undefined);
    await put(world, 'd', 'tea later');
    await views.caughtUp();
    expect((await views.verify()).differences).toEqual([]);
    expect(await dump(kept)).toEqual(await dumpOf(await store.openReadonly()));
  });

  it('an index at an earlier frame finds what it held at that frame', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    const { seq } = await put(world, 'a', 'tea');
    await put(world, 'b', 'tea');
    await using past = await views.at(seq);
    expect((await past.text(notes).search({ text: 'tea' })).hits.map(({ id }) => id)).toEqual(['a']);
  });

  it('an invalid query is refused', async () => {
    await using world = await open();
    await using views = await openViews(world, [notes]);
    const many = Array.from({ length: 33 }, (_, i) => `w${i}`).join(' ');
    for (const query of [
      { text: 7 as never },
      { text: 'a', match: 'some' as never },
      { text: 'a', limit: 0 },
      { text: many },
    ])
      expect((await refusalOf(views.text(notes).search(query)))?.code).toBe('invalid_argument');
  });
});

/** The index as it is said, without any index: every document is read for every question. */
class Reference {
  readonly #texts = new Map<string, string[]>();

  put(id: string, text: string): void {
    this.#texts.set(id, wordsOf(text));
  }

  remove(id: string): void {
    this.#texts.delete(id);
  }

  search(text: string): string[] {
    const words = [...new Set(wordsOf(text))];
    const all = [...this.#texts];
    const average = all.reduce((sum, [, own]) => sum + own.length, 0) / Math.max(1, all.length);
    const scored = all
      .filter(([, own]) => words.every((word) => own.includes(word)))
      .map(([id, own]) => ({ id, score: words.reduce((sum, word) => sum + this.#score(word, own, average), 0) }));
    return scored.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
  }

  #score(word: string, own: readonly string[], average: number): number {
    const containing = [...this.#texts.values()].filter((words) => words.includes(word)).length;
    const idf = Math.log(1 + (this.#texts.size - containing + 0.5) / (containing + 0.5));
    const count = own.filter((one) => one === word).length;
    return (idf * 2.2 * count) / (count + 1.2 * (0.25 + (0.75 * own.length) / average));
  }
}

describe(`a text index over random documents (seed ${SEED})`, () => {
  const texts = fc.array(fc.constantFrom('tea', 'milk', 'sugar', 'salt', 'Éclair', 'cup'), {
    minLength: 1,
    maxLength: 12,
  });
  const steps = fc.array(
    fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), text: fc.option(texts.map((words) => words.join(' '))) }),
    { minLength: 1, maxLength: 14 },
  );

  it('a search finds what reading every document finds, and a rebuilt index is the same [VIEW-9]', async () => {
    const law = fc.asyncProperty(steps, async (list) => {
      const reference = new Reference();
      await using world = await open();
      await using views = await openViews(world, [notes]);
      for (const { id, text } of list) {
        if (text === null) {
          reference.remove(id);
          await tell(world, 'Removed', { id });
        } else {
          reference.put(id, text);
          await put(world, id, text);
        }
      }
      for (const text of ['tea', 'milk tea', 'eclair', 'cup salt sugar']) {
        const [hits, wanted] = [await found(views, text), reference.search(text)];
        if (hits.toSorted().join() !== wanted.toSorted().join())
          throw new Error(`${text}: ${hits} instead of ${wanted}`);
      }
      const { differences } = await views.verify();
      if (differences.length > 0) throw new Error(JSON.stringify(differences));
    });
    await hold(law, {
      numRuns: 60 / stepOf(4),
      command: 'npx vitest run packages/kernel/test/serve/views/text-index.test.ts',
    });
  });
});

/** The same documents, each room with an index of its own. */
const rooms = defineTextIndex({
  name: 'note/Rooms@1',
  from: { 'event:note/Noted@1': Noted, 'event:note/Removed@1': z.strictObject({ id: value() }) },
  partition: 1,
  fold(documents, entry) {
    const id = entry.value.id as unknown as readonly (string | number)[];
    if (entry.from === 'event:note/Noted@1') documents.put(id, entry.value.text);
    else documents.remove(id);
  },
});

describe(`a partitioned text index over random documents (seed ${SEED})`, () => {
  const word = fc.constantFrom('tea', 'milk', 'sugar', 'salt', 'cup');
  const steps = fc.array(
    fc.record({
      room: fc.constantFrom('a', 'b'),
      n: fc.integer({ min: 1, max: 4 }),
      text: fc.option(fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))),
    }),
    { minLength: 1, maxLength: 14 },
  );
  const searches = ['tea', 'milk sugar', 'cup'];

  /** What a room finds, with the scores. */
  async function foundIn(views: Views, room: string) {
    await views.caughtUp();
    const query = { match: 'any', under: [room] } as const;
    return Promise.all(searches.map(async (text) => (await views.text(rooms).search({ text, ...query })).hits));
  }

  it('a partition finds and scores its documents as if there were no others [VIEW-12]', async () => {
    const law = fc.asyncProperty(steps, async (list) => {
      await using world = await open();
      await using views = await openViews(world, [rooms]);
      await using alone = await open();
      await using own = await openViews(alone, [rooms]);
      for (const { room, n, text } of list) {
        for (const one of room === 'a' ? [world, alone] : [world]) {
          if (text === null) await tell(one, 'Removed', { id: [room, n] });
          else await put(one, [room, n], text);
        }
      }
      expect(await foundIn(views, 'a')).toEqual(await foundIn(own, 'a'));
      expect((await views.verify()).differences).toEqual([]);
    });
    await hold(law, {
      numRuns: 40 / stepOf(4),
      command: 'npx vitest run packages/kernel/test/serve/views/text-index.test.ts',
    });
  });

  it('a search that names no partition is refused, and so is an index with an unusual one', async () => {
    await using world = await open();
    await using views = await openViews(world, [rooms]);
    expect((await refusalOf(views.text(rooms).search({ text: 'tea' })))?.code).toBe('invalid_argument');
    const from = { 'event:note/Noted@1': Noted };
    const odd = () => defineTextIndex({ name: 'note/Odd@1', from, partition: 0.5, fold: () => undefined });
    expect(odd).toThrow('invalid_definition');
  });

  it('a partitioned index stops with an error at a document whose id names no partition', async () => {
    await using world = await open();
    const two = defineTextIndex({
      name: 'note/Two@1',
      from: { 'event:note/Noted@1': Noted },
      partition: 2,
      fold: (documents, { value: { text } }) => documents.put('short', text),
    });
    await using views = await openViews(world, [two]);
    const { seq } = await put(world, 'a', 'tea');
    expect((await refusalOf(views.caughtUp(seq)))?.code).toBe('view_failed');
  });
});

async function dump(kept: ReturnType<typeof memoryViews>) {
  const store = await kept.open();
  return store.scan('note/Text@1', { from: new Uint8Array(), to: null, limit: 10_000 });
}

async function dumpOf(store: Parameters<typeof readViews>[0]) {
  const kept = memoryViews();
  await readViews(store, [notes], { store: kept });
  return dump(kept);
}
