import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { creates, defineApp, defineProjection, defineReducer, openKernelWorld, type World } from '@reprise/kernel';
import { openViews } from '@reprise/kernel/views';
import { testViewStore } from '@reprise/testkit/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { sqlite, sqliteViews } from '../src/index.js';
import { watchColumns } from './column-names.js';
import { freshDirectory, tamper } from './fixtures.js';

const columnsAreWatched = await watchColumns();

testViewStore({
  name: 'sqlite',
  runner: { describe, it },
  make: async () => {
    const { dir, remove } = freshDirectory();
    return { store: sqliteViews(join(dir, 'w.db')), dispose: async () => remove() };
  },
});

const Counted = z.strictObject({ by: z.int() });
const app = defineApp({
  reducers: [
    defineReducer({
      name: 'demo/Counter@1',
      state: z.strictObject({ n: z.int() }),
      events: { 'demo/Counted@1': creates(Counted) },
      init: () => ({ n: 0 }),
      reduce(draft, event) {
        draft.n += event.value.by;
      },
    }),
  ],
});
const sums = defineProjection({
  name: 'demo/Sums@1',
  row: z.strictObject({ sum: z.int() }),
  from: { 'event:demo/Counted@1': Counted },
  indexes: { sum: (row) => row.sum },
  fold(rows, { cell, value }) {
    const key = cell?.[1] ?? '';
    rows.put(key, { sum: (rows.get(key)?.sum ?? 0) + value.by });
  },
});

function place(): string {
  const { dir, remove } = freshDirectory();
  onTestFinished(remove);
  return join(dir, 'w.db');
}

const count = (world: World, key: string, by: number) =>
  world.request(['demo/Counter@1', key], { name: 'demo/Counted@1', value: { by } });

/** Opens world and views, counts, and gives the rows. */
async function session(path: string, keys: readonly string[]): Promise<unknown> {
  await using world = await openKernelWorld({ store: sqlite(path), app });
  await using views = await openViews(world, [sums], { store: sqliteViews(path) });
  for (const key of keys) await count(world, key, 1);
  await views.caughtUp();
  expect((await views.verify()).differences).toEqual([]);
  return (await views.view(sums).query({ index: 'sum' })).rows.map(({ key, row }) => [key, row.sum]);
}

describe('views beside a world in SQLite', () => {
  it('views are continued at the next opening, in a file of their own', async () => {
    const path = place();
    await session(path, ['a', 'b', 'a']);
    expect(existsSync(`${path}.views`)).toBe(true);
    expect(await session(path, ['b', 'b'])).toEqual([
      ['a', 2],
      ['b', 3],
    ]);
  });

  it.each([
    ['deleted', async (file: string) => rmSync(file)],
    ['cut in the middle', async (file: string) => writeFileSync(file, 'SQLite format 3\0 and no more')],
    [
      'given a trigger',
      async (file: string) => tamper(file, 'CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END'),
    ],
    ['given another column', async (file: string) => tamper(file, 'ALTER TABLE view ADD COLUMN extra TEXT')],
    ['of an older layout', async (file: string) => tamper(file, 'PRAGMA user_version = 99')],
  ])('views are rebuilt when their file was %s', async (_, damage) => {
    const path = place();
    await session(path, ['a', 'b', 'a']);
    await damage(`${path}.views`);
    expect(await session(path, [])).toEqual([
      ['b', 1],
      ['a', 2],
    ]);
  });

  it('a file of another program is not touched', async () => {
    const path = place();
    await tamper(`${path}.views`, 'CREATE TABLE precious (x); PRAGMA application_id = 7');
    await expect(sqliteViews(path).open()).rejects.toThrow(/store_failed/);
    await tamper(`${path}.views`, 'INSERT INTO precious VALUES (1)');
  });
});

columnsAreWatched();
