/** `reprise move`: a world goes from a file into a database and back, also when the command is killed on the way. */
import { existsSync } from 'node:fs';
import { openKernelWorld } from '@reprise/kernel';
import { postgres } from '@reprise/store-postgres';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import app from '../apps/app.js';
import { ended, run, start } from '../run.js';
import { add, freshFolder, makeLedger } from '../worlds.js';

/** Moves that are killed, each when the target has more frames than at the one before. */
const KILLS = 4;

describePostgres('reprise move', (own) => {
  const folder = freshFolder();
  afterAll(() => folder.remove());
  const address = (name: string): string => `${own.url}#${name}`;
  const frames = async (place: string): Promise<string> => {
    const { code, out, err } = await run('log', place, '--json');
    if (code !== 0) throw new Error(err);
    return out;
  };

  it('a world in a file is in use in the database afterwards, and back in the file with what happened there', async () => {
    const file = folder.file('home.db');
    await makeLedger(file);
    const before = await frames(file);
    const moved = await run('move', file, address('home'));
    expect(moved.err).toBe('');
    expect(moved.out).toContain(`${address('home')}: the world that was in ${file}, every byte compared`);
    expect(await frames(address('home'))).toBe(before);
    await expect(openKernelWorld({ store: sqlite(file), app })).rejects.toMatchObject({ code: 'world_elsewhere' });
    expect(await frames(file)).toBe(before);

    await using database = postgres(own.url);
    const world = await openKernelWorld({ store: database.world('home'), app });
    const { epoch } = await epochOf(own.url);
    await add(world, 7);
    await world.close();
    const back = await run('move', address('home'), file, '--json');
    expect(JSON.parse(back.out)).toMatchObject({ ok: true, to: file, seq: world.head.seq });
    expect(await frames(file)).toBe(await frames(address('home')));
    const again = await openKernelWorld({ store: sqlite(file), app });
    expect(again.head).toEqual(world.head);
    await again.close();

    expect((await run('move', file, address('home'))).code).toBe(0);
    const home = await openKernelWorld({ store: database.world('home'), app });
    expect((await epochOf(own.url)).epoch).toBeGreaterThan(epoch);
    await home.close();
  });

  it('given no world, no file is made, and given a wrong argument, nothing is written', async () => {
    const [absent, target] = [folder.file('absent.db'), folder.file('target.db')];
    const none = await run('move', absent, target);
    expect({ code: none.code, err: none.err }).toEqual({ code: 3, err: expect.stringContaining('world_absent') });
    expect([existsSync(absent), existsSync(target)]).toEqual([false, false]);
    const file = folder.file('one.db');
    await makeLedger(file);
    const before = await frames(file);
    expect((await run('move', file, file)).err).toContain('world_locked');
    expect((await run('move', file)).code).toBe(2);
    expect(await frames(file)).toBe(before);
    expect((await run('verify', file, '--integrity')).code).toBe(0);
  });

  it('given a command that is killed on the way, the world is in one place at most, and the next command ends the move', async () => {
    const file = folder.file('killed.db');
    const world = await openKernelWorld({ store: sqlite(file), app, snapshotEvery: 50 });
    for (let i = 0; i < 40; i++) await Promise.all(Array.from({ length: 25 }, () => add(world, 1)));
    await world.close();
    const before = await frames(file);
    let from = file;
    for (let kill = 0; kill < KILLS; kill++) {
      const to = from === file ? address('killed') : file;
      const process = start(folder.path, 'move', from, to);
      await until(async () => (await framesIn(to)) > kill * 250 || process.exitCode !== null);
      process.kill('SIGKILL');
      await ended(process);
      // Every other time: an opening in between closes the world, which the killed command has not.
      if (kill % 2 === 1) {
        const usable = await Promise.all([file, address('killed')].map(isUsable));
        expect(usable.filter(Boolean).length).toBeLessThan(2);
      }
      const done = await run('move', from, to);
      expect(done.err === '' || done.err.includes('world_elsewhere'), done.err).toBe(true);
      expect(await frames(to)).toBe(before);
      from = to;
    }
  });

  async function isUsable(place: string): Promise<boolean> {
    await using database = postgres(own.url);
    const store = place === address('killed') ? database.world('killed') : sqlite(place);
    const open = await store.open().catch(() => undefined);
    if (open === undefined) return false;
    const isWhole = (await open.journal.head()).seq >= 0 && [null, 'leaving'].includes(open.markAtOpen);
    await open.close();
    return isWhole;
  }

  async function framesIn(place: string): Promise<number> {
    await using database = postgres(own.url);
    const store = place === address('killed') ? database.world('killed') : sqlite(place);
    const reader = await store.openReadonly?.().catch(() => undefined);
    const head = await reader?.journal.head().catch(() => undefined);
    await reader?.close();
    return (head?.seq ?? -1) + 1;
  }

  let client: import('pg').Client;
  beforeAll(async () => {
    const { default: pg } = await import('pg');
    client = new pg.Client({ connectionString: own.url });
    await client.connect();
  });
  afterAll(() => client.end());
  async function epochOf(_: string): Promise<{ readonly epoch: number }> {
    const { rows } = await client.query("SELECT epoch::int AS epoch FROM reprise.world WHERE name = 'home'");
    return rows[0] as { readonly epoch: number };
  }
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((next) => setImmediate(next));
}
