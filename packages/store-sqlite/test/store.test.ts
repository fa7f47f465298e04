/** What is particular to this store; the contracts it shares with others are in `ports.test.ts`. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ref } from '@reprise/contracts';
import { EMPTY_HEAD, type StoredFrame } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqliteDriver } from '../src/database/driver.js';
import { sqlite } from '../src/index.js';
import { freshDirectory, tamper } from './fixtures.js';
import { frameBytes, framesAfter, noise } from './frames.js';

let place: ReturnType<typeof freshDirectory>;
let path: string;

beforeEach(() => {
  place = freshDirectory();
  path = join(place.dir, 'w.db');
});

afterEach(() => place.remove());

async function all(items: AsyncIterable<StoredFrame>): Promise<StoredFrame[]> {
  const found: StoredFrame[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Makes a world of these groups of frames and closes it. */
async function makeWorld(groups: readonly number[], bytesOf = frameBytes): Promise<void> {
  const open = await sqlite(path).open();
  let head = EMPTY_HEAD;
  for (const size of groups) head = await open.journal.append(framesAfter(head, size, bytesOf), head);
  await open.close();
}

/** Reads the whole world without a lock. */
async function readWorld(): Promise<StoredFrame[]> {
  const reader = await sqlite(path).openReadonly();
  try {
    return await all(reader.journal.read(0));
  } finally {
    await reader.close();
  }
}

describe('the driver', () => {
  it('the driver is the one built into this Node, where there is one', async () => {
    const builtin = process.versions.node.startsWith('20.') ? 'libsql' : 'node:sqlite';
    expect((await sqliteDriver()).name).toBe(builtin);
  });
});

describe('a large blob as a file', () => {
  const MIB = 1024 * 1024;
  const bytes = new Uint8Array(20 * MIB).map((_, n) => n % 251);

  /** Makes a world with the blob, puts a file of zeros in its place, and reads it. */
  async function forged(size: number): Promise<{ refused: unknown; more: number; again: number | undefined }> {
    const open = await sqlite(path).open();
    const ref = await open.content.put(bytes);
    expect((await open.content.get(ref))?.length).toBe(bytes.length);
    const file = join(`${path}.blobs`, ref.hex.slice(0, 2), ref.hex);
    rmSync(file);
    writeFileSync(file, '');
    truncateSync(file, size);
    const before = process.memoryUsage().rss;
    const [refused, more] = await mostOf(() => open.content.get(ref).catch((error: unknown) => error));
    await open.content.put(bytes);
    const again = (await open.content.get(ref))?.length;
    await open.close();
    return { refused, more: (more - before) / MIB, again };
  }

  async function mostOf<T>(body: () => Promise<T>): Promise<[T, number]> {
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 2);
    try {
      return [await body(), Math.max(most, process.memoryUsage().rss)];
    } finally {
      clearInterval(look);
    }
  }

  it.each([300 * MIB, 3 * 1024 * MIB])(
    'a forged blob file of %i bytes is refused as damaged without being read into memory, and is whole when it is stored again [CON-18]',
    async (size) => {
      const { refused, more, again } = await forged(size);
      expect(refused).toMatchObject({ code: 'blob_damaged' });
      expect(more).toBeLessThan(80);
      expect(again).toBe(bytes.length);
    },
  );
});

describe('the files of a world', () => {
  it('the database file is complete without its WAL after a clean close', async () => {
    await makeWorld([1, 50, 1]);
    rmSync(`${path}-wal`, { force: true });
    rmSync(`${path}-shm`, { force: true });
    expect((await readWorld()).length).toBe(52);
  });

  it('a path that a URI would parse differently names the same file', async () => {
    path = join(place.dir, 'a b%20c?mode=ro#1 ü.db');
    await makeWorld([3]);
    expect((await readWorld()).length).toBe(3);
    expect(existsSync(path)).toBe(true);
  });

  it('a blob up to 64 KiB is in the database, and a larger one is a file beside it', async () => {
    const open = await sqlite(path).open();
    await open.content.put(new Uint8Array(65_536));
    await open.journal.append([], EMPTY_HEAD);
    expect(existsSync(`${path}.blobs`)).toBe(false);
    const { hex } = await open.content.put(new Uint8Array(65_537));
    expect(statSync(join(`${path}.blobs`, hex.slice(0, 2), hex)).size).toBe(65_537);
    await open.close();
  });

  it('a half-written blob of a killed writer does not count, and the next opening removes it', async () => {
    await makeWorld([1]);
    mkdirSync(`${path}.blobs/ab`, { recursive: true });
    const part = `${path}.blobs/${'ab'.repeat(32)}.0.part`;
    writeFileSync(part, 'half');
    const open = await sqlite(path).open();
    const listed: Ref[] = [];
    for await (const ref of open.content.list()) listed.push(ref);
    expect(listed).toEqual([]);
    expect(existsSync(part)).toBe(false);
    await open.close();
  });

  it('waiting blobs above the bound of memory are written before any append', async () => {
    const open = await sqlite(path).open();
    const refs: Ref[] = [];
    for (let i = 0; i < 300; i++)
      refs.push(await open.content.put(new Uint8Array(60_000).fill(i, 0, 2).fill(i >> 8, 2, 4)));
    const reader = await sqlite(path).openReadonly();
    expect(await reader.content.has(refs[0] as Ref)).toBe(true);
    expect(await reader.content.has(refs[299] as Ref)).toBe(false);
    for (const ref of refs) expect((await open.content.get(ref))?.length).toBe(60_000);
    await reader.close();
    await open.close();
  });

  it('a closed world can be read from a medium that cannot be written', async () => {
    await makeWorld([5]);
    for (const side of ['-wal', '-shm', '-lock']) rmSync(`${path}${side}`, { force: true });
    chmodSync(place.dir, 0o555);
    await asNobody(async () => {
      expect((await readWorld()).length).toBe(5);
      expect(readdirSync(place.dir)).toEqual(['w.db']);
      await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'store_failed' });
    });
    chmodSync(place.dir, 0o755);
  });
});

/** Runs a body without the rights of the superuser, whom no mode of a file stops. */
async function asNobody(body: () => Promise<void>): Promise<void> {
  const root = process.geteuid?.() === 0;
  await sqliteDriver();
  if (root) process.seteuid?.(65_534);
  try {
    await body();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

describe('a full disk', () => {
  const limited = { maxPageCount: 160 };
  const large = (seq: number): Uint8Array => noise(seq, 50_000);

  it('an append to a full disk is store_full and writes nothing, and everything before it stays readable [JRN-17]', async () => {
    const open = await sqlite(path, limited).open();
    let head = EMPTY_HEAD;
    const fill = async (): Promise<void> => {
      for (;;) head = await open.journal.append(framesAfter(head, 1, large), head);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'store_full' });
    expect(head.seq).toBeGreaterThan(5);
    expect(await open.journal.head()).toEqual(head);

    const many = framesAfter(head, 30, large);
    const ref = await open.content.put(new TextEncoder().encode('waits for space'));
    await expect(open.journal.append(many, head)).rejects.toMatchObject({ code: 'store_full' });
    expect(await open.journal.head()).toEqual(head);
    expect((await all(open.journal.read(0))).map(({ seq }) => seq)).toEqual([...Array(head.seq + 1).keys()]);
    expect(await open.content.get(ref)).toBeDefined();

    // what fits still goes in: the connection is usable
    head = await open.journal.append(framesAfter(head, 1), head);
    await open.close();

    const roomy = await sqlite(path).open();
    expect(roomy.cleanlyClosed).toBe(true);
    expect(await roomy.journal.head()).toEqual(head);
    await roomy.journal.append(framesAfter(head, 30, large), head);
    await roomy.close();
  });
});

describe('damage', () => {
  it('a file that is not a database is journal_damaged at the opening, and not changed [JRN-23]', async () => {
    writeFileSync(path, 'not a database at all, but long enough to look like one'.repeat(100));
    const before = statSync(path).mtimeMs;
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'journal_damaged' });
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'journal_damaged' });
    expect(statSync(path).mtimeMs).toBe(before);
  });

  it('the database of another program is journal_damaged at the opening, and gets no table', async () => {
    await tamper(path, 'CREATE TABLE users (name TEXT)');
    await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'journal_damaged' });
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'journal_damaged' });
    const db = (await sqliteDriver()).open(path, 'read');
    expect(db.prepare('SELECT name FROM sqlite_master').all()).toEqual([['users']]);
    db.close();
  });

  it('an empty file has no world to read, and a world can be created in it', async () => {
    writeFileSync(path, '');
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'world_absent' });
    await makeWorld([2]);
    expect((await readWorld()).length).toBe(2);
  });

  it('a store of a newer version is refused, and its lock is released', async () => {
    await makeWorld([1]);
    await tamper(path, 'PRAGMA user_version = 3');
    await expect(sqlite(path).openReadonly()).rejects.toMatchObject({ code: 'semantics_unknown' });
    for (let i = 0; i < 2; i++) await expect(sqlite(path).open()).rejects.toMatchObject({ code: 'semantics_unknown' });
  });

  it('frames before overwritten pages are read, and the error names the next one [JRN-23]', async () => {
    await makeWorld(Array(200).fill(1), (seq) => noise(seq, 10_000));
    overwritePages(240, 12);
    const seen: number[] = [];
    const reader = await sqlite(path).openReadonly();
    const reading = async (): Promise<void> => {
      for await (const frame of reader.journal.read(0)) seen.push(frame.seq);
    };
    const error: unknown = await reading().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'journal_damaged', details: { where: `${path}, frame ${seen.length}` } });
    await reader.close();
    expect(seen).toEqual([...Array(seen.length).keys()]);
    expect(seen.length).toBeGreaterThan(20);
  });

  it('a file cut short is journal_damaged when it is opened or read', async () => {
    await makeWorld(Array(100).fill(1), (seq) => noise(seq, 10_000));
    execFileSync('truncate', ['-s', String(120 * 4_096), path]);
    await expect(readWorld()).rejects.toMatchObject({ code: 'journal_damaged' });
  });

  it('reading stops at a missing row and names it [JRN-23]', async () => {
    await makeWorld([1, 1, 1, 1]);
    await tamper(path, 'DELETE FROM frame WHERE seq = 2');
    await expect(readWorld()).rejects.toMatchObject({
      code: 'journal_damaged',
      details: { where: `${path}, frame 2` },
    });
  });

  it.each([
    ['cut short', 'substr(bytes, 1, length(bytes) - 1)'],
    ['too long', "bytes || x'00'"],
    ['a wrong length inside', "substr(bytes, 1, 50) || x'ffffffff' || substr(bytes, 55)"],
    ['empty', "x''"],
  ])('reading names the frames of a row that is %s', async (_, bytes) => {
    await makeWorld([1, 4, 1]);
    await tamper(path, `UPDATE frame SET bytes = CAST(${bytes} AS BLOB) WHERE seq = 4`);
    const where = `${path}, frames 1 to 4`;
    await expect(readWorld()).rejects.toMatchObject({ code: 'journal_damaged', details: { where } });
  });
});

/** Fills pages of the closed database with noise. */
function overwritePages(first: number, count: number): void {
  const from = ['if=/dev/urandom', `of=${path}`, 'bs=4096', `seek=${first}`, `count=${count}`, 'conv=notrunc'];
  execFileSync('dd', from, { stdio: 'ignore' });
}
