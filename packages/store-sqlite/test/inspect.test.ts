import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openKernelWorld } from '@reprise/kernel';
import { defineApp } from '@reprise/kernel/define';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forgetOwner, holdsStill, newOwner, ownerText, parseOwner } from '../src/file/owner.js';
import { sqlite } from '../src/index.js';
import { watchColumns } from './column-names.js';
import { freshDirectory, tamper } from './fixtures.js';

const columnsAreWatched = await watchColumns();

let place: ReturnType<typeof freshDirectory>;
let path: string;

beforeEach(() => {
  place = freshDirectory();
  path = join(place.dir, 'w.db');
});

afterEach(() => place.remove());

const app = defineApp({ reducers: [] });

async function makeWorld(): Promise<void> {
  await (await openKernelWorld({ store: sqlite(path), app })).close();
}

describe('a file with a changed schema', () => {
  it.each([
    ['has a trigger', 'CREATE TRIGGER t AFTER INSERT ON frame BEGIN DELETE FROM frame; END'],
    ['has a view', 'CREATE VIEW v AS SELECT 1'],
    ['has a table of others', 'CREATE TABLE other (n INTEGER)'],
    ['has an index of others', 'CREATE INDEX i ON frame (bytes)'],
    ['has another column', 'ALTER TABLE frame ADD COLUMN more'],
    ['lacks a table', 'DROP TABLE frame'],
    ['has a view in place of a table', 'DROP TABLE frame; CREATE VIEW frame AS SELECT 1 AS seq'],
  ])(
    'a file that %s is refused for reading and writing, before any of its content is read [JRN-33]',
    async (_, sql) => {
      await makeWorld();
      await tamper(path, sql);
      const refused = { code: 'journal_damaged', details: { where: path } };
      await expect(sqlite(path).openReadonly()).rejects.toMatchObject(refused);
      await expect(sqlite(path).open()).rejects.toMatchObject(refused);
    },
  );

  it('a file of another version is refused with its version and the expected one', async () => {
    await makeWorld();
    await tamper(path, 'PRAGMA user_version = 9');
    const said = { code: 'semantics_unknown', details: { where: path, expected: 2, actual: 9 } };
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject(said);
  });

  it.each(['x', '1.5', '', '-2', '1e3', '12345678901234567'])(
    'a file whose note of the last erasure is %j is damaged [JRN-33]',
    async (note) => {
      await makeWorld();
      await tamper(path, `INSERT OR REPLACE INTO meta (name, value) VALUES ('erased_through', '${note}')`);
      const reader = await sqlite(path).openReadonly();
      await expect(reader.content.erasedThrough?.()).rejects.toMatchObject({ code: 'journal_damaged' });
      await reader.close();
    },
  );
});

describe('the text that names the owner of a file', () => {
  it('the text of an owner is parsed to the same owner', () => {
    const owner = newOwner('7:8');
    expect(parseOwner(ownerText(owner))).toEqual(owner);
    forgetOwner(owner);
  });

  it.each([
    '',
    'a',
    'a b 1 c d',
    'a b 1 c d e f',
    'a b 0 c d e',
    'a b -1 c d e',
    'a b 01 c d e',
    'a b 12345678901 c d e',
    'a b x c d e',
  ])('the text %j names no owner', (text) => {
    expect(parseOwner(text)).toBeUndefined();
  });
});

describe('the owner that a file names', () => {
  const here = '7:8';

  it('an owner holds a file as long as its process has it open [JRN-28]', () => {
    const owner = newOwner(here);
    expect(holdsStill(owner, here)).toBe(true);
    forgetOwner(owner);
    expect(holdsStill(owner, here)).toBe(false);
  });

  it.skipIf(process.platform !== 'linux')(
    'an owner of another process holds a file while that process lives; an unknown state does not count as held',
    () => {
      const owner = newOwner(here);
      forgetOwner(owner);
      const stat = readFileSync(`/proc/${process.ppid}/stat`, 'latin1');
      const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
      const other = { ...owner, pid: process.ppid, started };
      expect(holdsStill(other, here)).toBe(true);
      const changes = [
        { started: `${started}0` },
        { started: '' },
        { boot: 'other' },
        { namespace: 'pid:[0]' },
        { pid: 4_194_305 },
      ];
      for (const change of changes)
        expect([change, holdsStill({ ...other, ...change }, here)]).toEqual([change, false]);
      expect(holdsStill(other, '7:9')).toBe(false);
    },
  );

  it('another opening is refused while the owner lives, also without the lock file [JRN-28]', async () => {
    const world = await openKernelWorld({ store: sqlite(path), app });
    for (const name of readdirSync(place.dir)) if (name.includes('lock')) rmSync(join(place.dir, name));
    const refused = { code: 'world_locked', details: { where: path, actual: `this process, ${process.pid}` } };
    await expect(sqlite(path).open()).rejects.toMatchObject(refused);
    await world.close();
  });
});

describe('a log whose file is gone', () => {
  it.each(['removed', 'emptied'])(
    'a log whose file was %s is not a world, neither for reading nor for writing [JRN-30]',
    async (how) => {
      await makeWorld();
      if (how === 'removed') rmSync(path);
      else writeFileSync(path, '');
      writeFileSync(`${path}-wal`, new Uint8Array(100));
      await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'world_incomplete' });
      await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'world_incomplete' });
    },
  );
});

columnsAreWatched();
