import { join } from 'node:path';
import { testDirectory } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { sqlite, sqliteDirectory } from '../src/index.js';
import { freshDirectory, tamper } from './fixtures.js';

testDirectory({
  name: 'sqlite',
  runner: { describe, it },
  make: async () => {
    const { dir, remove } = freshDirectory();
    const path = join(dir, 'a', 'host.db');
    return {
      directory: sqliteDirectory(path),
      again: () => sqliteDirectory(path),
      dispose: async () => remove(),
    };
  },
});

describe('given a file that is no directory', () => {
  it('when it is the file of a world, or of another program, then it is refused and not written to', async () => {
    const { dir, remove } = freshDirectory();
    const [world, foreign, directory] = [join(dir, 'w.db'), join(dir, 'f.db'), join(dir, 'host.db')];
    await (await sqlite(world).open()).close();
    await tamper(foreign, 'CREATE TABLE theirs (x)');
    for (const path of [world, foreign]) {
      await expect(sqliteDirectory(path).open()).rejects.toMatchObject({ code: 'journal_damaged' });
    }
    await (await sqliteDirectory(directory).open()).close();
    await expect(sqlite(directory).open()).rejects.toMatchObject({ code: 'journal_damaged' });
    await (await sqlite(world).open()).close(); // and the lock was given back
    remove();
  });
});

describe('given ten thousand worlds', () => {
  it('when one is due, then the index answers, not the table', async () => {
    const { dir, remove } = freshDirectory();
    const open = await sqliteDirectory(join(dir, 'host.db')).open();
    const rows = Array.from({ length: 10_000 }, (_, i) => ({
      world: `w${i}`,
      nextWakeAt: 1_000 + i,
      open: i % 2 === 0,
    }));
    await open.set(rows);
    const began = performance.now();
    for (let i = 0; i < 100; i++) {
      expect(await open.due(1_001, 8)).toEqual([{ world: 'w1', nextWakeAt: 1_001, open: false }]);
      expect(await open.nextDue(1_001)).toBe(1_003);
    }
    expect((performance.now() - began) / 200).toBeLessThan(2); // milliseconds; a scan takes several
    await open.close();
    remove();
  });
});
