/** Paths that a newcomer passes, and what is printed for each. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineApp, openKernelWorld } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noSqlite } from '../src/database/driver.js';
import { isBusy, isFull, isUnwritable, storeError } from '../src/database/sqlite-errors.js';
import { sqlite } from '../src/index.js';
import { freshDirectory, tamper } from './fixtures.js';

let place: ReturnType<typeof freshDirectory>;
beforeEach(() => {
  place = freshDirectory();
});
afterEach(() => place.remove());

const app = defineApp({ reducers: [] });

async function saidOf(path: string): Promise<string> {
  try {
    await (await openKernelWorld({ store: sqlite(path), app })).close();
    return 'opened';
  } catch (error) {
    return String(error);
  }
}

const readBy = (path: string) =>
  sqlite(path)
    .openReadonly()
    .then(() => 'read', String);

describe('the path of a world', () => {
  it('a path that cannot be opened is refused in words, without the numbers of SQLite [JRN-39]', async () => {
    const at = (name: string) => join(place.dir, name);
    mkdirSync(at('folder.db'));
    mkdirSync(at('locked.db-lock'));
    writeFileSync(at('file'), 'x');
    writeFileSync(at('text.db'), 'hello\n'.repeat(1_000));
    const said = {
      folder: await saidOf(at('folder.db')),
      locked: await saidOf(at('locked.db')),
      below: await saidOf(at('file/world.db')),
      none: await saidOf(at('none/world.db')),
      text: await saidOf(at('text.db')),
    };
    expect(said.folder).toContain('store_failed: the path is not a regular file');
    expect(said.locked).toContain('cannot take the lock: a folder stands in the place of the file');
    expect(said.below).toMatch(/expected the folder .*file; got a file of this name/);
    expect(said.none).toContain('the folder for this file does not exist');
    expect(said.text).toContain('cannot open the store: the file is not a database');
    expect(await readBy(at('folder.db'))).toContain('store_failed: the path is not a regular file');
    expect(await readBy(at('text.db'))).toContain('the file is not a database');
    expect(readFileSync(at('text.db'), 'utf8')).toBe('hello\n'.repeat(1_000));
    for (const words of Object.values(said)) expect(words).not.toMatch(/ConnectionFailed|: \d+"/);
  });

  it('the address of a database in the place of a path is refused, and no file of that name is made [JRN-39]', async () => {
    for (const [address, scheme] of [
      ['file:local.db', 'file:'],
      ['FILE:///tmp/world.db', 'FILE:'],
      ['libsql://x.example', 'libsql:'],
      ['postgres://ann:secret@host/db', 'postgres:'],
    ] as const) {
      const said = await saidOf(address);
      expect(said).toMatch(/^RepriseError: invalid_argument: a SQLite store needs the path of its file; at path/);
      expect(said).toContain(`got the address of a database, ${scheme}`);
      expect(said).not.toContain('secret');
    }
    expect(await saidOf(join(place.dir, 'tenant:1.db'))).toBe('opened');
  });

  it("SQLite's name of a database without a file is refused and leads to memory(); no file of that name is made [JRN-39]", async () => {
    const before = existsSync(':memory:');
    const said = await saidOf(':memory:');
    expect(said).toMatch(/^RepriseError: invalid_argument: .*got :memory:, which is no file\. .*use memory\(\)/);
    expect(existsSync(':memory:')).toBe(before);
  });

  it('a database of another program is refused with what to do, and is not changed [JRN-39]', async () => {
    const path = join(place.dir, 'users.db');
    writeFileSync(path, '');
    await tamper(path, 'CREATE TABLE users (id INTEGER)');
    const before = readFileSync(path);
    expect(await saidOf(path)).toMatch(/not a Reprise database of this type; at .*Pass another path\.$/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('an empty path is refused: it would be the current folder', () => {
    for (const path of ['', undefined as never])
      expect(() => sqlite(path)).toThrow(/^invalid_argument: a SQLite store/);
  });

  it.skipIf(process.platform !== 'linux' || process.getuid?.() === 0)(
    'a folder that this process may not write is named',
    async () => {
      mkdirSync(join(place.dir, 'readonly'));
      chmodSync(join(place.dir, 'readonly'), 0o555);
      expect(await saidOf(join(place.dir, 'readonly/world.db'))).toMatch(
        /this process may not write the folder .*readonly/,
      );
    },
  );

  it.skipIf(process.platform !== 'linux')('a folder that nobody may write is refused in words', async () => {
    const said = await saidOf('/sys/world.db');
    expect(said).toContain('store_failed: cannot take the lock: ');
    expect(said).toContain('Give this process the right to read and write the file and its folder');
    expect(said).not.toContain('ConnectionFailed');
  });

  it('files of others in the folder of blobs are passed over', async () => {
    const path = join(place.dir, 'w.db');
    expect(await saidOf(path)).toBe('opened');
    mkdirSync(`${path}.blobs/zz`, { recursive: true });
    for (const name of ['.DS_Store', 'ab', 'zz/notes.txt', 'Thumbs.db']) writeFileSync(`${path}.blobs/${name}`, 'x');
    await using world = await openKernelWorld({ store: sqlite(path), app });
    expect((await world.verify()).blobs).toBe(0);
  });

  it('a runtime without SQLite is told to install libsql only when libsql is not there', () => {
    const absent = Object.assign(new Error("Cannot find package 'libsql' imported from /app/out.js"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    expect(noSqlite(absent).message).toContain('Install the package libsql');
    const bundled = new Error('Dynamic require of "@libsql/linux-x64-gnu" is not supported');
    expect(noSqlite(bundled).message).toMatch(/does not load.*Dynamic require.*leave it out of a bundle/);
    expect(noSqlite(bundled).message).not.toContain('Install the package');
  });

  it('errors of a runtime that reports the words of SQLite alone mean what the numbers mean', () => {
    const told = (message: string) => Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR' });
    expect(isBusy(told('database is locked'))).toBe(true);
    expect(isBusy(new Error('database is locked'))).toBe(false);
    expect(isFull(told('database or disk is full'))).toBe(true);
    expect(isUnwritable(told('unable to open database file: /x'))).toBe(true);
    expect(storeError(told('database disk image is malformed'), 'cannot read', 'w.db').code).toBe('journal_damaged');
    expect(storeError(told('another thing'), 'cannot read', 'w.db').code).toBe('store_failed');
  });
});
