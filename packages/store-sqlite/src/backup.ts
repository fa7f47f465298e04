/**
 * Copies a world, also while it is open here or in another process, and verifies the copy.
 *
 * Invariants
 * K1  No transaction lasts longer than one page of rows, so no writer waits for a backup. Copied content does not
 *     change: frames and blobs are only ever added. Only an erasure removes content; a copy during an erasure is
 *     repeated.
 * K2  The copy gets its name only when it is complete, durable and verified; no existing file is replaced.
 */
import { constants, lstatSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { Backup } from '@reprise/kernel';
import { closableReadonly } from '@reprise/kernel/driver';
import { PACK_BYTES_MAX } from '@reprise/packs';
import { type Connection, type Driver, type SqlValue, sqliteDriver } from './database/driver.js';
import { nodeSha256 } from './database/hash.js';
import { getNote, NOTES, setNote } from './database/notes.js';
import { nodeFs, syncFile } from './database/ports.js';
import { hasTombstones, prepareCopy, standingSql, transaction, WORLD } from './database/schema.js';
import { storeError } from './database/sqlite-errors.js';
import { bytesSql, digestSql, textSql, wholeSql } from './database/values.js';
import { inspectFile } from './file/inspect.js';
import { holdLock } from './file/lock.js';
import { canonicalPath, placeForWriting } from './file/place.js';
import { BlobFiles, isBlobName } from './packs/blob-files.js';
import { BlobPacks, INLINE_BYTES_MAX } from './packs/blob-packs.js';
import { contentReader } from './packs/content.js';
import { PACKED_THROUGH } from './packs/frame-packs.js';
import { READ_COLUMNS } from './packs/frame-rows.js';
import { journalReader } from './packs/journal.js';

/** The most attempts at a copy while content is erased. */
const TRIES = 5;

/** The size of a page of rows: at most this many, and fewer when their bytes exceed this bound. */
const PAGE_ROWS = 256;
const PAGE_BYTES = 1024 * 1024;

/** A key that sorts before all bytes; an empty byte string may be bound as null. */
const BEFORE_ALL = 0;

type Copied = Pick<Backup, 'head' | 'blobs'>;

/** The suffixes of a world's path, for each of its files. */
const WORLD_SIDES = ['', '-journal', '-wal', '-shm', '.blobs'];

/** The notes of the copied content; those of the writer that has it open are not copied. */
const COPIED_NOTES = ['mark', 'erased_through', PACKED_THROUGH, NOTES.clean];

/**
 * Copies a world into another file, with its blobs beside it.
 *
 * @param from the world's file, which may be open
 * @param to a path that does not exist
 * @throws RepriseError `invalid_argument` when the path exists, `world_absent`, the errors of reading and verifying the
 *   world, `store_full`, `store_failed`
 */
export async function backupWorld(from: string, to: string): Promise<Backup> {
  const driver = await sqliteDriver();
  const source = canonicalPath(from);
  const target = await placeForWriting(to, 'file');
  const release = holdLock(driver, target); // no other process can create a world there meanwhile
  const part = `${target}.part`;
  let isOurs = false;
  try {
    requireNothingAt(target);
    requireNoPart(part);
    isOurs = true;
    const world = inspectFile(driver, source, WORLD);
    if (world === undefined) throw absent(source);
    try {
      const report = await copyUntilWhole(driver, world, source, part);
      requireNothingAt(target);
      await place(part, target);
      return { path: target, ...report };
    } finally {
      world.close();
    }
  } catch (error) {
    if (isOurs) await removeWorld(part).catch(() => undefined);
    throw storeError(error, 'cannot back up', target);
  } finally {
    release();
  }
}

async function copyUntilWhole(driver: Driver, world: Connection, source: string, part: string): Promise<Copied> {
  for (let tries = 1; ; tries++) {
    const before = erasuresOf(world);
    const copy = driver.open(part, 'write');
    try {
      await copyTables(world, copy);
    } finally {
      copy.close();
    }
    const isWhole = await copyBlobs(`${source}.blobs`, `${part}.blobs`);
    try {
      if (isWhole && erasuresOf(world) === before) {
        syncFile(part);
        return await verified(driver, part);
      }
    } catch (error) {
      // The frame of the erasure was copied, and the erasure itself had not begun.
      if (!isRepriseError(error, 'erase_unfinished') || tries === TRIES) throw error;
    }
    await removeWorld(part);
    if (tries === TRIES) throw erasedMeanwhile(source);
  }
}

function erasedMeanwhile(where: string): RepriseError {
  return new RepriseError('store_failed', 'content was erased during every attempt to copy the world', {
    where,
    hint: 'Back it up while no content is being erased.',
  });
}

/** A text that changes with each step of an erasure. */
function erasuresOf(world: Connection): string {
  const count = hasTombstones(world) ? world.prepare('SELECT count(*), max(seq) FROM erased').get() : [];
  return JSON.stringify([count, getNote(world, 'erased_through')]);
}

async function copyTables(world: Connection, copy: Connection): Promise<void> {
  prepareCopy(copy);
  const newest = `SELECT ${wholeSql('seq')} FROM frame ORDER BY seq DESC LIMIT 1`;
  transaction(copy, () => {
    for (const name of COPIED_NOTES) setNote(copy, name, getNote(world, name) ?? null);
  });
  // A row may be packed while it is copied: then the pack contains it, and perhaps frames after the newest.
  await copyRows(world, copy, {
    insert: 'INSERT INTO frame (seq, first, at, kind, head, bytes, size) VALUES (?, ?, ?, CAST(? AS TEXT), ?, ?, ?)',
    select: `SELECT ${READ_COLUMNS} FROM frame WHERE seq > ? AND first <= ? ORDER BY seq LIMIT ?`,
    sizes: 'SELECT length(bytes) FROM frame WHERE seq > ? AND first <= ? ORDER BY seq LIMIT ?',
    after: [-1],
    upTo: [world.prepare(newest).get()?.[0] ?? -1],
  });
  const head = copy.prepare(newest).get()?.[0] ?? -1;
  await copyRows(world, copy, {
    insert: 'INSERT INTO landmark (kind, seq) VALUES (CAST(? AS TEXT), ?)',
    select: `SELECT ${textSql('kind')}, ${wholeSql('seq')} FROM landmark
      WHERE (kind, seq) > (CAST(? AS TEXT), ?) AND seq <= ? ORDER BY kind, seq LIMIT ?`,
    after: ['', -1],
    upTo: [head],
  });
  const requests = `SELECT ${digestSql('key')}, ${wholeSql('seq')} FROM request WHERE key > ? ORDER BY key LIMIT ?`;
  await copyRows(world, copy, {
    insert: 'INSERT INTO request (key, seq) SELECT ?, ? WHERE ? <= ?',
    select: requests,
    after: [BEFORE_ALL],
    values: ([key, seq]) => [key as SqlValue, seq as SqlValue, seq as SqlValue, head],
  });
  await copyContent(world, copy);
}

/** In the order in which packing moves blobs, so that each is found before or after its move. */
async function copyContent(world: Connection, copy: Connection): Promise<void> {
  const stands = standingSql(world);
  await copyRows(world, copy, {
    insert: 'INSERT INTO blob (digest, bytes) SELECT ?, ? WHERE ?',
    select: `SELECT ${digestSql('digest')}, ${bytesSql('bytes', INLINE_BYTES_MAX)}, ${stands}
      FROM blob WHERE digest > ? ORDER BY digest LIMIT ?`,
    sizes: 'SELECT length(bytes) FROM blob WHERE digest > ? ORDER BY digest LIMIT ?',
    after: [BEFORE_ALL],
  });
  await copyRows(world, copy, {
    insert: 'INSERT INTO packed (digest, pack, at) VALUES (?, ?, ?)',
    select: `SELECT ${digestSql('digest')}, ${wholeSql('pack')}, ${wholeSql('at')}
      FROM packed WHERE digest > ? ORDER BY digest LIMIT ?`,
    after: [BEFORE_ALL],
  });
  await copyRows(world, copy, {
    insert: 'INSERT INTO pack (id, size, bytes) VALUES (?, ?, ?)',
    select: `SELECT ${wholeSql('id')}, ${wholeSql('size')}, ${bytesSql('bytes', PACK_BYTES_MAX)}
      FROM pack WHERE id > ? ORDER BY id LIMIT ?`,
    sizes: 'SELECT length(bytes) FROM pack WHERE id > ? ORDER BY id LIMIT ?',
    after: [0],
  });
  if (!hasTombstones(world)) return;
  await copyRows(world, copy, {
    insert: 'INSERT INTO erased (digest, seq, hollow) VALUES (?, ?, 0)', // no row of zeros is copied
    select: `SELECT ${digestSql('digest')}, ${wholeSql('seq')} FROM erased WHERE digest > ? ORDER BY digest LIMIT ?`,
    after: [BEFORE_ALL],
  });
}

interface Rows {
  readonly insert: string;
  /**
   * Its parameters: the key of the last row, then {@link upTo}, then the number of rows; its first columns are the key.
   */
  readonly select: string;
  /** The lengths of the same rows, when they may be large. */
  readonly sizes?: string;
  readonly after: readonly SqlValue[];
  readonly upTo?: readonly SqlValue[];
  readonly values?: (row: readonly SqlValue[]) => readonly SqlValue[];
}

async function copyRows(world: Connection, copy: Connection, rows: Rows): Promise<void> {
  const select = world.prepare(rows.select);
  const sizes = rows.sizes === undefined ? undefined : world.prepare(rows.sizes);
  const insert = copy.prepare(rows.insert);
  const upTo = rows.upTo ?? [];
  let after = rows.after;
  for (;;) {
    const limit = sizes === undefined ? PAGE_ROWS : rowsWithin(sizes.all(...after, ...upTo, PAGE_ROWS));
    const page = select.all(...after, ...upTo, limit);
    transaction(copy, () => {
      // A null stands for a damaged value, and the table refuses it.
      for (const row of page) insert.run(...(rows.values?.(row) ?? row));
    });
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.slice(0, after.length);
    await turn();
  }
}

function rowsWithin(lengths: readonly (readonly SqlValue[])[]): number {
  let total = 0;
  const end = lengths.findIndex(([length]) => {
    total += typeof length === 'number' ? length : 0;
    return total > PAGE_BYTES;
  });
  return end === -1 ? PAGE_ROWS : Math.max(end, 1);
}

/** @returns false when a blob was erased while it was copied */
async function copyBlobs(from: string, to: string): Promise<boolean> {
  const groups = (await readdir(from).catch(() => [])).filter((name) => /^[0-9a-f]{2}$/.test(name));
  if (groups.length === 0) return true;
  await mkdir(to);
  for (const group of groups) {
    await mkdir(join(to, group));
    for (const name of (await readdir(join(from, group))).filter(isBlobName)) {
      const target = join(to, group, name);
      try {
        await copyFile(join(from, group, name), target, constants.COPYFILE_FICLONE);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
        throw error;
      }
      syncFile(target);
    }
    nodeFs.syncFolder(join(to, group));
  }
  nodeFs.syncFolder(to);
  return true;
}

async function verified(driver: Driver, part: string): Promise<Copied> {
  const db = inspectFile(driver, part, WORLD);
  if (db === undefined) throw absent(part);
  const store = {
    journal: journalReader(db, part),
    content: contentReader({ db, files: new BlobFiles(part), packs: new BlobPacks(db, part), path: part }),
    hash: nodeSha256,
    close: async () => db.close(),
  };
  try {
    const { verifyStore } = await import('@reprise/kernel'); // only a backup needs the engine
    const { head, blobs } = await verifyStore(closableReadonly(store, part));
    return { head, blobs };
  } finally {
    db.close();
  }
}

/** K2: the blobs first, so that the file gets its name when everything is there. */
async function place(part: string, target: string): Promise<void> {
  if (isThere(`${part}.blobs`)) await rename(`${part}.blobs`, `${target}.blobs`);
  try {
    await rename(part, target);
  } catch (error) {
    await rm(`${target}.blobs`, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  nodeFs.syncFolder(dirname(target));
}

function requireNothingAt(target: string): void {
  for (const side of ['', '-wal', '.blobs']) {
    if (!isThere(`${target}${side}`)) continue;
    throw new RepriseError('invalid_argument', 'the backup path already exists', {
      where: `${target}${side}`,
      expected: 'a path that does not exist',
      hint: 'Choose another path. A backup never replaces a file.',
    });
  }
}

/** Refuses to remove files that another process or a person placed there. */
function requireNoPart(part: string): void {
  for (const side of WORLD_SIDES) {
    if (!isThere(`${part}${side}`)) continue;
    throw new RepriseError('invalid_argument', 'a file of another backup is in the way', {
      where: `${part}${side}`,
      expected: 'a path without a file',
      hint: 'A backup whose process died may have left it. Remove it if no process writes it, or choose another path.',
    });
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function removeWorld(path: string): Promise<void> {
  for (const side of WORLD_SIDES) {
    await rm(`${path}${side}`, { recursive: true, force: true });
  }
}

function absent(where: string): RepriseError {
  return new RepriseError('world_absent', 'there is no world to back up', { where });
}
