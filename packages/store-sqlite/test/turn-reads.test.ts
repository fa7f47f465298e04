/** Readers that see one state in each turn of the event loop, and readers that do not. */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EMPTY_HEAD, type OpenStore, type ReadonlyStore } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { turnReads } from '../src/database/turn-reads.js';
import { sqlite } from '../src/index.js';
import { DRIVERS, driverNamed } from './drivers.js';
import { freshDirectory } from './fixtures.js';
import { framesAfter } from './frames.js';

let place: ReturnType<typeof freshDirectory>;
let path: string;
let writer: OpenStore;
let reader: ReadonlyStore;

beforeEach(async () => {
  place = freshDirectory();
  path = join(place.dir, 'w.db');
  writer = await sqlite(path).open();
  await writer.journal.append(framesAfter(EMPTY_HEAD, 1), EMPTY_HEAD);
  reader = await sqlite(path).openReadonly();
});

afterEach(async () => {
  await reader.close();
  await writer.close();
  place.remove();
});

const grow = async (): Promise<void> => {
  const head = await writer.journal.head();
  await writer.journal.append(framesAfter(head, 1), head);
};

const seen = async (): Promise<number> => (await reader.journal.head()).seq;

describe('reads of one turn', () => {
  it('without asking for it, each read sees all that is durable when it is made', async () => {
    expect(await seen()).toBe(0);
    await grow();
    expect(await seen()).toBe(1);
  });

  it('a reader that reads turn by turn sees in the next turn what was written in this one', async () => {
    // A transaction ends early in a long turn, and on a slow disk this one is long: no time passes here.
    const time = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const end = reader.readTurnByTurn?.();
    expect(await seen()).toBe(0);
    await grow();
    expect(await seen()).toBe(0);
    time.mockRestore();
    await nextTurn();
    expect(await seen()).toBe(1);
    end?.();
  });

  it('when the last of two readers has ended, each read sees all that is durable again, in the same turn', async () => {
    const [first, second] = [reader.readTurnByTurn?.(), reader.readTurnByTurn?.()];
    expect(await seen()).toBe(0);
    await grow();
    first?.();
    first?.();
    expect(await seen()).toBe(0);
    second?.();
    expect(await seen()).toBe(1);
  });

  it('a store is closed in the turn of a read', async () => {
    reader.readTurnByTurn?.();
    await seen();
    await reader.close();
    await nextTurn();
    await expect(seen()).rejects.toMatchObject({ code: 'world_closed' });
  });
});

describe.each(DRIVERS)('a turn of %s', (name) => {
  it('a log is emptied while a reader reads turn by turn, between two turns', async () => {
    const driver = await driverNamed(name);
    await writer.close();
    const db = driver.open(path, 'write');
    const { db: reading, readTurnByTurn } = turnReads(driver.open(path, 'read'));
    const count = reading.prepare('SELECT count(*) FROM frame');
    const end = readTurnByTurn();
    const emptied = (): unknown => db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.[0];
    db.exec('CREATE TABLE more (n INTEGER)');
    for (let turn = 0; turn < 3; turn++) {
      count.get();
      db.exec('INSERT INTO more VALUES (1)');
      expect(emptied()).toBe(1); // the reader is in the way
      await nextTurn();
      expect(emptied()).toBe(0);
    }
    end();
    reading.close();
    db.close();
    writer = { close: async () => undefined } as OpenStore;
  });

  it('a query for one row answers for its own parameters, after one that failed and after one for all rows', async () => {
    const db = (await driverNamed(name)).open(':memory:', 'write');
    db.exec('CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER)');
    db.exec('INSERT INTO t VALUES (1, -9223372036854775808), (2, 5), (3, 6)');
    const one = db.prepare('SELECT abs(v) FROM t WHERE k = ?');
    const some = db.prepare('SELECT v FROM t WHERE k >= ? ORDER BY k');
    for (let round = 0; round < 2; round++) {
      expect(() => one.get(1)).toThrow(/overflow/);
      expect(one.get(2)).toEqual([5]);
      expect(one.get(9)).toBeUndefined();
      expect(one.get(3)).toEqual([6]);
      expect(some.all(2)).toEqual([[5], [6]]);
      expect(some.get(3)).toEqual([6]);
      expect(some.get(2)).toEqual([5]);
      expect(some.all(3)).toEqual([[6]]);
    }
    db.close();
  });

  it('a query that fails ends no later one', async () => {
    const { db, readTurnByTurn } = turnReads((await driverNamed(name)).open(path, 'read'));
    const end = readTurnByTurn();
    const fails = db.prepare("SELECT abs(-9223372036854775808 + seq) FROM frame WHERE seq = 0 AND kind <> ''");
    const count = db.prepare('SELECT count(*) FROM frame');
    for (let turn = 0; turn < 3; turn++) {
      expect(() => fails.get()).toThrow(/overflow/);
      expect(count.get()).toEqual([1]);
      await nextTurn();
    }
    end();
    db.close();
  });
});
