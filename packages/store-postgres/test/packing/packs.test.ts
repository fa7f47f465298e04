/** What is particular to packs in a database: releases before them, what is erased, what is put again, and what packing may not do. */
import { isRepriseError, type Ref } from '@reprise/contracts';
import { EMPTY_HEAD, type OpenStore } from '@reprise/kernel';
import { deflated, inflated, KeptPacks } from '@reprise/packs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/connection/driver.js';
import { type PostgresDatabase, postgresWithPacks } from '../../src/database.js';
import { packBlobs } from '../../src/world/packed-blobs.js';
import { packFrames } from '../../src/world/packed-frames.js';
import type { OwnedPlace } from '../../src/world/place.js';
import { describePostgres } from '../describe-postgres.js';
import { content, frameOf, wrong } from './frames.js';

const PACK_BYTES = 4_000;

/** The statements of the release before packs, word for word: a process of it may still run. */
const OLD = {
  take: `UPDATE reprise.world SET epoch = $3, owner = $1
       WHERE id = $2 AND epoch = $3 - 1 AND owner IS NOT DISTINCT FROM $4
         AND EXISTS (SELECT FROM reprise.host h WHERE h.id = $1 AND NOT h.closed AND h.expires > clock_timestamp())
       RETURNING true`,
  page: `SELECT seq, at, kind, head, bytes FROM (
    SELECT *, sum(length(bytes)) OVER (ORDER BY seq) - length(bytes) AS before FROM (
      SELECT * FROM reprise.frame WHERE world = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT 256
    ) AS page
  ) AS sized WHERE before < 1048576 ORDER BY seq`,
};

describePostgres('packs in PostgreSQL', (own) => {
  const client = (): pg.Client => new pg.Client({ connectionString: own.url });
  let sql: pg.Client;
  let database: PostgresDatabase;
  beforeAll(async () => {
    sql = client();
    await sql.connect();
    database = postgresWithPacks(PACK_BYTES, own.url, { connectionsMax: 4 });
  });
  afterAll(async () => {
    await database.close();
    await sql.end();
  });

  async function ask<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await sql.query<T>(text, values)).rows;
  }

  const idOf = async (world: string): Promise<number> =>
    Number((await ask('SELECT id FROM reprise.world WHERE name = $1', [Buffer.from(world)]))[0]?.id);

  /** A world with frames in packs and frames in rows. */
  async function packed(world: string, frames = 40): Promise<OpenStore> {
    const store = await database.world(world).open();
    let head = EMPTY_HEAD;
    for (let n = 0; n < frames; n++) head = await store.journal.append([frameOf(n, 301)], head);
    const id = await idOf(world);
    await expect
      .poll(async () => (await ask('SELECT count(*)::int AS n FROM reprise.pack WHERE world = $1', [id]))[0]?.n)
      .toBeGreaterThan(1);
    return store;
  }

  it('a page that begins in a pack, in the middle of one, and behind the last has each frame once', async () => {
    const world = own.fresh();
    const store = await packed(world);
    for (let from = 0; from <= 41; from++) {
      let next = from;
      for await (const frame of store.journal.read(from)) expect(wrong(frame, next++)).toBeUndefined();
      expect(next).toBe(Math.max(from, 40));
    }
    await store.close();
  });

  it('a request in a pack is found by its key, and not by another key with the same number in the index', async () => {
    const world = own.fresh();
    const store = await packed(world);
    const key = frameOf(3, 0).key ?? '';
    expect(await store.journal.findKey(key)).toBe(3);
    // Another key whose number an attacker would have found: the index is made to give the pack for it.
    const other = `${'0'.repeat(32)}${key.slice(32)}`;
    const { keyHash } = await import('../../src/world/packed-keys.js');
    const id = await idOf(world);
    await ask('UPDATE reprise.pack SET keys = keys || $2::bigint WHERE world = $1', [
      ...[id, keyHash(id, Buffer.from(other, 'hex'))],
    ]);
    expect(await store.journal.findKey(other)).toBeUndefined();
    expect(await store.journal.findKey(key)).toBe(3);
    await store.close();
  });

  describe('a process of the release before packs, which still runs', () => {
    const host = async (): Promise<string> => {
      const id = '6c1a1f2e-0000-4000-8000-000000000001';
      await ask(
        `INSERT INTO reprise.host (id, process, expires) VALUES ($1, 'old', clock_timestamp() + interval '1 hour')
         ON CONFLICT DO NOTHING`,
        [id],
      );
      return id;
    };

    it('a take of the old release gets a world without packs, and is refused a packed one in words', async () => {
      const [plain, full] = [own.fresh(), own.fresh()];
      const store = await database.world(plain).open();
      await store.journal.append([frameOf(0, 10)], EMPTY_HEAD);
      await store.close();
      await (await packed(full)).close();
      const take = async (world: string): Promise<unknown[]> => {
        const [row] = await ask('SELECT epoch FROM reprise.world WHERE id = $1', [await idOf(world)]);
        return ask(OLD.take, [await host(), await idOf(world), Number(row?.epoch) + 1, null]);
      };
      expect(await take(plain)).toHaveLength(1);
      await expect(take(full)).rejects.toThrow('a packed world needs a newer release of Reprise');
      await (await database.world(full).open()).close();
    });

    it('a page of the old release has no frame of a packed world where another one should be, so that its reader finds a frame missing', async () => {
      const world = own.fresh();
      const store = await packed(world);
      const rows = await ask<{ seq: string; bytes: Uint8Array }>(OLD.page, [await idOf(world), 0, 1_000]);
      expect(rows.length).toBeGreaterThan(0);
      expect(Number(rows[0]?.seq)).toBeGreaterThan(0); // where it expects frame 0, it reports journal_damaged
      for (const { seq, bytes } of rows) expect(Buffer.compare(bytes, frameOf(Number(seq), 301).bytes)).toBe(0);
      await store.close();
    });
  });

  it('a reader of older tables that are upgraded and packed meanwhile says that, and not that a frame is missing', async () => {
    const [name, world] = [own.fresh(), 'any'];
    await ask(`CREATE DATABASE ${name}`);
    const url = own.url.replace(/postgres$/, name);
    const older = new pg.Client({ connectionString: url });
    await older.connect();
    await older.query((await import('node:fs')).readFileSync(new URL('../tables-1.sql', import.meta.url), 'utf8'));
    await using readers = postgresWithPacks(PACK_BYTES, url);
    const reader = await readers.world('old').openReadonly();
    const first = await reader.journal.read(0)[Symbol.asyncIterator]().next();
    expect(first.value?.seq).toBe(0);
    await using owners = postgresWithPacks(PACK_BYTES, url);
    await (await owners.world(world).open()).close();
    const read = async (): Promise<void> => {
      for await (const _ of reader.journal.read(0));
    };
    const refused = await read().catch((error: unknown) => error);
    expect(isRepriseError(refused, 'store_failed') && refused.message).toContain('were upgraded');
    await expect(reader.journal.findKey('0'.repeat(64))).rejects.toMatchObject({ code: 'store_failed' });
    await older.end();
  });

  describe('content in packs', () => {
    /** A world with small blobs, most of them in packs. */
    async function withBlobs(world: string): Promise<{ store: OpenStore; refs: readonly Ref[] }> {
      const store = await database.world(world).open();
      const refs: Ref[] = [];
      let head = EMPTY_HEAD;
      for (let n = 0; n < 30; n++) {
        refs.push(await store.content.put(text(world, n)));
        head = await store.journal.append([frameOf(n, 40)], head);
      }
      const id = await idOf(world);
      await expect
        .poll(async () => (await ask('SELECT count(*)::int AS n FROM reprise.blob_pack WHERE world = $1', [id]))[0]?.n)
        .toBeGreaterThan(1);
      return { store, refs };
    }
    const text = (world: string, n: number): Uint8Array => content(`secret ${world} ${n}`, 401);

    /** The plain bytes of all rows and packs of a world. */
    async function allBytes(world: string): Promise<{ includes(part: Uint8Array): boolean }> {
      const id = await idOf(world);
      const rows = await ask<{ bytes: Buffer }>(
        'SELECT bytes FROM reprise.blob WHERE world = $1 AND bytes IS NOT NULL',
        [id],
      );
      const packs = await ask<{ bytes: Buffer; size: number }>(
        'SELECT bytes, size FROM reprise.blob_pack WHERE world = $1',
        [id],
      );
      const all = Buffer.concat([...rows.map(({ bytes }) => bytes), ...packs.map(inflated)]);
      return { includes: (part) => all.includes(Buffer.from(part)) };
    }

    it('erased bytes leave their pack, what else was in it stays, and is packed again', async () => {
      const world = own.fresh();
      const { store, refs } = await withBlobs(world);
      expect((await allBytes(world)).includes(text(world, 3))).toBe(true);
      await store.content.erase([refs[3] as Ref, refs[4] as Ref], 7);
      const left = await allBytes(world);
      for (const n of [3, 4]) expect(left.includes(text(world, n))).toBe(false);
      for (const n of [0, 1, 2, 5, 6, 29]) {
        expect(left.includes(text(world, n))).toBe(true);
        expect(await store.content.get(refs[n] as Ref)).toEqual(text(world, n));
      }
      expect(await store.content.get(refs[3] as Ref)).toBeUndefined();
      expect(await store.content.erasedBy(refs[3] as Ref)).toBe(7);
      await store.close();
      const rows = await ask('SELECT count(*)::int AS n FROM reprise.blob WHERE world = $1 AND bytes IS NOT NULL', [
        await idOf(world),
      ]);
      expect(rows[0]?.n).toBeLessThan(10); // fewer than a pack: the others were packed, at the latest by the closing
    });

    it('a pack that cannot be read any more is removed with what it held when a part of it is erased', async () => {
      const world = own.fresh();
      const { store, refs } = await withBlobs(world);
      const id = await idOf(world);
      await ask('UPDATE reprise.blob_pack SET bytes = set_byte(bytes, 9, get_byte(bytes, 9) # 85) WHERE world = $1', [
        id,
      ]);
      await expect(store.content.get(refs[0] as Ref)).rejects.toMatchObject({ code: 'blob_damaged' });
      const pack = 'SELECT pack FROM reprise.blob WHERE world = $1 AND digest = $2';
      const [row] = await ask<{ pack: string }>(pack, [id, Buffer.from((refs[0] as Ref).hex, 'hex')]);
      await store.content.erase([refs[0] as Ref], 1);
      expect(await ask('SELECT FROM reprise.blob_pack WHERE world = $1 AND id = $2', [id, row?.pack])).toEqual([]);
      expect(await store.content.get(refs[0] as Ref)).toBeUndefined();
      await expect(store.content.get(refs[1] as Ref)).rejects.toMatchObject({ code: 'blob_damaged' });
      await store.close();
    });

    it('content that is put again is read although its pack is damaged, and an erasure takes both copies', async () => {
      const world = own.fresh();
      const { store, refs } = await withBlobs(world);
      const id = await idOf(world);
      await ask('UPDATE reprise.blob_pack SET bytes = set_byte(bytes, 9, get_byte(bytes, 9) # 85) WHERE world = $1', [
        id,
      ]);
      await store.content.put(text(world, 0));
      let head = await store.journal.append([frameOf(30, 40)], await store.journal.head());
      expect(await store.content.get(refs[0] as Ref)).toEqual(text(world, 0));
      for (let n = 31; n < 60; n++) {
        await store.content.put(text(world, n));
        head = await store.journal.append([frameOf(n, 40)], head);
      }
      await store.close();
      const again = await database.world(world).open();
      expect(await again.content.get(refs[0] as Ref)).toEqual(text(world, 0));
      await again.content.erase([refs[0] as Ref], 2);
      expect(await again.content.get(refs[0] as Ref)).toBeUndefined();
      expect(
        await ask('SELECT FROM reprise.blob WHERE world = $1 AND digest = $2', [
          id,
          Buffer.from((refs[0] as Ref).hex, 'hex'),
        ]),
      ).toEqual([]);
      await again.close();
    });

    it('content that is put again keeps its own copy while its pack can be read, but holds other bytes', async () => {
      const world = own.fresh();
      const { store, refs } = await withBlobs(world);
      const id = await idOf(world);
      const packs = await ask<{ id: string; bytes: Buffer; size: number }>(
        'SELECT id, bytes, size FROM reprise.blob_pack WHERE world = $1',
        [id],
      );
      for (const pack of packs) {
        const plain = Buffer.from(inflated(pack)).fill(7, 4, 404); // the first blob of each
        const change = 'UPDATE reprise.blob_pack SET bytes = $3, size = $4 WHERE world = $1 AND id = $2';
        await ask(change, [id, pack.id, plain, plain.length]);
      }
      let head = await store.journal.head();
      for (let n = 30; n < 60; n++) {
        await store.content.put(text(world, n - 30));
        head = await store.journal.append([frameOf(n, 40)], head);
      }
      await store.close();
      const again = await database.world(world).open();
      for (const [n, ref] of refs.entries()) expect(await again.content.get(ref)).toEqual(text(world, n));
      await again.close();
    });

    it('content that is put again while its pack is sound has one copy after the next packing', async () => {
      const world = own.fresh();
      const { store, refs } = await withBlobs(world);
      await store.content.put(text(world, 0));
      let head = await store.journal.append([frameOf(30, 40)], await store.journal.head());
      const both =
        'SELECT count(*)::int AS n FROM reprise.blob WHERE world = $1 AND bytes IS NOT NULL AND pack IS NOT NULL';
      const id = await idOf(world);
      for (let n = 31; n < 50; n++) {
        await store.content.put(text(world, n));
        head = await store.journal.append([frameOf(n, 40)], head);
      }
      await store.close();
      expect(await ask(both, [id])).toEqual([{ n: 0 }]);
      const reader = await database.world(world).openReadonly();
      expect(await reader.content.get(refs[0] as Ref)).toEqual(text(world, 0));
      await reader.close();
    });
  });

  it('what a deposed owner still sends to pack changes nothing, neither frames nor content', async () => {
    const world = own.fresh();
    const plain = postgresWithPacks(0, own.url, { connectionsMax: 3 });
    const store = await plain.world(world).open();
    for (let n = 0; n < 20; n++) await store.content.put(content(`blob ${world} ${n}`, 500));
    await store.journal.append(
      Array.from({ length: 20 }, (_, n) => frameOf(n, 301)),
      EMPTY_HEAD,
    );
    await store.close();
    await plain.close();
    const id = await idOf(world);
    const [row] = await ask('SELECT epoch FROM reprise.world WHERE id = $1', [id]);
    const [cell] = await ask<{ incarnation: string }>('SELECT incarnation::text FROM reprise.cell');
    const incarnation = String(cell?.incarnation);
    const connections = await connect({ url: own.url, connectionsMax: 1, statementMs: 5_000, pooled: false });
    const place = (epoch: number): OwnedPlace => ({
      ...{ connections, id, epoch, incarnation, where: world, objects: undefined, kept: new KeptPacks() },
      tables: { objects: true, packs: true, requireSame: async () => undefined },
    });
    const counts = () =>
      ask(
        `SELECT (SELECT count(*)::int FROM reprise.frame WHERE world = $1) AS frames,
           (SELECT count(*)::int FROM reprise.pack WHERE world = $1) AS packs,
           (SELECT count(*)::int FROM reprise.blob WHERE world = $1 AND bytes IS NOT NULL) AS blobs,
           (SELECT count(*)::int FROM reprise.blob_pack WHERE world = $1) AS blob_packs`,
        [id],
      );
    const sizes = { least: 1, most: 2_000 };
    for (const pack of [packFrames, packBlobs]) expect(await pack(place(Number(row?.epoch) - 1), sizes)).toBe(0);
    expect(await counts()).toEqual([{ frames: 20, packs: 0, blobs: 20, blob_packs: 0 }]);
    for (const pack of [packFrames, packBlobs]) expect(await pack(place(Number(row?.epoch)), sizes)).toBeUndefined();
    expect(await counts()).toEqual([{ frames: 15, packs: 1, blobs: 17, blob_packs: 1 }]); // control: the owner packs
    await connections.end();
  });

  it('packing refuses frames that are not one after another, and a row that another program removed meanwhile', async () => {
    const world = own.fresh();
    const store = await packed(world);
    const id = await idOf(world);
    const insert = `INSERT INTO reprise.pack (world, first, seq, at, size, stored, frames, kind, head, keys, bytes, tail)
      VALUES ($1, 100, 110, 1, 3, 3, 10, 'request', $2, '{}', $2, '')`;
    await expect(ask(insert, [id, Buffer.alloc(3)])).rejects.toThrow('pack_check');
    const hole =
      'DELETE FROM reprise.frame WHERE world = $1 AND seq = (SELECT max(seq) - 1 FROM reprise.frame WHERE world = $1)';
    await ask(hole, [id]);
    let head = await store.journal.head();
    for (let n = 40; n < 80; n++) head = await store.journal.append([frameOf(n, 301)], head);
    await store.close();
    const reader = await database.world(world).openReadonly();
    let next = 0;
    const read = async (): Promise<void> => {
      for await (const frame of reader.journal.read(0)) expect(wrong(frame, next++)).toBeUndefined();
    };
    await expect(read()).rejects.toMatchObject({ code: 'journal_damaged' });
    expect(next).toBe(38);
    let after = 39;
    for await (const frame of reader.journal.read(39)) expect(wrong(frame, after++)).toBeUndefined();
    expect(after).toBe(80);
    await reader.close();
  });

  it.each([
    ['states a size one too large', 'size = size + 1'],
    ['states a size of a gigabyte', 'size = 1073741824'],
    ['is said to be plain', 'size = stored'],
    ['is cut short', 'stored = stored - 1'],
    ['has the head of another frame', "head = decode(repeat('00', 32), 'hex')"],
    [
      'is a bomb of 112 MiB',
      `bytes = $2, tail = '', stored = ${deflated(Buffer.alloc(112 * 1024 * 1024)).bytes.length}`,
    ],
  ])('a pack that %s is refused with the frames that it has', async (_, change) => {
    const world = own.fresh();
    const store = await packed(world);
    const id = await idOf(world);
    const bomb = change.includes('$2') ? [deflated(Buffer.alloc(112 * 1024 * 1024)).bytes] : [];
    const [pack] = await ask<{ first: string; seq: string }>(
      `UPDATE reprise.pack p SET ${change} WHERE world = $1
         AND seq = (SELECT max(seq) FROM reprise.pack WHERE world = $1) RETURNING first, seq`,
      [id, ...bomb],
    );
    const read = async (): Promise<void> => {
      for await (const _frame of store.journal.read(0));
    };
    const refused = await read().catch((error: unknown) => error);
    expect(isRepriseError(refused, 'journal_damaged')).toBe(true);
    expect(String(refused)).toContain(`frames ${pack?.first} to ${pack?.seq}`);
    await store.close();
  });
});
