import { type Address, type PolicyRule, type Value, value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  creates,
  defineApp,
  defineReducer,
  type ErasableContentStore,
  memory,
  openKernelWorld,
  type ReducerContext,
  type Store,
  type World,
  worldAt,
} from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound, codeOf, expectSound, framesOf, recordsOf, refusal } from '../../../support/judge.js';
import { nativeHash } from '../../../support/laws/run-schedule.js';

const BOOK = 'table/Book@1';
const book = (key: string): Address => [BOOK, key];

const line = z.strictObject({ page: z.int(), mark: z.string().default('none') });

/** What a book is told; the odd things are functions, since no journal would take them. */
const odd: Record<string, (ctx: ReducerContext) => void> = {
  'another table': (ctx) => void ctx.table('absent').size,
  'a value against its schema': (ctx) => ctx.table('lines').set('k', 'no line'),
  'an invalid value': (ctx) => ctx.table('any').set('k', Number.NaN as never),
  'a large value': (ctx) => ctx.table('any').set('k', 'x'.repeat(17_000)),
  'too much in all': (ctx) => {
    for (let i = 0; i < 5_000; i++) ctx.table('any').set(`k${i}`, i);
  },
  'too many removals': (ctx) => {
    for (let i = 0; i < 5_000; i++) ctx.table('any').delete(`k${i}`);
  },
  'an empty key': (ctx) => ctx.table('any').set('', 1),
  'a long key': (ctx) => void ctx.table('any').get('x'.repeat(257)),
  'half a character as a key': (ctx) => void ctx.table('any').delete('\ud800'),
  'a number as a key': (ctx) => ctx.table('any').set(1 as never, 1),
  'a range from two places': (ctx) => void ctx.table('any').range({ from: 'a', after: 'b' }),
  'a range of none': (ctx) => void ctx.table('any').range({ limit: 0 }),
  'a range of too many': (ctx) => void ctx.table('any').range({ limit: 257 }),
  'an invalid range': (ctx) => void ctx.table('any').range(7 as never),
  'a throw after a write': (ctx) => {
    ctx.table('any').set('k', 1);
    ctx.table('lines').delete('l000');
    throw new Error('half-way');
  },
};

let kept: ReducerContext | undefined;

const app = defineApp({
  reducers: [
    defineReducer({
      name: BOOK,
      state: z.strictObject({ seen: value() }),
      events: {
        'table/Filled@1': creates(z.strictObject({ from: z.int(), count: z.int(), text: z.string() })),
        'table/Cleared@1': z.strictObject({ from: z.int(), count: z.int() }),
        'table/Looked@1': z.strictObject({ key: z.string() }),
        'table/Odd@1': z.strictObject({ what: z.string() }),
        'table/Asked@1': creates(z.strictObject({ what: z.string() })),
        'table/Ended@1': z.strictObject({ sends: z.int() }),
      },
      tables: { lines: line, any: value() },
      init: () => ({ seen: null }),
      reduce(draft, event, ctx) {
        const lines = ctx.table<Value>('lines');
        switch (event.name) {
          case 'table/Filled@1': {
            const { from, count, text } = event.value;
            for (let i = from; i < from + count; i++)
              lines.set(keyOf(i), text === '' ? { page: i } : { page: i, mark: text });
            return;
          }
          case 'table/Cleared@1':
            for (let i = event.value.from; i < event.value.from + event.value.count; i++) lines.delete(keyOf(i));
            return;
          case 'table/Looked@1': {
            const one = lines.get(event.value.key);
            if (typeof one === 'object' && one !== null) Object.assign(one, { page: -1 }); // its own copy
            const next = lines.range({ after: event.value.key, limit: 2 });
            draft.seen = [lines.size, lines.get(event.value.key) ?? null, next, lines.first() ?? null];
            return;
          }
          case 'table/Odd@1':
            ctx.send(book('odd'), { name: 'table/Asked@1', value: { what: event.value.what } });
            return;
          case 'table/Asked@1':
            kept = ctx;
            odd[event.value.what]?.(ctx);
            return;
          case 'table/Ended@1':
            for (let i = 0; i < event.value.sends; i++)
              ctx.send(book('other'), { name: 'table/Looked@1', value: { key: 'k' } });
            ctx.send(ctx.address, { name: 'table/Filled@1', value: { from: 0, count: 1, text: 'next' } });
            ctx.end();
        }
      },
    }),
  ],
});

const keyOf = (i: number): string => `l${String(i).padStart(3, '0')}`;

async function fill(world: World, key: string, count: number, text = ''): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const stretch = { from, count: Math.min(500, count - from), text };
    await world.request(book(key), { name: 'table/Filled@1', value: stretch });
  }
}

const clear = (world: World, key: string, from: number, count: number) =>
  world.request(book(key), { name: 'table/Cleared@1', value: { from, count } });
const look = async (world: World, key: string, at: string): Promise<Value> => {
  await world.request(book(key), { name: 'table/Looked@1', value: { key: at } });
  return ((await world.state(book(key))) as { seen: Value }).seen;
};

describe('given a cell with a table', () => {
  it('a reducer sees sorted entries with defaults filled in, as its own copies [RED-29]', async () => {
    const store = memory({ hash: nativeHash });
    const world = await openKernelWorld({ store, app, recheckEvery: 1 });
    await fill(world, 'a', 3);
    await fill(world, 'a', 1, 'again');
    const none = { mark: 'none' };
    expect(await look(world, 'a', 'l000')).toEqual([
      3,
      { page: 0, mark: 'again' },
      [
        ['l001', { page: 1, ...none }],
        ['l002', { page: 2, ...none }],
      ],
      ['l000', { page: 0, mark: 'again' }],
    ]);
    await clear(world, 'a', 0, 9);
    expect(await look(world, 'a', 'l000')).toEqual([0, null, [], null]);
    await closeSound(world, store, app);
  });

  it('a table has exactly its entries after a crash and a reopening from a snapshot', async () => {
    const store = crashable(memory({ hash: nativeHash }));
    let world = await openKernelWorld({ store, app, recheckEvery: 1 });
    await fill(world, 'a', 2_000);
    await world.snapshot();
    await clear(world, 'a', 100, 900);
    const lost = clear(world, 'a', 0, 2_000).catch(() => undefined);
    await store.crash();
    await lost;
    world = await openKernelWorld({ store, app, recheckEvery: 1 });
    const wanted = (await pages(world, 'a')).length === 0 ? [] : [...numbers(0, 100), ...numbers(1_000, 2_000)];
    expect(await pages(world, 'a')).toEqual(wanted.map(keyOf));
    await closeSound(world, store, app);
  });

  it('readers get durable entries of a range, now and at earlier frames', async () => {
    const store = memory({ hash: nativeHash });
    const world = await openKernelWorld({ store, app });
    await fill(world, 'a', 600);
    const { seq } = world.head;
    await clear(world, 'a', 0, 300);
    expect((await world.table(book('a'), 'lines')).length).toBe(256);
    expect(await world.table(book('a'), 'lines', { from: 'l300', before: 'l302' })).toEqual([
      ['l300', { page: 300, mark: 'none' }],
      ['l301', { page: 301, mark: 'none' }],
    ]);
    expect(await world.table(book('a'), 'any')).toEqual([]);
    expect(await world.table(book('nobody'), 'lines')).toEqual([]);
    const then = await world.at(seq);
    expect((await then.table(book('a'), 'lines', { limit: 1 }))[0]?.[0]).toBe('l000');
    for (const range of [{ limit: 0 }, { from: '' }, { from: 'a', after: 'a' }, null, 7]) {
      expect(await codeOf(world.table(book('a'), 'lines', range as never))).toBe('invalid_argument');
      expect(await codeOf(then.table(book('a'), 'lines', range as never))).toBe('invalid_argument');
    }
    expect(await codeOf(world.table(book('a'), 'not a name'))).toBe('invalid_argument');
    expect(await codeOf(world.table('a' as never, 'lines'))).toBe('invalid_argument');
    await closeSound(world, store, app);
  });

  it('a reader needs the right to read the cell when it reads under its own rights [GATE-16]', async () => {
    const store = memory({ hash: nativeHash });
    const policy: readonly PolicyRule[] = [
      { read: `${BOOK}/b`, who: 'human:*', decision: 'deny' },
      { effect: '*', decision: 'allow' },
    ];
    const world = await openKernelWorld({ store, app, policy, recheckEvery: 1 });
    for (const key of ['a', 'b']) await fill(world, key, 2);
    const ann = world.as('human:ann');
    expect(await ann.table(book('a'), 'lines')).toEqual(await world.table(book('a'), 'lines'));
    expect(await ann.table(book('a'), 'lines', { limit: 1 })).toHaveLength(1);
    expect(await codeOf(ann.table(book('b'), 'lines'))).toBe('policy_denied');
    await closeSound(world, store, app);
  });

  it('an event in a world with a large table loads only the path to its entries [RED-28]', async () => {
    const reads = async (count: number): Promise<number> => {
      const inner = memory({ hash: nativeHash });
      {
        await using world = await openKernelWorld({ store: inner, app });
        await fill(world, 'a', count);
        await world.snapshot();
      }
      let gets = 0;
      const store: Store = {
        ...inner,
        open: async () => {
          const open = await inner.open();
          const content: ErasableContentStore = Object.create(open.content);
          content.get = (ref) => {
            gets++;
            return open.content.get(ref);
          };
          return { ...open, content };
        },
      };
      await using world = await openKernelWorld({ store, app, snapshotEvery: 0 });
      gets = 0;
      await look(world, 'a', keyOf(count >> 1));
      return gets;
    };
    const [small, large] = [await reads(100), await reads(20_000)];
    expect(large).toBeLessThan(small + 30);
  });
});

describe('given a delivery that breaks a rule of tables', () => {
  it.each<[string, string]>([
    ['another table', 'table_unknown'],
    ['a value against its schema', 'value_invalid'],
    ['an invalid value', 'value_invalid'],
    ['a large value', 'record_too_large'],
    ['too much in all', 'record_too_large'],
    ['too many removals', 'record_too_large'],
    ['an empty key', 'value_invalid'],
    ['a long key', 'value_invalid'],
    ['half a character as a key', 'value_invalid'],
    ['a number as a key', 'value_invalid'],
    ['a range from two places', 'value_invalid'],
    ['a range of none', 'value_invalid'],
    ['a range of too many', 'value_invalid'],
    ['an invalid range', 'value_invalid'],
    ['a throw after a write', 'threw'],
  ])('a delivery with %s faults as %s, and none of its changes takes effect', async (what, code) => {
    const store = memory({ hash: nativeHash });
    const world = await openKernelWorld({ store, app, recheckEvery: 1 });
    await fill(world, 'odd', 40);
    const before = await pages(world, 'odd');
    const asked = { name: 'table/Asked@1', value: { what } };
    expect((await refusal(world.request(book('odd'), asked))).details.fault).toBe(code);
    await fill(world, 'a', 1);
    await world.request(book('a'), { name: 'table/Odd@1', value: { what } });
    expect((await recordsOf(store, 'fault')).map((fault) => fault.code)).toEqual([code]);
    expect(await pages(world, 'odd')).toEqual(before);
    expect(await world.table(book('odd'), 'any')).toEqual([]);
    await closeSound(world, store, app);
  });

  it('a table that is used after its delivery throws and does nothing [RED-29]', async () => {
    const store = memory({ hash: nativeHash });
    const world = await openKernelWorld({ store, app });
    await world.request(book('a'), { name: 'table/Asked@1', value: { what: 'nothing' } });
    expect(() => kept?.table('any').set('k', 1)).toThrow(expect.objectContaining({ code: 'nondeterminism' }));
    expect(() => kept?.table('any').size).toThrow(expect.objectContaining({ code: 'nondeterminism' }));
    expect(await world.table(book('a'), 'any')).toEqual([]);
    await closeSound(world, store, app);
  });
});

describe('given a cell with a large table that ends', () => {
  it('a cell that is made again at once has only its own entries, and none of the old table [RED-30]', async () => {
    const store = memory({ hash: nativeHash });
    const world = await openKernelWorld({ store, app, recheckEvery: 1 });
    await fill(world, 'a', 1);
    await fill(world, 'other', 1);
    const leaves = async () => {
      await world.snapshot();
      return (await recordsOf(store, 'snapshot')).at(-1)?.leaves;
    };
    const before = await leaves();
    await fill(world, 'a', 6_000);
    expect(await leaves()).toBeGreaterThan(Number(before) + 180);
    // More deliveries than a frame holds stand before the sweep: it goes on in the next frame.
    await world.request(book('a'), { name: 'table/Ended@1', value: { sends: 300 } });
    expect((await framesOf(store)).at(-1)?.[0]?.kind).toBe('continue');
    expect(await world.table(book('a'), 'lines')).toEqual([['l000', { page: 0, mark: 'next' }]]);
    expect(await leaves()).toBe(before);
    const { seq } = world.head;
    const then = await worldAt(await store.openReadonly(), app, seq - 5);
    expect((await then.table(book('a'), 'lines')).length).toBe(256);
    await closeSound(world, store, app);
  });

  it('the next opening removes the rest of a table when the process died between the frames of its end [RED-30]', async () => {
    const store = crashable(memory({ hash: nativeHash }));
    let world = await openKernelWorld({ store, app });
    await fill(world, 'a', 6_000);
    await fill(world, 'other', 1);
    await world.snapshot();
    const ended = world.request(book('a'), { name: 'table/Ended@1', value: { sends: 300 } }).catch(() => undefined);
    await store.crash();
    await ended;
    world = await openKernelWorld({ store, app });
    await world.pump();
    if ((await world.table(book('a'), 'lines')).length === 256) {
      await world.request(book('a'), { name: 'table/Ended@1', value: { sends: 300 } });
    }
    await world.snapshot();
    expect((await recordsOf(store, 'snapshot')).at(-1)?.leaves).toBe(5); // the world, two cells, a node of each
    await world.close();
    await expectSound(store, app);
  });
});

/** All keys of a table, a page at a time. */
async function pages(world: World, key: string): Promise<string[]> {
  const keys: string[] = [];
  for (let page = await world.table(book(key), 'lines', { limit: 100 }); page.length > 0; ) {
    keys.push(...page.map(([at]) => at));
    page = await world.table(book(key), 'lines', { after: keys.at(-1) as string, limit: 100 });
  }
  return keys;
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
