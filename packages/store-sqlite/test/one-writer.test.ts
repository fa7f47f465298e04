/** One writer for each file, whatever name it is reached by, and nothing acknowledged into a file that is gone. */
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EMPTY_HEAD, type OpenStore } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqliteDriver } from '../src/database/driver.js';
import { MACHINE } from '../src/database/ports.js';
import { sqlite, sqliteDirectory } from '../src/index.js';
import { sqliteOn } from '../src/store.js';
import { type Child, startChild } from './child.js';
import { freshDirectory, tamper } from './fixtures.js';
import { framesAfter } from './frames.js';

let place: ReturnType<typeof freshDirectory>;
let path: string;
let children: Child[];

beforeEach(() => {
  place = freshDirectory();
  mkdirSync(join(place.dir, 'real'));
  path = join(place.dir, 'real', 'w.db');
  children = [];
});

afterEach(async () => {
  for (const child of children) await child.kill();
  place.remove();
});

const inPlace = (...names: string[]): string => join(place.dir, ...names);

/** A process that holds the world, or says with which code it was refused. */
async function holder(at: string): Promise<string> {
  const child = await startChild('holder.ts', at);
  children.push(child);
  return (await child.lines.next()).value as string;
}

async function append(open: OpenStore, count = 1): Promise<void> {
  const head = await open.journal.head();
  await open.journal.append(framesAfter(head, count), head);
}

describe('a file that another process has open', () => {
  const names: readonly (readonly [string, () => string])[] = [
    ['a symbolic link to it', () => link(path, inPlace('current.db'))],
    ['a chain of symbolic links', () => link(link(path, inPlace('one.db')), inPlace('two.db'))],
    ['a symbolic link to its folder', () => join(link(inPlace('real'), inPlace('folder')), 'w.db')],
    ['its own path, with the lock file deleted', () => remove(`${path}-lock`, path)],
    [
      'its own path, with the lock file replaced',
      () => remove(`${path}-lock`, path, () => copyFileSync(path, `${path}-lock`)),
    ],
    ['another name, to which it was moved with its log', () => moveAll(path, inPlace('real', 'v.db'))],
  ];

  function link(to: string, at: string): string {
    symlinkSync(to, at);
    return at;
  }

  function remove(file: string, then: string, more: () => void = () => undefined): string {
    rmSync(file);
    more();
    return then;
  }

  function moveAll(from: string, to: string): string {
    for (const side of ['', '-wal', '-shm']) renameSync(`${from}${side}`, `${to}${side}`);
    return to;
  }

  it.each(names)('a second process is refused the open file by %s [JRN-28]', async (_, nameOf) => {
    expect(await holder(path)).toBe('held');
    const other = nameOf();
    expect(await holder(other)).toBe('world_locked');
    await expect(sqlite(other).open()).rejects.toMatchObject({ code: 'world_locked' });
  });

  it('a hard link to an open file is refused, also for reading while the file needs its log [JRN-28]', async () => {
    expect(await holder(path)).toBe('held');
    const other = inPlace('other.db');
    linkSync(path, other);
    expect(await holder(other)).toBe('world_linked');
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_linked' });
    await expect(sqlite(other).openReadonly()).rejects.toMatchObject({ code: 'world_incomplete' });
  });

  it('a file is free again when its owner has died, although it still names that owner', async () => {
    expect(await holder(path)).toBe('held');
    await children[0]?.kill();
    rmSync(`${path}-lock`);
    const open = await sqlite(path).open();
    expect(open.cleanlyClosed).toBe(false);
    await open.close();
  });

  it('a file is free again after a failed opening, although the process that tried lives on', async () => {
    await (await sqlite(path).open()).close();
    const reader = (await sqliteDriver()).open(path, 'read');
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM meta').all();
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'store_failed' });
    reader.exec('COMMIT');
    reader.close();
    expect(await holder(path)).toBe('held');
  });

  it('an open file may be copied with its log, and the copy opens: it is another file', async () => {
    expect(await holder(path)).toBe('held');
    const copy = inPlace('copy.db');
    for (const side of ['', '-wal']) copyFileSync(`${path}${side}`, `${copy}${side}`);
    const open = await sqlite(copy).open();
    await append(open);
    await open.close();
  });
});

describe('a file that this process has open', () => {
  let open: OpenStore;
  /** The time of the machine, in milliseconds. */
  let now: number;

  beforeEach(async () => {
    now = 0;
    open = await sqliteOn({ ...MACHINE, monotonic: () => now }, path).open();
    await append(open, 3);
  });

  afterEach(async () => {
    await open.close().catch(() => undefined);
  });

  const changes: readonly (readonly [string, string, () => void])[] = [
    ['deleted', 'world_moved', () => rmSync(path)],
    ['moved away', 'world_moved', () => renameSync(path, inPlace('away.db'))],
    ['replaced by another', 'world_moved', () => replaceBy(path)],
    ['moved with its folder', 'world_moved', () => renameSync(inPlace('real'), inPlace('elsewhere'))],
    ['given a second name', 'world_linked', () => linkSync(path, inPlace('second.db'))],
    ['overwritten in its place', 'world_moved', () => truncateSync(path, 0)],
  ];

  const changesOfLogs: readonly (readonly [string, string, () => void])[] = [
    ['robbed of its log', 'world_moved', () => rmSync(`${path}-wal`)],
    ['robbed of the index of its log', 'world_moved', () => rmSync(`${path}-shm`)],
    ['given a log with a second name', 'world_linked', () => linkSync(`${path}-wal`, inPlace('second-wal'))],
  ];

  function replaceBy(file: string): void {
    copyFileSync(file, `${file}.new`);
    renameSync(`${file}.new`, file);
  }

  it.each(changes)('an open file that is %s accepts no more writes [JRN-29]', async (_, code, change) => {
    change();
    await expect(append(open)).rejects.toMatchObject({ code });
    await expect(open.mark('late')).rejects.toMatchObject({ code });
  });

  it.each(changesOfLogs)(
    'an open file that is %s accepts no write that begins 100 ms later [JRN-29]',
    async (_, code, change) => {
      now += 1_000;
      await append(open); // its files are looked at
      change();
      now += 100;
      await expect(append(open)).rejects.toMatchObject({ code });
      await expect(open.mark('late')).rejects.toMatchObject({ code });
    },
  );

  it('an open file is looked at again when nothing was written for long, before anything is written [JRN-29]', async () => {
    now += 1_000;
    truncateSync(path, 0);
    const log = readFileSync(`${path}-wal`);
    await expect(append(open)).rejects.toMatchObject({ code: 'world_moved' });
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
  });

  it('an open file accepts writes after its times changed', async () => {
    utimesSync(path, new Date(), new Date(1_000_000));
    await append(open);
    await append(open);
  });

  it('a file is taken over when its writer cannot be known to live, and that writer can write no more [JRN-28]', async () => {
    await tamper(path, `UPDATE meta SET value = 'boot ns 1 1 0:0 other' WHERE name = 'owner'`);
    await expect(append(open)).rejects.toMatchObject({ code: 'fenced' });
    expect(await open.journal.head()).toMatchObject({ seq: 2 });
  });

  it('a moved file is not closed by its old name: the log of the new file there stays', async () => {
    renameSync(inPlace('real'), inPlace('elsewhere'));
    mkdirSync(inPlace('real'));
    expect(await holder(path)).toBe('held');
    await expect(open.close()).rejects.toMatchObject({ code: 'world_moved' });
    expect(existsSync(`${path}-wal`)).toBe(true);
  });
});

/** Half a mebibyte each: SQLite moves the log into the file when it has grown to 16. */
async function appendLarge(open: OpenStore, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const head = await open.journal.head();
    await open.journal.append(
      framesAfter(head, 1, (seq) => new Uint8Array(524_288).fill(seq)),
      head,
    );
  }
}

describe('the files of a world that do not belong together', () => {
  const copied: readonly (readonly [string, (open: OpenStore) => Promise<void>])[] = [
    ['before its first append', async () => undefined],
    ['after its first append', async (open) => append(open)],
    ['later', async (open) => append(open, 400)],
    ['after its log was moved into it', async (open) => appendLarge(open, 40)],
    ['after its log was moved into it, and more', async (open) => appendLarge(open, 40).then(() => append(open))],
    ['after an erasure', async (open) => append(open).then(() => open.content.erase([], 0))],
  ];

  it.each(copied)(
    'a copy of the file alone, taken while it was open, %s, is no world to read or write [JRN-30]',
    async (_, work) => {
      const open = await sqlite(path).open();
      await work(open);
      const copy = inPlace('copy.db');
      copyFileSync(path, copy);
      await open.close();
      for (let round = 0; round < 2; round++) {
        await expect(sqlite(copy).openReadonly()).rejects.toMatchObject({ code: 'world_incomplete' });
        await expect(sqlite(copy).open()).rejects.toMatchObject({ code: 'world_incomplete' });
      }
    },
  );

  it('a file whose log was removed after a crash is no world; with its log it is one [JRN-30]', async () => {
    const child = await startChild('appender.ts', path, '1');
    for (let i = 0; i < 5; i++) await child.lines.next();
    await child.kill();
    renameSync(`${path}-wal`, inPlace('log'));
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'world_incomplete' });
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_incomplete' });
    renameSync(inPlace('log'), `${path}-wal`);
    const open = await sqlite(path).open();
    expect((await open.journal.head()).seq).toBeGreaterThan(0);
    await open.close();
  });

  it.each([
    ['overwritten', (log: string) => writeFileSync(log, 'junk'.repeat(2_000))],
    ['changed in its header', (log: string) => writeFileSync(log, 'x', { flag: 'r+' })],
    ['cut within its header', (log: string) => truncateSync(log, 31)],
  ])('a file whose log was %s after a crash is no world [JRN-30]', async (_, change) => {
    const child = await startChild('appender.ts', path, '1');
    for (let i = 0; i < 5; i++) await child.lines.next();
    await child.kill();
    change(`${path}-wal`);
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'world_incomplete' });
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_incomplete' });
  });

  it('a file that another program closed after a crash, and so took its log in, is whole', async () => {
    const child = await startChild('appender.ts', path, '1');
    const acks: string[] = [];
    for (let i = 0; i < 5; i++) acks.push((await child.lines.next()).value as string);
    acks.push(...(await child.kill()));
    await tamper(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
    for (const side of ['-wal', '-shm']) rmSync(`${path}${side}`, { force: true });
    const reader = await sqlite(path).openReadonly();
    expect((await reader.journal.head()).seq).toBeGreaterThanOrEqual(Number(acks.at(-1)?.split(' ')[0]));
    await reader.close();
  });

  it('a log without its file is no new world [JRN-30]', async () => {
    const child = await startChild('appender.ts', path, '1');
    for (let i = 0; i < 5; i++) await child.lines.next();
    await child.kill();
    rmSync(path);
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'world_incomplete' });
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_incomplete' });
    expect(existsSync(path)).toBe(false);
  });

  it('a copy of a closed file is whole', async () => {
    const open = await sqlite(path).open();
    await append(open, 5);
    await open.close();
    const copy = inPlace('copy.db');
    copyFileSync(path, copy);
    const again = await sqlite(copy).open();
    expect((await again.journal.head()).seq).toBe(4);
    await again.close();
  });
});

describe('the place of a world', () => {
  it('a new world is only the file: a path in a missing folder is refused [JRN-31]', async () => {
    const deep = inPlace('typo', 'dir', 'w.db');
    for (const opening of [sqlite(deep).open(), sqliteDirectory(deep).open()]) {
      await expect(opening).rejects.toMatchObject({
        code: 'store_failed',
        details: { expected: expect.stringContaining('typo') },
      });
    }
    await expect(sqlite(join(path, 'below', 'a', 'file.db')).open()).rejects.toMatchObject({ code: 'store_failed' });
    await expect(sqlite(deep).openReadonly()).rejects.toMatchObject({ code: 'world_absent' });
    expect(existsSync(inPlace('typo'))).toBe(false);
  });

  it('a store creates missing folders when its options request it [JRN-31]', async () => {
    const deep = inPlace('a', 'b', 'w.db');
    await (await sqlite(deep, { create: 'folders' }).open()).close();
    await (await sqliteDirectory(inPlace('c', 'd', 'host.db'), { create: 'folders' }).open()).close();
    expect([existsSync(deep), existsSync(inPlace('c', 'd', 'host.db'))]).toEqual([true, true]);
  });

  it('a new world behind a link stands where the link points, with its lock and blobs, also when the target is missing', async () => {
    symlinkSync(path, inPlace('current.db'));
    const open = await sqlite(inPlace('current.db')).open();
    await open.content.put(new Uint8Array(70_000));
    await open.journal.append([], EMPTY_HEAD);
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_locked' });
    expect([existsSync(`${path}.blobs`), existsSync(inPlace('current.db.blobs'))]).toEqual([true, false]);
    await open.close();
  });

  it('a file in the directory of a host is locked as any other', async () => {
    const open = await sqliteDirectory(inPlace('host.db')).open();
    symlinkSync(inPlace('host.db'), inPlace('link.db'));
    await expect(sqliteDirectory(inPlace('link.db')).open()).rejects.toMatchObject({ code: 'world_locked' });
    rmSync(inPlace('host.db'));
    await expect(open.set([{ world: 'a', nextWakeAt: null, open: true }])).rejects.toMatchObject({
      code: 'world_moved',
    });
    await expect(open.close()).rejects.toMatchObject({ code: 'world_moved' });
  });
});
