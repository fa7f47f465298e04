import { join } from 'node:path';
import { testDirectory } from '@reprise/testkit/ports';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../scripts/lib/cpu.js';
import { sqlite, sqliteDirectory } from '../src/index.js';
import { watchColumns } from './column-names.js';
import { freshDirectory, tamper } from './fixtures.js';

const columnsAreWatched = await watchColumns();

testDirectory({
  name: 'sqlite',
  runner: { describe, it },
  make: async () => {
    const { dir, remove } = freshDirectory();
    const path = join(dir, 'host.db');
    return {
      directory: sqliteDirectory(path),
      again: () => sqliteDirectory(path),
      dispose: async () => remove(),
    };
  },
});

describe('given a file that is no directory', () => {
  it('the file of a world or of another program is refused and not changed', async () => {
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
  /** The least CPU time that a hundred questions took, of some hundreds, when there are so many worlds. */
  async function asking(worlds: number): Promise<number> {
    const { dir, remove } = freshDirectory();
    const open = await sqliteDirectory(join(dir, 'host.db')).open();
    await open.set(
      Array.from({ length: worlds }, (_, i) => ({ world: `w${i}`, nextWakeAt: 1_000 + i, open: i % 2 === 0 })),
    );
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 8; round++) {
      const cost = await cpuMsOf(async () => {
        for (let i = 0; i < 100; i++) {
          expect(await open.due(1_001, 8)).toHaveLength(1);
          expect(await open.nextDue(1_001)).toBe(1_003);
        }
      });
      least = Math.min(least, cost);
    }
    await open.close();
    remove();
    return least;
  }

  it('an index answers which worlds are due, as fast for ten thousand as for fifty', async () => {
    const [few, many] = [await asking(50), await asking(10_000)];
    expect(many / few).toBeLessThan(10); // reading every row would be two hundred times as much
  });
});

columnsAreWatched();
