import { RepriseError } from '@reprise/contracts';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineProjection, memory, openKernelWorld, type Store, type World } from '../../../src/index.js';
import { memoryViews, openViews, readViews } from '../../../src/serve/views/index.js';
import { add, ask, askPresent, fact, lab, once, send, start, tellCell } from '../../support/lab.js';
import { refusalOf } from '../../support/laws/world-laws.js';
import { countedTwice, kinds, words } from './shop.js';

const { app } = lab({
  pay: function* (input, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'paid', receipt.status);
  },
});

function open(store: Store = memory()): Promise<World> {
  const adapters = [
    { name: 'bank', effect: once, doExecute: async () => ({ status: 'ok' as const, payload: { got: 7 } }) },
  ];
  return openKernelWorld({ store, app, clock: new VirtualClock(), adapters });
}

async function sayAll(world: World, list: readonly string[], by = 'a'): Promise<number> {
  let seq = 0;
  for (const word of list) seq = (await ask(world, by, [fact(word)])).seq;
  return seq;
}

describe('a projection', () => {
  it('a projection shows the effects of an acknowledged request once it has caught up with it [VIEW-2]', async () => {
    await using world = await open();
    await using views = await openViews(world, [words]);
    const { seq } = await ask(world, 'a', [fact('tea'), fact('tea'), fact('milk')]);
    await views.caughtUp(seq);
    const view = views.view(words);
    expect(view.seq).toBe(seq);
    expect(await view.get('tea')).toEqual({ count: 2, last: seq, by: 'a' });
    expect(await view.get('sugar')).toBeUndefined();
  });

  it('a projection is queried by key, by index, by prefix and by range, in both orders', async () => {
    await using world = await open();
    await using views = await openViews(world, [words]);
    await sayAll(world, ['tea', 'team', 'tea', 'te', 'milk', 'Ærø']);
    await sayAll(world, ['salt', 'milk', 'milk'], 'b');
    await views.caughtUp();
    const view = views.view(words);
    const keys = async (query: Parameters<typeof view.query>[0]) =>
      (await view.query(query)).rows.map(({ key }) => key);
    expect(await keys({})).toEqual(['milk', 'salt', 'te', 'tea', 'team', 'Ærø']);
    expect(await keys({ prefix: 'tea' })).toEqual(['tea', 'team']);
    expect(await keys({ under: 'tea' })).toEqual(['tea']);
    expect(await keys({ from: 'salt', to: 'team' })).toEqual(['salt', 'te', 'tea']);
    expect(await keys({ order: 'desc', limit: 2 })).toEqual(['Ærø', 'team']);
    expect(await keys({ index: 'count', order: 'desc', limit: 2 })).toEqual(['milk', 'tea']);
    expect(await keys({ index: 'count', from: 2 })).toEqual(['tea', 'milk']);
    expect(await keys({ index: 'by', under: 'b' })).toEqual(['salt', 'milk']);
    expect(await keys({ index: 'often' })).toEqual(['milk', 'tea']);
  });

  it('a row that leaves an index or goes is found there no more', async () => {
    await using world = await open();
    await using views = await openViews(world, [words]);
    await sayAll(world, ['tea', 'forgotten', 'forget']);
    await sayAll(world, ['tea'], 'b');
    await views.caughtUp();
    const view = views.view(words);
    expect((await view.query({ index: 'by', under: 'a' })).rows).toEqual([]);
    expect((await view.query({ index: 'count', under: 1 })).rows).toEqual([]);
    expect(await view.get('forgotten')).toBeUndefined();
  });

  it('a cursor names a place: rows that come and go meanwhile make none appear twice or be missed [VIEW-3]', async () => {
    await using world = await open();
    await using views = await openViews(world, [words]);
    await sayAll(world, ['b', 'd', 'f', 'h', 'forgotten']);
    await views.caughtUp();
    const view = views.view(words);
    const first = await view.query({ limit: 2 });
    expect(first.rows.map(({ key }) => key)).toEqual(['b', 'd']);
    await sayAll(world, ['a', 'c', 'e', 'forget']);
    await views.caughtUp();
    const next = await view.query({ limit: 9, ...(first.cursor === undefined ? {} : { after: first.cursor }) });
    expect(next.rows.map(({ key }) => key)).toEqual(['e', 'f', 'h']);
    expect(next.cursor).toBeUndefined();
    const backwards = await view.query({ limit: 1, order: 'desc' });
    const before = await view.query({ limit: 2, order: 'desc', after: backwards.cursor ?? '' });
    expect([...backwards.rows, ...before.rows].map(({ key }) => key)).toEqual(['h', 'f', 'e']);
    const all: unknown[] = [];
    for await (const { key } of view.each({ limit: 3 })) all.push(key);
    expect(all).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'h']);
  });

  it('a projection sees for each receipt the effect that it answers and the cell of that effect', async () => {
    const paid = defineProjection({
      name: 'lab/Paid@1',
      row: z.strictObject({ cell: z.string(), got: z.int(), status: z.string() }),
      from: { 'receipt:lab.once@1': z.strictObject({ got: z.int() }), 'intent:lab/none@1': true },
      fold(rows, entry) {
        if (entry.from !== 'receipt:lab.once@1') return;
        const { record, value, cell, effect } = entry;
        rows.put(effect?.name ?? '', { cell: cell?.[1] ?? '', got: value?.got ?? 0, status: record.receipt.status });
      },
    });
    await using world = await open();
    await using views = await openViews(world, [paid]);
    await ask(world, 'payer', [start('pay', 3)]);
    await world.pump();
    await views.caughtUp();
    expect(await views.view(paid).get('lab.once@1')).toEqual({ cell: 'payer', got: 7, status: 'ok' });
  });

  it('a source named event includes requests, and the most specific source chooses a record', async () => {
    const told = defineProjection({
      name: 'lab/Told@1',
      row: z.strictObject({ by: z.array(z.string()) }),
      from: { 'event:lab/Do@1': true, 'request:lab/Must@1': true, event: true, '*': true },
      fold(rows, { from, record, cell }) {
        if (cell === null || (record.kind !== 'event' && record.kind !== 'request')) return;
        rows.put(cell[1], { by: [...(rows.get(cell[1])?.by ?? []), `${record.kind} as ${from}`] });
      },
    });
    await using world = await open();
    await using views = await openViews(world, [told]);
    await ask(world, 'a', [send('b')]);
    await askPresent(world, 'b', []);
    await views.caughtUp();
    expect((await views.view(told).query()).rows).toEqual([
      { key: 'a', row: { by: ['request as event:lab/Do@1'] } },
      { key: 'b', row: { by: ['event as event:lab/Do@1', 'request as request:lab/Must@1'] } },
    ]);
  });

  it('a projection read at an earlier frame shows its rows of that frame [VIEW-2]', async () => {
    await using world = await open();
    await using views = await openViews(world, [words, kinds]);
    const then = await sayAll(world, ['tea', 'milk']);
    await views.caughtUp();
    const page = await views.view(words).query();
    await sayAll(world, ['tea', 'salt', 'forgotten']);
    await using past = await views.at(then);
    expect(await past.view(words).query()).toEqual(page);
    for (const none of [1_000, -2, 1.5, '1' as never]) {
      expect((await refusalOf(views.at(none)))?.code).toBe('invalid_argument');
    }
  });
});

describe('a fold that fails', () => {
  const failing = (fold: (rows: { put(key: string, row: { n: number }): void }) => void) =>
    defineProjection({
      name: 'lab/Failing@1',
      row: z.strictObject({ n: z.int() }),
      from: { 'fact:lab/Said@1': z.strictObject({ word: z.string() }) },
      fold(rows, { value }) {
        rows.put(value.word, { n: 1 });
        if (value.word === 'poison') fold(rows);
      },
    });

  it.each<[string, Parameters<typeof failing>[0]]>([
    [
      'throws',
      () => {
        throw new Error('as told');
      },
    ],
    ['writes what is no row', (rows) => rows.put('x', { n: 'many' as never })],
    ['writes what is no value', (rows) => rows.put('x', { n: (() => 1) as never })],
    ['writes a row that is too large', (rows) => rows.put('x'.repeat(2_000), { n: 1 })],
    [
      'writes rows without end',
      (rows) => {
        for (let i = 0; ; i++) rows.put(`x${i}`, { n: i });
      },
    ],
    [
      'exhausts the stack',
      () => {
        const deep = (): number => deep() + 1;
        deep();
      },
    ],
  ])(
    '%s: the view stops before that frame and names the record; the world and other views go on [VIEW-5]',
    async (_, fold) => {
      const definition = failing(fold);
      const stopped: unknown[] = [];
      await using world = await open();
      await using views = await openViews(world, [definition, words], {
        onFailed: (error) => stopped.push(error.code),
      });
      const good = await sayAll(world, ['tea']);
      await views.caughtUp(good);
      const seq = await sayAll(world, ['poison', 'milk']);
      const error = await refusalOf(views.caughtUp(seq));
      expect([error?.code, error?.details.view, error?.details.seq, error?.details.where]).toEqual([
        'view_failed',
        'lab/Failing@1',
        good + 1,
        expect.stringMatching(new RegExp(`^frame ${good + 1}, record \\d+ \\(fact\\)$`)),
      ]);
      expect(stopped).toEqual(['view_failed']);
      const view = views.view(definition);
      expect([view.seq, view.failure?.code]).toEqual([good, 'view_failed']);
      expect((await view.query()).rows.map(({ key }) => key)).toEqual(['tea']);
      await views.view(words).caughtUp(seq);
      expect(await views.view(words).get('milk')).toBeDefined();
      expect((await ask(world, 'a', [add(1)])).seq).toBe(seq + 1);
    },
  );

  it('a fold that catches the error of a missing row does not hide the missing row', async () => {
    const swallowing = defineProjection({
      name: 'lab/Swallowing@1',
      row: z.strictObject({ n: z.int() }),
      from: { 'fact:lab/Said@1': z.strictObject({ word: z.string() }) },
      fold(rows, { value }) {
        let n = 0;
        try {
          n = rows.get(value.word)?.n ?? 0;
        } catch {
          n = 1_000;
        }
        rows.put(value.word, { n: n + 1 });
      },
    });
    await using world = await open();
    await using views = await openViews(world, [swallowing]);
    await sayAll(world, ['tea', 'tea', 'tea']);
    await views.caughtUp();
    expect(await views.view(swallowing).get('tea')).toEqual({ n: 3 });
  });

  it('an async fold stops its view, since writes after its first await would belong to no frame', async () => {
    const eager = defineProjection({
      name: 'lab/Eager@1',
      row: z.strictObject({ n: z.int() }),
      from: { 'fact:lab/Said@1': true },
      fold: async (rows) => rows.put('x', { n: 1 }),
    });
    await using world = await open();
    await using views = await openViews(world, [eager]);
    const seq = await sayAll(world, ['tea']);
    expect((await refusalOf(views.caughtUp(seq)))?.code).toBe('view_failed');
    expect(await views.view(eager).get('x')).toBeUndefined();
  });

  it('a record that does not have the type that the view declares stops the view', async () => {
    await using world = await open();
    await using views = await openViews(world, [failing(() => undefined)]);
    const { seq } = await ask(world, 'a', [['fact', 7]]);
    expect((await refusalOf(views.caughtUp(seq)))?.details.where).toContain(`frame ${seq}, record`);
  });
});

describe('a view store that outlives the process', () => {
  it('a stored view continues from its mark', async () => {
    const [store, kept] = [memory(), memoryViews()];
    await whileOpen(store, async (world) => {
      await using views = await openViews(world, [words], { store: kept });
      await sayAll(world, ['tea', 'milk']);
      await views.caughtUp();
    });
    await using world = await open(store);
    const read: number[] = [];
    const spied = {
      head: world.head,
      content: world.content,
      frames: (from: number, signal: AbortSignal) => {
        read.push(from);
        return world.frames(from, signal);
      },
    };
    await using views = await openViews(spied, [words], { store: kept });
    await views.caughtUp();
    expect(Math.min(...read)).toBe(world.head.seq);
    expect((await views.view(words).query()).rows.map(({ key }) => key)).toEqual(['milk', 'tea']);
  });

  it('a stored view is rebuilt when its definition has changed [VIEW-6]', async () => {
    const [store, kept] = [memory(), memoryViews()];
    await whileOpen(store, async (world) => {
      await using views = await openViews(world, [words], { store: kept });
      await sayAll(world, ['tea', 'tea']);
      await views.caughtUp();
    });
    await using world = await open(store);
    await using views = await openViews(world, [countedTwice], { store: kept });
    await views.caughtUp();
    expect(await views.view(countedTwice).get('tea')).toEqual({ count: 4 });
  });

  it('a stored view is rebuilt when the journal is another one: a restored copy that diverged [VIEW-6]', async () => {
    const [store, restored, kept] = [memory(), memory(), memoryViews()];
    await whileOpen(store, async (world) => {
      await using views = await openViews(world, [words], { store: kept });
      await sayAll(world, ['tea', 'milk', 'salt']);
      await views.caughtUp();
    });
    await whileOpen(restored, (world) => sayAll(world, ['copper', 'tin', 'iron', 'lead']));
    await using world = await open(restored);
    await using views = await openViews(world, [words], { store: kept });
    expect(views.view(words).seq).toBeLessThanOrEqual(world.head.seq);
    await views.caughtUp();
    expect((await views.view(words).query()).rows.map(({ key }) => key)).toEqual(['copper', 'iron', 'lead', 'tin']);
  });

  it('a stored view is rebuilt when the journal is shorter [VIEW-6]', async () => {
    const [store, restored, kept] = [memory(), memory(), memoryViews()];
    await whileOpen(store, async (world) => {
      await using views = await openViews(world, [words], { store: kept });
      await sayAll(world, ['tea', 'milk', 'salt']);
      await views.caughtUp();
    });
    await whileOpen(restored, (world) => sayAll(world, ['tin']));
    await using views = await readViews(await restored.openReadonly(), [words], { store: kept });
    expect((await views.view(words).query()).rows.map(({ key }) => key)).toEqual(['tin']);
  });

  it('a new view is built from all frames while an older view continues from its position', async () => {
    const [store, kept] = [memory(), memoryViews()];
    await whileOpen(store, async (world) => {
      await using views = await openViews(world, [words], { store: kept });
      await sayAll(world, ['tea', 'milk']);
      await views.caughtUp();
    });
    await using world = await open(store);
    await using views = await openViews(world, [words, kinds], { store: kept });
    await sayAll(world, ['salt']);
    await views.caughtUp();
    expect(await views.view(kinds).get('fact')).toMatchObject({ count: 3 });
    expect((await views.verify()).differences).toEqual([]);
  });

  it('a view store is closed once when its views are closed', async () => {
    let closed = 0;
    const kept = memoryViews();
    const counting = {
      ...kept,
      open: async () => ({ ...(await kept.open()), close: async () => void closed++ }),
    };
    await using world = await open();
    const views = await openViews(world, [words], { store: counting });
    await Promise.all([views.close(), views.close()]);
    expect(closed).toBe(1);
  });

  it('two processes with the same views end with the same rows [VIEW-1]', async () => {
    const [store, kept] = [memory(), memoryViews()];
    await using world = await open(store);
    await using one = await openViews(world, [words, kinds], { store: kept });
    await using other = await openViews(world, [words, kinds], { store: kept });
    await sayAll(world, ['tea', 'milk', 'tea', 'salt']);
    await Promise.all([one.caughtUp(), other.caughtUp()]);
    expect(await one.view(words).query()).toEqual(await other.view(words).query());
    expect((await one.verify()).differences).toEqual([]);
  });

  async function whileOpen(store: Store, body: (world: World) => Promise<unknown>): Promise<void> {
    await using world = await open(store);
    await body(world);
  }
});

describe('views that are made again', () => {
  it('rebuilt views leave the host its turns: timers fire and requests are answered meanwhile', async () => {
    await using world = await open();
    await Promise.all(Array.from({ length: 300 }, (_, i) => ask(world, 'a', [fact(`w${i % 7}`)])));
    await using views = await openViews(world, [words, kinds]);
    await new Promise((turn) => setImmediate(turn));
    expect(views.view(kinds).seq).toBeLessThan(world.head.seq);
    await views.caughtUp();
    expect(views.view(kinds).seq).toBe(world.head.seq);
  });
});

describe('a view store that fails', () => {
  it('a failed view store stops the views with an error; they stay readable, and the world continues [VIEW-5]', async () => {
    const kept = memoryViews();
    let full = false;
    const filling = {
      ...kept,
      open: async () => {
        const opened = await kept.open();
        return {
          ...opened,
          commit: async (commits: Parameters<typeof opened.commit>[0]) => {
            if (full) throw new RepriseError('store_full', 'no space left');
            await opened.commit(commits);
          },
        };
      },
    };
    const told: string[] = [];
    await using world = await open();
    await using views = await openViews(world, [words], { store: filling, onFailed: ({ code }) => told.push(code) });
    const seq = await sayAll(world, ['tea']);
    await views.caughtUp(seq);
    full = true;
    const later = await sayAll(world, ['milk']);
    expect((await refusalOf(views.caughtUp(later)))?.code).toBe('store_full');
    expect(told).toEqual(['store_full']);
    expect((await views.view(words).query()).rows.map(({ key }) => key)).toEqual(['tea']);
    expect((await ask(world, 'a', [add(1)])).seq).toBe(later + 1);
    full = false;
    await using again = await openViews(world, [words], { store: filling });
    await again.caughtUp();
    expect(await again.view(words).get('milk')).toBeDefined();
  });
});

describe('verification of views', () => {
  it('verification accepts views that agree with the journal', async () => {
    await using world = await open();
    await using views = await openViews(world, [words, kinds]);
    await sayAll(world, ['tea', 'milk', 'tea']);
    await views.caughtUp();
    const { views: found, differences } = await views.verify();
    expect(found.map(({ view }) => view)).toEqual(['lab/Words@1', 'lab/Kinds@1']);
    expect(differences).toEqual([]);
  });

  it('verification reads views of several pages to their end', async () => {
    const many = defineProjection({
      name: 'lab/Many@1',
      row: z.strictObject({ n: z.int() }),
      from: { 'fact:lab/Said@1': true },
      fold: (rows) => {
        for (let n = 0; n < 2_500; n++) rows.put(n, { n });
      },
    });
    const kept = memoryViews();
    await using world = await open();
    await using views = await openViews(world, [many], { store: kept });
    await sayAll(world, ['go']);
    await views.caughtUp();
    expect((await views.verify()).views).toMatchObject([{ entries: 2_500 }]);
    const behind = await kept.open();
    const mark = await behind.mark('lab/Many@1');
    const all = await behind.scan('lab/Many@1', { from: new Uint8Array(), to: null, limit: 9_999 });
    const changes = [[all[2_400]?.[0] as Uint8Array, null]] as const;
    if (mark !== null) await behind.commit([{ view: 'lab/Many@1', expected: mark, clear: false, changes, mark }]);
    expect((await views.verify()).differences).toMatchObject([{ where: '2400', rebuilt: { n: 2_400 } }]);
  });

  it.each(['changed', 'gone', 'added'] as const)(
    'verification names a row that was %s outside the views [VIEW-7]',
    async (how) => {
      const kept = memoryViews();
      await using world = await open();
      await using views = await openViews(world, [words], { store: kept });
      await sayAll(world, ['milk', 'tea']);
      await views.caughtUp();
      const behind = await kept.open();
      const [mark, entries] = [
        await behind.mark('lab/Words@1'),
        await behind.scan('lab/Words@1', { from: new Uint8Array(), to: null, limit: 2 }),
      ];
      const [, [key, bytes]] = entries as [unknown, [Uint8Array, Uint8Array]];
      if (mark === null) throw new Error('no mark');
      const other = new Uint8Array(bytes);
      other[other.length - 1] = (other.at(-1) ?? 0) ^ 1;
      const at = how === 'added' ? Uint8Array.of(...key.subarray(0, -1), 0x7a, 0) : key;
      const changes = [[at, how === 'gone' ? null : how === 'added' ? bytes : other]] as const;
      await behind.commit([{ view: 'lab/Words@1', expected: mark, clear: false, changes, mark }]);
      const [difference] = (await views.verify()).differences;
      expect([difference?.view, difference?.where]).toEqual(['lab/Words@1', how === 'added' ? '"teaz"' : '"tea"']);
      const sides = [difference?.stored !== undefined, difference?.rebuilt !== undefined];
      expect(sides).toEqual([how !== 'gone', how !== 'added']);
    },
  );
});

describe('wrong use', () => {
  it.each([
    [{ index: 'none' }],
    [{ limit: 0 }],
    [{ limit: 1_001 }],
    [{ order: 'up' as never }],
    [{ after: 'zz' }],
    [{ after: '01', index: 'count' }],
  ])('%j is refused', async (query) => {
    await using world = await open();
    await using views = await openViews(world, [words]);
    expect((await refusalOf(views.view(words).query(query)))?.code).toBe('invalid_argument');
  });

  it('a view that was not opened, and one that is opened twice, are refused', async () => {
    await using world = await open();
    await using views = await openViews(world, [words]);
    expect(() => views.view(kinds)).toThrow(/invalid_argument/);
    expect(() => views.view(countedTwice)).toThrow(/invalid_argument/);
    expect((await refusalOf(openViews(world, [words, words])))?.code).toBe('duplicate_definition');
  });

  it('the views of a closed world stay readable, and waiting readers get an error', async () => {
    const world = await open();
    await using views = await openViews(world, [words]);
    const seq = await sayAll(world, ['tea']);
    await views.caughtUp(seq);
    await world.close();
    expect((await refusalOf(views.caughtUp(seq + 1)))?.code).toBe('world_closed');
    expect(await views.view(words).get('tea')).toBeDefined();
  });
});
