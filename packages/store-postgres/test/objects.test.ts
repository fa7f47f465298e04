/** Large content in a bucket beside the database: the contracts of the ports, and what rows and objects say of each other. */

import type { Ref } from '@reprise/contracts';
import { EMPTY_HEAD, type ObjectStore, type OpenStore } from '@reprise/kernel';
import { s3 } from '@reprise/objects-s3';
import { testContentStore, testStore } from '@reprise/testkit/ports';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { type StrictServer, strictServer } from '../../objects-s3/test/strict-server.js';
import { type PostgresDatabase, postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';

const SEED = 20261130;
const NUM_RUNS = 12 / stepOf(4);

/** Bytes that depend on `seed`, and that no other seed has. */
function bytesOf(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: unknown) => String((error as { readonly code?: unknown }).code),
  );
}

/** Something that happens before each of some calls. */
function before() {
  const self = {
    calls: 0,
    act: async (): Promise<void> => undefined,
    async call() {
      self.calls++;
      await self.act();
    },
  };
  return self;
}

describePostgres('PostgreSQL with a bucket', (own) => {
  let bucket: StrictServer;
  let sql: pg.Client;
  beforeAll(async () => {
    sql = new pg.Client({ connectionString: own.url });
    await sql.connect();
  });
  afterAll(() => sql.end());
  beforeEach(async () => {
    bucket = await strictServer({ versioned: true });
    await using prepared = database();
    await prepared.sweep();
    await sql.query('TRUNCATE reprise.part, reprise.object_try, reprise.object_gone');
  });
  afterEach(() => bucket.close());

  const database = (more: Parameters<typeof postgres>[1] = {}): PostgresDatabase =>
    postgres(own.url, { connectionsMax: 3, objects: s3(bucket.options({ prefix: '', requestMs: 3_000 })), ...more });

  async function column(statement: string, parameters: readonly unknown[] = []): Promise<readonly string[]> {
    const { rows } = await sql.query({ text: statement, values: [...parameters], rowMode: 'array' });
    return rows.map(([value]: readonly unknown[]) => String(value)).sort();
  }
  const named = () => column('SELECT object FROM reprise.part WHERE object IS NOT NULL');
  const noted = () =>
    column(
      'SELECT object FROM reprise.part WHERE object IS NOT NULL UNION ALL SELECT object FROM reprise.object_try UNION ALL SELECT object FROM reprise.object_gone',
    );

  /** The process of this world is taken for dead. */
  const kill = (world: string) =>
    sql.query(
      'UPDATE reprise.host SET closed = true, died = true WHERE id = (SELECT owner FROM reprise.world WHERE name = $1)',
      [Buffer.from(world)],
    );

  const make = async () => {
    const [world, one, other] = [own.fresh(), database(), database()];
    return {
      store: one.world(world),
      again: () => other.world(world),
      dispose: async () => void (await Promise.all([one.close(), other.close()])),
      crashed: async () => {
        await kill(world);
        return other.world(world);
      },
      damageBlob: async ({ hex }: { readonly hex: string }) => {
        const objects = await column('SELECT object FROM reprise.part WHERE digest = $1 AND object IS NOT NULL', [
          Buffer.from(hex, 'hex'),
        ]);
        for (const object of objects) bucket.damage(object);
        await sql.query(
          `UPDATE reprise.blob SET bytes = set_byte(bytes, 0, 255 - get_byte(bytes, 0)) WHERE digest = $1 AND bytes IS NOT NULL`,
          [Buffer.from(hex, 'hex')],
        );
      },
    };
  };
  testContentStore({ name: 'PostgreSQL with a bucket', runner: { describe, it }, make });
  testStore({ name: 'PostgreSQL with a bucket', runner: { describe, it }, make });

  async function opened<T>(world: string, body: (open: OpenStore) => Promise<T>): Promise<T> {
    await using one = database();
    const open = await one.world(world).open();
    try {
      return await body(open);
    } finally {
      await open.close();
    }
  }

  it('content of more than 64 KiB is in the bucket, in objects of 8 MiB at most, and none of it in a row', async () => {
    const large = bytesOf(20 * 1024 * 1024 + 5, 1);
    await opened(own.fresh(), async ({ content }) => {
      const ref = await content.put(large);
      const small = await content.put(bytesOf(65_536, 2));
      expect(bucket.names()).toHaveLength(3);
      expect(bucket.holds(bytesOf(65_536, 2).subarray(0, 64))).toBe(false);
      expect(await column('SELECT count(*) FROM reprise.part WHERE bytes IS NOT NULL')).toEqual(['0']);
      expect(Buffer.from((await content.get(ref)) ?? []).equals(Buffer.from(large))).toBe(true);
      expect(await content.get(small)).toHaveLength(65_536);
    });
  });

  it('given a bucket that fails, large content is refused with a code, small content and frames are kept, and nothing is lost', async () => {
    const world = own.fresh();
    await opened(world, async ({ content, journal }) => {
      const before = await content.put(bytesOf(100_000, 3));
      bucket.failAlways('refused');
      expect(await codeOf(content.put(bytesOf(100_000, 4)))).toBe('store_failed');
      expect(await codeOf(content.get(before))).toBe('store_failed');
      const small = await content.put(bytesOf(100, 5));
      await journal.append(
        [{ seq: 0, at: 1, kind: 'manifest', head: 'a'.repeat(64), bytes: bytesOf(50, 6) }],
        EMPTY_HEAD,
      );
      bucket.failAlways();
      expect(await content.get(before)).toHaveLength(100_000);
      expect(await content.get(small)).toHaveLength(100);
    });
  });

  it('given a bucket that fails, an erasure is not finished, and the next call of it is', async () => {
    await opened(own.fresh(), async ({ content, journal }) => {
      const bytes = bytesOf(100_000, 7);
      const ref = await content.put(bytes);
      await journal.append(
        [{ seq: 0, at: 1, kind: 'manifest', head: 'a'.repeat(64), bytes: bytesOf(50, 8) }],
        EMPTY_HEAD,
      );
      bucket.failAlways('refused');
      expect(await codeOf(content.erase([ref], 0))).toBe('store_failed');
      expect(await content.erasedThrough()).toBe(-1);
      expect(await content.get(ref)).toBeUndefined();
      bucket.failAlways();
      await content.erase([ref], 0);
      expect(await content.erasedThrough()).toBe(0);
      expect(bucket.holds(bytes.subarray(0, 64))).toBe(false);
      expect(await column('SELECT object FROM reprise.object_gone')).toEqual([]);
    });
  });

  it('given an object that is missing, reading its content says that it is damaged, and not that it was never there', async () => {
    await opened(own.fresh(), async ({ content }) => {
      const ref = await content.put(bytesOf(100_000, 9));
      const [object = ''] = bucket.names();
      await s3(bucket.options({ prefix: '' })).remove(object);
      expect(await codeOf(content.get(ref))).toBe('blob_damaged');
      await content.put(bytesOf(100_000, 9));
      expect(await content.get(ref)).toHaveLength(100_000);
    });
  });

  it('given a reader without the bucket, content in it is refused in words, and content in rows is read', async () => {
    const world = own.fresh();
    const [large, small] = await opened(world, async ({ content, journal }) => {
      const refs = [await content.put(bytesOf(100_000, 10)), await content.put(bytesOf(100, 11))] as const;
      await journal.append(
        [{ seq: 0, at: 1, kind: 'manifest', head: 'a'.repeat(64), bytes: bytesOf(50, 12) }],
        EMPTY_HEAD,
      );
      return refs;
    });
    await using plain = postgres(own.url);
    const reader = await plain.world(world).openReadonly();
    expect(await reader.content.get(small)).toHaveLength(100);
    const error = await reader.content.get(large).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('REPRISE_OBJECTS');
    await reader.close();
  });

  it('given an owner that is taken over while it stores an object, its content is refused, and the object goes', async () => {
    const world = own.fresh();
    const late = database();
    const open = await late.world(world).open();
    bucket.fail('held');
    const storing = codeOf(open.content.put(bytesOf(100_000, 13)));
    while (bucket.requests.length === 0) await new Promise((next) => setImmediate(next));
    await kill(world);
    await using next = database();
    const taken = await next.world(world).open();
    bucket.letGo();
    expect(await storing).toBe('fenced');
    expect(bucket.names()).toHaveLength(1);
    expect(await named()).not.toContain(bucket.names()[0]);
    expect(await next.sweep({ orphansAfter: 0 })).toEqual({ removed: 1, left: 0 });
    expect(bucket.names()).toEqual([]);
    await taken.close();
    await open.close().catch(() => undefined);
    await late.close();
  });

  it('given a sweep in the middle of an upload, the upload fails with a code and names no object that is missing', async () => {
    const world = own.fresh();
    await opened(world, async ({ content }) => {
      bucket.fail('held');
      const storing = codeOf(content.put(bytesOf(100_000, 14)));
      while (bucket.requests.length === 0) await new Promise((next) => setImmediate(next));
      await using other = database();
      await other.sweep({ orphansAfter: 0 });
      bucket.letGo();
      expect(await storing).toBe('store_failed');
      await other.sweep({ orphansAfter: 0 });
      expect(bucket.names(), 'what was stored after the sweep').toEqual(await named());
    });
  });

  it('given a database that is closed in the middle of a sweep, the sweep ends with the object that it is at', async () => {
    const { store, removing } = watchedBucket();
    await using one = database({ objects: store });
    const open = await one.world(own.fresh()).open();
    for (let i = 0; i < 4; i++) await open.content.put(bytesOf(70_000, 19));
    await open.close();
    removing.act = () => one.close();
    expect(await one.sweep()).toEqual({ removed: 0, left: 3 });
    expect(removing.calls).toBe(1);
    await using other = database();
    expect(await other.sweep()).toEqual({ removed: 3, left: 0 });
  });

  it('given a reader whose content is stored again and swept between two of its requests, it reads the content', async () => {
    const { store, getting } = watchedBucket();
    await using one = database({ objects: store });
    const open = await one.world(own.fresh()).open();
    const ref = await open.content.put(bytesOf(70_000, 20));
    getting.act = async () => {
      getting.act = async () => undefined;
      await open.content.put(bytesOf(70_000, 20));
      await one.sweep();
    };
    expect(await open.content.get(ref)).toHaveLength(70_000);
    await open.close();
  });

  it('given an owner without the bucket, an erasure of content in it is not finished before an owner has both', async () => {
    const world = own.fresh();
    const bytes = bytesOf(70_000, 21);
    const ref = await opened(world, async ({ content, journal }) => {
      const stored = await content.put(bytes);
      await journal.append(
        [{ seq: 0, at: 1, kind: 'manifest', head: 'a'.repeat(64), bytes: bytesOf(50, 22) }],
        EMPTY_HEAD,
      );
      return stored;
    });
    await using plain = postgres(own.url);
    const without = await plain.world(world).open();
    await expect(without.content.erase([ref], 0)).rejects.toThrow('REPRISE_OBJECTS');
    expect([await without.content.erasedThrough(), await without.content.get(ref)]).toEqual([-1, undefined]);
    await without.close();
    await opened(world, async ({ content }) => {
      await content.erase([ref], 0);
      expect(await content.erasedThrough()).toBe(0);
      expect(bucket.holds(bytes.subarray(0, 64))).toBe(false);
    });
  });

  /** The bucket, with something that happens before each removal and before each read. */
  function watchedBucket() {
    const inner = s3(bucket.options({ prefix: '', requestMs: 3_000 }));
    const [removing, getting] = [before(), before()];
    const store: ObjectStore = {
      ...inner,
      remove: (name) => removing.call().then(() => inner.remove(name)),
      get: (name) => getting.call().then(() => inner.get(name)),
    };
    return { store, removing, getting };
  }

  for (const place of ['rows', 'objects'] as const)
    it(`given the same large content stored by many calls at once, all of them succeed, in ${place}`, async () => {
      await using one = place === 'rows' ? postgres(own.url) : database({ connectionsMax: 8 });
      const open = await one.world(own.fresh()).open();
      const bytes = bytesOf(2_500_000, 18);
      const refs = await Promise.all(Array.from({ length: 6 }, () => open.content.put(bytes)));
      expect(new Set(refs.map(({ hex }) => hex)).size).toBe(1);
      expect(Buffer.from((await open.content.get(refs[0] as Ref)) ?? []).equals(Buffer.from(bytes))).toBe(true);
      await open.close();
    });

  it('given tables of version 1, a reader reads their content, and the first owner adds what they lack', async () => {
    const world = own.fresh();
    await using plain = postgres(own.url);
    const open = await plain.world(world).open();
    const ref = await open.content.put(bytesOf(3 * 1024 * 1024, 15));
    await open.journal.append(
      [{ seq: 0, at: 1, kind: 'manifest', head: 'a'.repeat(64), bytes: bytesOf(50, 16) }],
      EMPTY_HEAD,
    );
    await open.close();
    await sql.query('ALTER TABLE reprise.part DROP COLUMN object, ALTER COLUMN bytes SET NOT NULL');
    await sql.query('DROP TABLE reprise.object_try, reprise.object_gone');
    await sql.query('ALTER TABLE reprise.directory_row DROP COLUMN owner, DROP COLUMN claim');
    await sql.query('DROP TABLE reprise.reservation');
    await sql.query('ALTER TABLE reprise.host DROP COLUMN address, DROP COLUMN leaving');
    await sql.query('ALTER TABLE reprise.meta DROP COLUMN id');
    await sql.query('DROP TABLE reprise.pack, reprise.landmark, reprise.blob_pack');
    await sql.query('DROP TABLE reprise.cell, reprise.admission, reprise.lost_world, reprise.witness_slot');
    await sql.query('DROP FUNCTION reprise.world_is_taken CASCADE');
    await sql.query('DROP FUNCTION reprise.why_not_admitted, reprise.here');
    await sql.query('DROP INDEX reprise.blob_plain');
    await sql.query('ALTER TABLE reprise.blob DROP COLUMN pack, DROP COLUMN at, DROP COLUMN seal');
    await sql.query('ALTER TABLE reprise.tombstone DROP COLUMN times');
    await sql.query('ALTER TABLE reprise.meta DROP COLUMN keys_check');
    await sql.query(
      'ALTER TABLE reprise.world DROP COLUMN packs, DROP COLUMN packed_through, DROP COLUMN packs_known_by',
    );
    await sql.query('ALTER TABLE reprise.world DROP COLUMN sealed, DROP COLUMN seals_known_by');
    await sql.query('ALTER TABLE reprise.world DROP COLUMN followed_until');
    await sql.query('DROP TABLE reprise.posted_call, reprise.posted_operation');
    await sql.query('UPDATE reprise.meta SET version = 1');
    await using old = postgres(own.url);
    const reader = await old.world(world).openReadonly();
    expect(await reader.content.get(ref)).toHaveLength(3 * 1024 * 1024);
    const more = await opened(world, async ({ content }) => {
      const added = await content.put(bytesOf(100_000, 17));
      expect(await content.get(added)).toHaveLength(100_000);
      return added;
    });
    await expect(reader.content.get(more)).rejects.toThrow('the tables were upgraded');
    expect(await reader.content.get(ref)).toHaveLength(3 * 1024 * 1024);
    await reader.close();
  });

  const steps = fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          act: fc.constant('put' as const),
          seed: fc.nat(6),
          length: fc.constantFrom(100, 65_537, 200_000),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          act: fc.constant('stream' as const),
          seed: fc.nat(2),
          length: fc.constantFrom(9_000_000, 70_000),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constant('erase' as const),
          seed: fc.nat(6),
          length: fc.constantFrom(100, 65_537, 200_000),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constantFrom('append' as const, 'reopen' as const, 'take over' as const, 'sweep' as const),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constant('trouble' as const),
          fault: fc.constantFrom('answer lost' as const, 'refused' as const, 'cut in the middle' as const),
        }),
      },
    ),
    { minLength: 5, maxLength: 25 },
  );

  it(`given random use, a failing bucket and owners that are taken over, every object has a row, every row its object, and erased bytes are nowhere (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = own.fresh();
        let one = database();
        let open = await one.world(world).open();
        let head = EMPTY_HEAD;
        const erased = new Map<string, Uint8Array>();
        await sql.query('TRUNCATE reprise.part, reprise.object_try, reprise.object_gone');
        bucket.empty();
        const left: (() => Promise<void>)[] = [];
        const refuse = (): undefined => undefined;
        for (const step of all) {
          if (step.act === 'put' || step.act === 'stream') {
            const bytes = bytesOf(step.length, step.seed + step.length);
            const stream = async function* () {
              for (let at = 0; at < bytes.length; at += 300_000) yield bytes.subarray(at, at + 300_000);
            };
            const kept = await (step.act === 'put'
              ? open.content.put(bytes)
              : open.content.putStream(stream()).then(({ ref }) => ref)
            ).catch(refuse);
            if (kept !== undefined) {
              erased.delete(kept.hex);
              expect(
                Buffer.from((await open.content.get(kept).catch(() => bytes)) ?? []).equals(Buffer.from(bytes)),
              ).toBe(true);
            }
          } else if (step.act === 'erase') {
            const bytes = bytesOf(step.length, step.seed + step.length);
            const ref = await open.content.put(bytes).catch(refuse);
            if (ref !== undefined && head.seq >= 0)
              await open.content.erase([ref], head.seq).then(() => erased.set(ref.hex, bytes), refuse);
          } else if (step.act === 'append') {
            const seq = head.seq + 1;
            const frame = { seq, at: seq, kind: 'request', head: String(seq % 10).repeat(64), bytes: bytesOf(40, seq) };
            head = await open.journal.append([frame], head);
          } else if (step.act === 'reopen') {
            await open.close();
            open = await one.world(world).open();
          } else if (step.act === 'take over') {
            const [late, before] = [open, one];
            const storing = late.content.put(bytesOf(100_001, step.act.length)).catch(refuse);
            await kill(world);
            one = database();
            open = await one.world(world).open();
            await storing;
            left.push(async () => {
              await late.close().catch(refuse);
              await before.close();
            });
          } else if (step.act === 'sweep') await one.sweep({ orphansAfter: 0 });
          else if (step.act === 'trouble') bucket.fail(step.fault);
          const rows = await noted();
          for (const object of bucket.names()) expect(rows, 'an object without a row').toContain(object);
          for (const object of await named()) expect(bucket.names(), 'a row without its object').toContain(object);
        }
        bucket.fail();
        await open.close();
        await one.sweep({ orphansAfter: 0 });
        expect([...bucket.names()].sort()).toEqual([...(await named())]);
        for (const close of left) await close();
        await one.close();
        for (const [hex, bytes] of erased) {
          const select = `SELECT encode(digest, 'hex') FROM reprise.blob b JOIN reprise.world w ON w.id = b.world AND w.name = $2 WHERE digest = $1`;
          expect(await column(select, [Buffer.from(hex, 'hex'), Buffer.from(world)]), 'an erased blob').toEqual([]);
          expect(bucket.holds(bytes.subarray(0, 64)), 'erased bytes in the bucket').toBe(false);
        }
      }),
      { seed: SEED, numRuns: NUM_RUNS },
    );
  });
});
