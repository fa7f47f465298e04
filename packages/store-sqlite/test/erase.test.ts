/** Erasing leaves no byte behind: looked for in the files themselves, by another process. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ref } from '@reprise/contracts';
import { defineApp, EMPTY_HEAD, openKernelWorld, putErasable, verifyStore } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomFrom } from '../../../conformance/random.js';
import { sqliteDriver } from '../src/database/driver.js';
import { sqlite } from '../src/index.js';
import { watchColumns } from './column-names.js';
import { freshDirectory, tamper } from './fixtures.js';
import { noise } from './frames.js';

const columnsAreWatched = await watchColumns();

let place: ReturnType<typeof freshDirectory>;
let path: string;

beforeEach(() => {
  place = freshDirectory();
  path = join(place.dir, 'w.db');
});

afterEach(() => place.remove());

const SIZES = [40, 300, 2_000, 8_000, 20_000, 50_000, 70_000];
const MARK = /mark-[0-9a-f]{16}/g;
const seed = Number(process.env.ERASE_SEED ?? Date.now() % 1_000_000);

/** The bytes of all files of the store. Read by another process: this one would drop SQLite's locks. */
function bytesOnDisk(): Buffer {
  return execFileSync('find', [place.dir, '-type', 'f', '-exec', 'cat', '{}', '+'], { maxBuffer: 1 << 30 });
}

/** Every mark that stands in any file of the store. */
function marksOnDisk(): Set<string> {
  return new Set(bytesOnDisk().toString('latin1').match(MARK));
}

/** The packs of blobs by number, as they stand in the file. */
async function packsInFile(): Promise<Map<number, Buffer>> {
  const db = (await sqliteDriver()).open(path, 'read');
  const rows = db.prepare('SELECT id, bytes FROM pack').all();
  db.close();
  return new Map(rows.map(([id, bytes]) => [id as number, Buffer.from(bytes as Uint8Array)]));
}

/** Pieces of a pack, each as it stands in one page. */
function piecesOf(pack: Buffer): Buffer[] {
  return [2, pack.length >> 2, pack.length >> 1, pack.length - 24].map((at) => pack.subarray(at, at + 20));
}

/** A blob of about a size that contains its mark again and again, among digits that do not repeat. */
function marked(name: string, size: number): { readonly mark: string; readonly bytes: Uint8Array } {
  const mark = `mark-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
  const digits = Buffer.from(noise(name, Math.ceil(size / 2))).toString('hex');
  const pieces = digits.match(/.{1,200}/g) ?? [];
  return { mark, bytes: new TextEncoder().encode(pieces.map((piece) => `${mark}${piece}`).join('')) };
}

describe('given blobs that are erased', () => {
  it(`a search of the open files finds nothing of the erased blobs, plain or deflated (seed ${seed}) [CON-9]`, async () => {
    const random = randomFrom(seed);
    for (let i = 0; i < 8; i++) random();
    const open = await sqlite(path).open();
    const live = new Map<string, Ref>();
    const gone = new Set<string>();
    const emptied = new Map<number, Buffer[]>();
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 30; i++) {
        const { mark, bytes } = marked(`${seed} ${round} ${i}`, SIZES[Math.floor(random() * SIZES.length)] as number);
        live.set(mark, await open.content.put(bytes));
      }
      if (round % 3 > 0) await open.journal.append([], EMPTY_HEAD);
      const before = await packsInFile();
      // Some rounds erase from few packs, so that others stay.
      const doomed = [...live].filter(() => random() < (round % 2 === 0 ? 0.4 : 0.01));
      await open.content.erase(
        doomed.map(([, ref]) => ref),
        round,
      );
      for (const [mark] of doomed) {
        live.delete(mark);
        gone.add(mark);
      }
      const after = await packsInFile();
      for (const [pack, bytes] of before) {
        if (!emptied.has(pack) && after.get(pack)?.every((byte) => byte === 0)) emptied.set(pack, piecesOf(bytes));
      }
    }
    await open.journal.append([], EMPTY_HEAD);
    const found = marksOnDisk();
    expect([...gone].filter((mark) => found.has(mark))).toEqual([]);
    const disk = bytesOnDisk();
    const packs = [...(await packsInFile())].filter(([pack]) => !emptied.has(pack));
    // Blobs that stayed may begin another pack with the same bytes.
    const stays = (piece: Buffer): boolean => packs.some(([, bytes]) => bytes.includes(piece));
    const left = [...emptied].filter(([, pieces]) => pieces.some((piece) => disk.includes(piece) && !stays(piece)));
    expect(left.map(([pack]) => pack)).toEqual([]);
    expect(emptied.size, 'packs that were emptied').toBeGreaterThan(3);
    expect(packs.length, 'packs that stay').toBeGreaterThan(1);
    const hidden = packs.filter(([, bytes]) => !piecesOf(bytes).some((piece) => disk.includes(piece)));
    expect(hidden, 'the search finds what is there').toEqual([]);
    for (const [mark, ref] of live) {
      expect(Buffer.from((await open.content.get(ref)) ?? []).toString('latin1', 0, mark.length)).toBe(mark);
    }
    await open.close();
  });

  it('an erasure is unfinished while a reader uses the old pages, and finished when it is repeated', async () => {
    const open = await sqlite(path).open();
    const { mark, bytes } = marked('one', 500);
    const ref = await open.content.put(bytes);
    await open.journal.append([], EMPTY_HEAD);
    const reader = (await sqliteDriver()).open(path, 'read');
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM blob').all();
    await expect(open.content.erase([ref], 1)).rejects.toMatchObject({ code: 'store_failed' });
    expect(marksOnDisk().has(mark)).toBe(true);
    expect(await open.content.erasedThrough()).toBe(-1);
    reader.exec('ROLLBACK');
    reader.close();
    await open.content.erase([ref], 1);
    expect(marksOnDisk().has(mark)).toBe(false);
    expect(await open.content.erasedThrough()).toBe(1);
    await open.close();
  });

  it('the same bytes fill an erased row again', async () => {
    const open = await sqlite(path).open();
    const { mark, bytes } = marked('again', 500);
    const ref = await open.content.put(bytes);
    await open.journal.append([], EMPTY_HEAD);
    await open.content.erase([ref], 1);
    await open.content.put(bytes);
    await open.journal.append([], EMPTY_HEAD);
    await open.close();
    expect(marksOnDisk().has(mark)).toBe(true);
    const reader = await sqlite(path).openReadonly();
    expect(await reader.content.get(ref)).toEqual(bytes);
    await reader.close();
  });
});

describe('given a process that died in an erasure', () => {
  const app = defineApp({ reducers: [] });

  for (const left of ['nothing was erased', 'the rows were erased', 'only its note was missing'] as const) {
    it(`opening finishes an erasure when ${left} [CON-12]`, async () => {
      const world = await openKernelWorld({ store: sqlite(path), app });
      const [small, large] = [marked('small', 500), marked('large', 100_000)];
      const refs = [await putErasable(world.content, small.bytes), await putErasable(world.content, large.bytes)];
      const before = await Promise.all(refs.map((ref) => world.content.get(ref)));
      const { seq } = await world.erase({ refs });
      await world.close();
      await tamper(path, "DELETE FROM meta WHERE name = 'erased_through'");
      if (left !== 'only its note was missing') restoreFile(refs[1] as Ref, before[1] as Uint8Array);
      if (left === 'nothing was erased') await restoreRow(refs[0] as Ref, before[0] as Uint8Array);
      expect(marksOnDisk().has(large.mark)).toBe(left !== 'only its note was missing');
      await verifies(app);

      const again = await openKernelWorld({ store: sqlite(path), app });
      expect(marksOnDisk().size).toBe(0);
      expect(again.head.seq).toBe(seq);
      await again.close();
      await verifies(app);
    });
  }

  function restoreFile({ hex }: Ref, bytes: Uint8Array): void {
    const file = join(`${path}.blobs`, hex.slice(0, 2), hex);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }

  async function restoreRow({ hex }: Ref, bytes: Uint8Array): Promise<void> {
    await tamper(path, `UPDATE blob SET bytes = x'${Buffer.from(bytes).toString('hex')}' WHERE digest = x'${hex}'`);
    await tamper(path, 'DELETE FROM erased');
  }

  async function verifies(of: typeof app): Promise<void> {
    const reader = await sqlite(path).openReadonly();
    await verifyStore(reader, { app: of });
    await reader.close();
  }
});

describe('given a store that was made before there were tombstones', () => {
  it('an older store has no tombstones when it is read, and gets a table for them when it is opened for writing', async () => {
    const open = await sqlite(path).open();
    const ref = await open.content.put(Uint8Array.of(1, 2, 3));
    await open.journal.append([], EMPTY_HEAD);
    await open.close();
    await tamper(path, 'DROP TABLE erased');
    const reader = await sqlite(path).openReadonly();
    expect(await reader.content.get(ref)).toEqual(Uint8Array.of(1, 2, 3));
    expect(await reader.content.erasedBy(ref)).toBeUndefined();
    await reader.close();
    const again = await sqlite(path).open();
    await again.content.erase([ref], 1);
    expect(await again.content.erasedBy(ref)).toBe(1);
    await again.close();
    expect(existsSync(path)).toBe(true);
  });
});

columnsAreWatched();
