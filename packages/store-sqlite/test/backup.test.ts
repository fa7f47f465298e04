/** A copy of a world that goes on: whole, verified, and over nothing. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { creates, defineApp, defineReducer, openKernelWorld, verifyStore, type World } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { sqlite } from '../src/index.js';
import { watchColumns } from './column-names.js';
import { freshDirectory, tamper } from './fixtures.js';

const columnsAreWatched = await watchColumns();

const app = defineApp({
  reducers: [
    defineReducer({
      name: 'demo/Counter@1',
      state: z.strictObject({ n: z.int() }),
      events: { 'demo/Added@1': creates(z.strictObject({ by: z.int() })) },
      init: () => ({ n: 0 }),
      reduce(draft, event) {
        draft.n += event.value.by;
      },
    }),
  ],
});

/** The file that cannot be given its name, as when its disk fails. */
const renames = vi.hoisted((): { failsTo: string | undefined } => ({ failsTo: undefined }));
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const rename: typeof real.rename = async (from, to) => {
    if (to === renames.failsTo) throw Object.assign(new Error('the disk failed'), { code: 'EIO' });
    return real.rename(from, to);
  };
  return { ...real, rename };
});

let place: ReturnType<typeof freshDirectory>;
let path: string;
let copy: string;

beforeEach(() => {
  place = freshDirectory();
  [path, copy] = [join(place.dir, 'w.db'), join(place.dir, 'copy.db')];
});

afterEach(() => place.remove());

const add = (world: World, id?: string) =>
  world.request(['demo/Counter@1', 'a'], { name: 'demo/Added@1', value: { by: 1 } }, id === undefined ? {} : { id });

async function verify(file: string, expect: string): Promise<number> {
  const store = await sqlite(file).openReadonly();
  try {
    return (await verifyStore(store, { app, expect })).frames;
  } finally {
    await store.close();
  }
}

describe('a backup', () => {
  it('a backup is refused beside another backup of the same name, and removes nothing of it [JRN-34]', async () => {
    const world = await openKernelWorld({ store: sqlite(path), app });
    const others = [`${copy}.part.blobs`, `${copy}.part`];
    for (const [i, other] of others.entries()) {
      if (i === 0) mkdirSync(other);
      else writeFileSync(other, 'theirs');
      const refused = { code: 'invalid_argument', details: { where: other, hint: expect.stringMatching(/Remove it/) } };
      await expect(world.backup(copy)).rejects.toMatchObject(refused);
      expect(existsSync(other)).toBe(true);
      rmSync(other, { recursive: true });
    }
    await world.backup(copy);
    await world.close();
  });

  it('a backup leaves nothing at its place when its last step fails [JRN-34]', async () => {
    const world = await openKernelWorld({ store: sqlite(path), app });
    await world.content.put(new Uint8Array(900_000).fill(7));
    await add(world);
    renames.failsTo = copy;
    await expect(world.backup(copy)).rejects.toMatchObject({ code: 'store_failed' });
    renames.failsTo = undefined;
    expect(readdirSync(place.dir).filter((name) => name.startsWith('copy.db') && !name.endsWith('-lock'))).toEqual([]);
    await world.backup(copy);
    await world.close();
  });

  it('a backup of an open world has all frames acknowledged before it began, verifies and can be opened [JRN-34]', async () => {
    const world = await openKernelWorld({ store: sqlite(path), app, snapshotEvery: 20 });
    for (let i = 0; i < 50; i++) await add(world, `r${i}`);
    const refs = [];
    for (const size of [30, 60_000, 70_000, 900_000]) {
      refs.push(await world.content.put(new Uint8Array(size).fill(size)));
    }
    await add(world);
    const { head } = world;
    const made = await world.backup(copy);
    expect(made).toMatchObject({ path: copy, head });
    await add(world);
    expect(await verify(copy, head.digest)).toBe(head.seq + 1);

    const again = await openKernelWorld({ store: sqlite(copy), app, expectHead: head });
    expect(again.head.seq).toBe(head.seq);
    for (const ref of refs) expect(await again.content.has(ref)).toBe(true);
    expect((await add(again, 'r7')).seq).toBeLessThan(head.seq); // asked before: the copy knows it
    await again.close();
    await world.close();
    expect(readdirSync(place.dir).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('a backup of a world with concurrent writes and erasures is a consistent snapshot [JRN-34]', async () => {
    const world = await openKernelWorld({ store: sqlite(path), app });
    for (let i = 0; i < 300; i++) await world.content.put(new Uint8Array(9_000).fill(i % 251).fill(i >> 8, 0, 2));
    const large = await world.content.put(new Uint8Array(300_000).fill(7));
    await add(world);
    let going = true;
    const writing = (async () => {
      for (let i = 0; going; i++) {
        await add(world);
        if (i === 3) await world.erase({ refs: [large] });
      }
    })();
    const made = await sqlite(path).backup(copy);
    going = false;
    await writing;
    expect(await verify(copy, made.head.digest)).toBe(made.head.seq + 1);
    await world.close();
  });

  it('a backup of a closed world is the same world', async () => {
    const world = await openKernelWorld({ store: sqlite(path), app });
    await add(world);
    const { head } = world;
    await world.close();
    expect((await sqlite(path).backup(copy)).head).toEqual(head);
    const again = await openKernelWorld({ store: sqlite(copy), app });
    expect([again.id, again.created]).toEqual([world.id, false]);
    await again.close();
  });

  it.each([
    ['a world', () => copy, async () => (await sqlite(copy).open()).close()],
    ['a file', () => copy, async () => writeFileSync(copy, '')],
    ['a folder of blobs', () => `${copy}.blobs`, async () => mkdirSync(`${copy}.blobs`)],
    ['a log', () => `${copy}-wal`, async () => writeFileSync(`${copy}-wal`, '')],
  ])('a backup never replaces %s [JRN-34]', async (_, at, make) => {
    const world = await openKernelWorld({ store: sqlite(path), app });
    await make();
    await expect(world.backup(copy)).rejects.toMatchObject({ code: 'invalid_argument', details: { where: at() } });
    await expect(world.backup(path)).rejects.toMatchObject({ code: 'world_locked' });
    await world.close();
  });

  it('a backup of a damaged world is refused and leaves no file', async () => {
    const world = await openKernelWorld({ store: sqlite(path), app });
    for (let i = 0; i < 5; i++) await add(world);
    await world.close();
    await tamper(path, 'UPDATE frame SET bytes = zeroblob(100) WHERE seq = 3');
    await expect(sqlite(path).backup(copy)).rejects.toMatchObject({ code: 'journal_damaged' });
    await tamper(path, "UPDATE frame SET head = 'text' WHERE seq = 3");
    await expect(sqlite(path).backup(copy)).rejects.toBeInstanceOf(Error);
    expect(readdirSync(place.dir).filter((name) => name.startsWith('copy.db') && name !== 'copy.db-lock')).toEqual([]);
  });

  it('a backup of a path without a world is refused', async () => {
    await expect(sqlite(path).backup(copy)).rejects.toMatchObject({ code: 'world_absent' });
    expect(existsSync(path)).toBe(false);
  });
});

columnsAreWatched();
