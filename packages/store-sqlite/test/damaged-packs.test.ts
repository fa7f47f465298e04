/** Packs that another program damaged or forged: an error that names the frames or the blob, in bounded memory. */
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { Ref } from '@reprise/contracts';
import { EMPTY_HEAD } from '@reprise/kernel';
import { PACK_BYTES_MAX } from '@reprise/packs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqliteDriver } from '../src/database/driver.js';
import { sqlite } from '../src/index.js';
import { freshDirectory, tamper } from './fixtures.js';
import { framesAfter } from './frames.js';

const MIB = 1024 * 1024;

let place: ReturnType<typeof freshDirectory>;
let path: string;
let refs: Ref[];
/** The pack in the middle of the file. */
let pack: { readonly first: number; readonly seq: number; readonly size: number };

beforeEach(async () => {
  place = freshDirectory();
  path = join(place.dir, 'w.db');
  refs = [];
  const store = await sqlite(path).open();
  let head = EMPTY_HEAD;
  for (let n = 0; n < 100; n++) {
    refs.push(await store.content.put(new Uint8Array(Buffer.from(`blob ${n} `.repeat(500)))));
    head = await store.journal.append(framesAfter(head, 1, textOf), head);
  }
  await store.close();
  const db = (await sqliteDriver()).open(path, 'read');
  const rows = db.prepare('SELECT first, seq, size FROM frame WHERE size > length(bytes) ORDER BY seq').all();
  db.close();
  expect(rows.length).toBeGreaterThan(2);
  const [first, seq, size] = rows[1] as readonly [number, number, number];
  pack = { first, seq, size };
});

afterEach(() => place.remove());

const textOf = (seq: number): Uint8Array => new Uint8Array(Buffer.from(`frame ${seq} `.repeat(400)));

const hexOf = (bytes: Uint8Array): string => `x'${Buffer.from(bytes).toString('hex')}'`;

/** Zeros, which are a thousandth of this when they are deflated. */
const BOMB_BYTES = 112 * MIB;
const BOMB = hexOf(deflateSync(Buffer.alloc(BOMB_BYTES)));

/** More than reading may take, and less than a bomb. */
const MEMORY_MIB_MAX = 90;

/** Reads all frames. @returns how many there were, and the error after them */
async function readAll(): Promise<{ frames: number; error: unknown }> {
  const reader = await sqlite(path).openReadonly();
  let frames = 0;
  try {
    for await (const frame of reader.journal.read(0)) {
      expect(Buffer.from(frame.bytes).equals(textOf(frame.seq))).toBe(true);
      frames++;
    }
    return { frames, error: undefined };
  } catch (error) {
    return { frames, error };
  } finally {
    await reader.close();
  }
}

describe('a damaged pack of frames', () => {
  it.each<readonly [string, () => string]>([
    ['inflates to more than its size says', () => `bytes = ${BOMB}`],
    ['inflates to 112 MiB, and says so', () => `bytes = ${BOMB}, size = ${BOMB_BYTES}`],
    ['states a size of terabytes', () => `size = ${2 ** 50}`],
    ['states a size one too large', () => 'size = size + 1'],
    ['states a size one too small', () => 'size = size - 1'],
    ['states a size below its stored bytes', () => 'size = 10'],
    ['is said to be plain', () => 'size = length(bytes)'],
    ['is cut short', () => 'bytes = substr(bytes, 1, length(bytes) - 1)'],
    ['is cut to its first bytes', () => 'bytes = substr(bytes, 1, 2)'],
    ['is empty', () => "bytes = x''"],
    ['has another byte inside', () => "bytes = CAST(substr(bytes, 1, 200) || x'5a5a5a' || substr(bytes, 204) AS BLOB)"],
    ['has the head of another frame', () => 'head = zeroblob(32)'],
    ['begins a frame earlier', () => 'first = first - 1'],
    ['begins a frame later', () => 'first = first + 1'],
    ['contains bytes that are no frames', () => `bytes = ${hexOf(deflateSync(Buffer.alloc(pack.size, 7)))}`],
  ])('a pack of frames that %s is journal_damaged, after all frames before it [JRN-33, JRN-36]', async (_, change) => {
    await tamper(path, `UPDATE frame SET ${change()} WHERE seq = ${pack.seq}`);
    const before = process.memoryUsage().rss;
    const { frames, error } = await readAll();
    expect(error).toMatchObject({ code: 'journal_damaged' });
    const named = /frames? (\d+)(?: to (\d+))?$/.exec((error as { details: { where: string } }).details.where);
    expect(Number(named?.[1])).toBeLessThanOrEqual(pack.first + 1);
    expect(frames).toBe(pack.first);
    expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(MEMORY_MIB_MAX);
  });

  it('a world with a damaged pack can be appended to, and its frames after the pack can be read', async () => {
    await tamper(path, `UPDATE frame SET bytes = zeroblob(length(bytes)) WHERE seq = ${pack.seq}`);
    const store = await sqlite(path).open();
    const head = await store.journal.append(
      framesAfter(await store.journal.head(), 60, textOf),
      await store.journal.head(),
    );
    let next = pack.seq + 1;
    for await (const { seq } of store.journal.read(next)) expect(seq).toBe(next++);
    expect(next).toBe(head.seq + 1);
    await store.close();
  });

  it('damaged rows are left as they are when others are packed', async () => {
    const store = await sqlite(path).open();
    const head = await store.journal.append(
      framesAfter(await store.journal.head(), 4, textOf),
      await store.journal.head(),
    );
    await tamper(path, `UPDATE frame SET bytes = zeroblob(100), size = 100 WHERE seq = ${head.seq}`);
    let last = head;
    for (let n = 0; n < 60; n++) last = await store.journal.append(framesAfter(last, 1, textOf), last);
    await store.close();
    const { frames, error } = await readAll();
    expect(frames).toBe(head.seq - 3);
    expect(error).toMatchObject({
      code: 'journal_damaged',
      details: { where: `${path}, frames ${head.seq - 3} to ${head.seq}` },
    });
    const reader = await sqlite(path).openReadonly();
    let next = head.seq + 1;
    for await (const { seq } of reader.journal.read(next)) expect(seq).toBe(next++);
    expect(next).toBe(last.seq + 1);
    await reader.close();
  });
});

describe('a damaged pack of blobs', () => {
  /** Reads all blobs, which are listed at once and in shares. */
  const read = async (): Promise<{ listed: number; codes: Set<string> }> => {
    const reader = await sqlite(path).openReadonly();
    const codes = new Set<string>();
    const all: string[] = [];
    for await (const ref of reader.content.list()) {
      all.push(ref.hex);
      await reader.content.get(ref).catch((error: { code: string }) => codes.add(error.code));
    }
    const shared: string[] = [];
    for (const part of [0, 1, 2])
      for await (const { hex } of reader.content.listShare?.({ part, of: 3 }) ?? []) shared.push(hex);
    await reader.close();
    expect(shared.sort()).toEqual(all.sort());
    return { listed: all.length, codes };
  };

  it('blobs in packs are listed once each and are whole [CON-19]', async () => {
    expect(await read()).toEqual({ listed: refs.length, codes: new Set() });
  });

  it.each([
    ['inflates to more than its size says', `UPDATE pack SET bytes = ${BOMB}`],
    ['inflates to 112 MiB, and says so', `UPDATE pack SET bytes = ${BOMB}, size = ${BOMB_BYTES}`],
    ['states another size', 'UPDATE pack SET size = size - 1'],
    ['is cut short', 'UPDATE pack SET bytes = substr(bytes, 1, length(bytes) - 5)'],
    [
      'holds other blobs',
      `UPDATE pack SET bytes = ${hexOf(deflateSync(Buffer.alloc(PACK_BYTES_MAX)))}, size = ${PACK_BYTES_MAX}`,
    ],
    ['is not there', 'DELETE FROM pack'],
    ['holds its blobs at other places', 'UPDATE packed SET at = at + 1'],
    ['lies outside of this file', 'UPDATE packed SET pack = pack + 1000000'],
    ['is named by a text', "UPDATE packed SET pack = 'one'"],
    ['is too short for the places in it', 'UPDATE packed SET at = 9007199254740991'],
  ])(
    'each blob of a pack that %s is listed, and is blob_damaged, until it is stored again [CON-5, CON-19]',
    async (what, sql) => {
      await tamper(path, sql);
      const before = process.memoryUsage().rss;
      expect(await read()).toEqual({ listed: refs.length, codes: new Set(['blob_damaged']) });
      if (what.startsWith('inflates')) expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(MEMORY_MIB_MAX);
      const store = await sqlite(path).open();
      const bytes = new Uint8Array(Buffer.from('blob 3 '.repeat(500)));
      await store.content.put(bytes);
      await store.journal.append([], await store.journal.head());
      expect(await store.content.get(refs[3] as Ref)).toEqual(bytes);
      await store.close();
    },
  );
});
