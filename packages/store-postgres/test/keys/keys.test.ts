/** Content in PostgreSQL that is sealed with keys; the law is in `law.ts`. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isRepriseError } from '@reprise/contracts';
import { defineApp, EMPTY_HEAD, getBytes, type KeyService, type OpenStore, openKernelWorld } from '@reprise/kernel';
import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { memoryKeys, type PostgresOptions, postgres } from '../../src/index.js';
import { describePostgres } from '../describe-postgres.js';
import { frameOf } from '../packing/frames.js';
import { CANARY, histories, type Met, run } from './law.js';
import { WatchedKeys } from './watched-keys.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_26);
const RUNS = Number(process.env.KEYS_RUNS ?? 6);
const AGAIN = `REPRISE_SEED=${SEED} KEYS_RUNS=${RUNS} npx vitest run packages/store-postgres/test/keys`;

const textOf = (length: number, what: string): Uint8Array =>
  new Uint8Array(Buffer.from(`${CANARY} ${what} `.repeat(length / 20 + 1)).subarray(0, length));

describePostgres('keys for erasure', (own) => {
  async function ask(statement: string, values: readonly unknown[] = []) {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    try {
      return (await client.query(statement, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  async function opened<T>(world: string, options: PostgresOptions, body: (open: OpenStore) => Promise<T>): Promise<T> {
    await using database = postgres(own.url, { connectionsMax: 3, ...options });
    const open = await database.world(world).open();
    try {
      return await body(open);
    } finally {
      await open.close();
    }
  }

  /** The keys of the database of the server. */
  const watched = new WatchedKeys();
  const keysOfServer = watched.service;

  /** Another database of the same server, whose keys no other test has. */
  async function apart(): Promise<string> {
    const name = own.fresh();
    await ask(`CREATE DATABASE ${name}`);
    return own.url.replace(/postgres$/, name);
  }

  const first = async ({ journal }: OpenStore) => journal.append([frameOf(0, 50)], EMPTY_HEAD);

  it(`content that was not erased is readable and erased content is in no copy, over ${RUNS} histories of puts, streams, erasures, frozen owners that go on late, and restored tables (seed ${SEED}; again: ${AGAIN})`, async () => {
    const met: Met = { erasures: 0, frozen: 0, late: 0, restores: 0, keyless: 0 };
    let tried = 0;
    const law = fc.asyncProperty(histories, async (history) => {
      const place = tried++ % 2 === 0 ? 'rows' : 'objects';
      const made = await run({ url: own.url, world: own.fresh(), place, keys: watched }, history);
      for (const name of Object.keys(met) as (keyof Met)[]) met[name] += made[name];
    });
    await fc.assert(law, { seed: SEED, numRuns: RUNS, endOnFailure: true });
    for (const name of Object.keys(met) as (keyof Met)[]) expect(met[name], name).toBeGreaterThanOrEqual(RUNS / 2);
  });

  describe('on the disk of the server', () => {
    /** The files of the server that have a text: its tables and its log. */
    async function filesWith(text: string): Promise<string[]> {
      await ask('CHECKPOINT');
      const data = path.join(own.server.folder, 'data');
      return readdirSync(data, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
        .filter((file) => readFileSync(file).includes(text));
    }

    async function* stream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
    }

    for (const isSealed of [true, false])
      it(`given content ${isSealed ? 'with keys, its text is' : 'without keys, as a control, its text is'} ${isSealed ? 'nowhere in the tables and the log' : 'in the tables and the log'}`, async () => {
        const text = isSealed ? 'sealed-text-of-ada' : 'plain-text-of-ada';
        const bytes = (length: number) =>
          new Uint8Array(Buffer.from(`${text} `.repeat(length / 10 + 1)).subarray(0, length));
        await opened(own.fresh(), isSealed ? { keys: keysOfServer } : {}, async (open) => {
          await open.content.put(bytes(1_000));
          await open.content.put(bytes(100_000));
          await open.content.putStream(stream(bytes(2_500_000)));
          await first(open);
        });
        const found = await filesWith(text);
        if (isSealed) expect(found).toEqual([]);
        else
          expect(new Set(found.map((file) => path.basename(path.dirname(file))))).toEqual(
            new Set(['pg_wal', expect.stringMatching(/^\d+$/)]),
          );
      });
  });

  it('a row that came back from before its erasure is damaged content whose key is destroyed, and can be put again', async () => {
    const world = own.fresh();
    const bytes = textOf(500, world);
    await opened(world, { keys: keysOfServer }, async (open) => {
      const ref = await open.content.put(bytes);
      await first(open);
      await ask('CREATE TABLE copy AS SELECT * FROM reprise.blob');
      await open.content.erase([ref], 0);
      expect(await open.content.get(ref)).toBeUndefined();
      await ask('INSERT INTO reprise.blob SELECT * FROM copy ON CONFLICT DO NOTHING');
      const error = await open.content.get(ref).catch((thrown: unknown) => thrown);
      expect(isRepriseError(error, 'blob_damaged')).toBe(true);
      expect(String(error)).toContain('the key of sealed content is destroyed');
      await open.content.put(bytes);
      await open.journal.append([frameOf(1, 50)], await open.journal.head());
      expect(await open.content.get(ref)).toEqual(bytes);
      await ask('DROP TABLE copy');
    });
  });

  it('given a reader without keys, sealed content is refused in words, and frames are read', async () => {
    const world = own.fresh();
    const refs = await opened(world, { keys: keysOfServer }, async (open) => {
      const all = [await open.content.put(textOf(100, world)), await open.content.put(textOf(2_000_000, world))];
      await first(open);
      return all;
    });
    await using plain = postgres(own.url);
    const reader = await plain.world(world).openReadonly();
    for (const ref of refs) await expect(reader.content.get(ref)).rejects.toThrow('REPRISE_KEYS');
    expect((await reader.journal.head()).seq).toBe(0);
    await reader.close();
    await using keyed = postgres(own.url, { keys: keysOfServer });
    const other = await keyed.world(world).openReadonly();
    for (const ref of refs) expect((await other.content.get(ref))?.length).toBeGreaterThan(50);
    await other.close();
  });

  it('an owner without keys is refused a world that had some, and leaves it to the next', async () => {
    const world = own.fresh();
    await opened(world, { keys: keysOfServer }, first);
    await expect(opened(world, {}, first)).rejects.toThrow('sealed with keys, which are not named here');
    await opened(world, { keys: keysOfServer }, async ({ journal }) => expect((await journal.head()).seq).toBe(0));
  });

  it('an owner without keys that is refused leaves no piece of an upload that a dead owner did not finish', async () => {
    const world = own.fresh();
    await using dead = postgres(own.url, { connectionsMax: 3, keys: keysOfServer });
    const open = await dead.world(world).open();
    const named = [Buffer.from(world)];
    const pieces = () =>
      ask('SELECT FROM reprise.part p JOIN reprise.world w ON w.id = p.world WHERE w.name = $1', named);
    async function* dies(): AsyncGenerator<Uint8Array> {
      for (let piece = 0; piece < 4; piece++) yield new Uint8Array(1_048_576).fill(piece);
      expect(await pieces()).not.toEqual([]);
      await ask(
        'UPDATE reprise.host SET closed = true WHERE id = (SELECT owner FROM reprise.world WHERE name = $1)',
        named,
      );
      await expect(opened(world, {}, first)).rejects.toThrow('sealed with keys, which are not named here');
      await opened(world, { keys: keysOfServer }, async () => expect(await pieces()).toEqual([]));
      throw new Error('the source broke');
    }
    await expect(open.content.putStream(dies())).rejects.toThrow('the source broke');
    await open.close().catch(() => undefined);
  });

  it('other keys than those of the database are refused, to an owner and to a reader', async () => {
    const world = own.fresh();
    await opened(world, { keys: keysOfServer }, first);
    await expect(opened(world, { keys: memoryKeys() }, first)).rejects.toThrow('sealed with other keys');
    await using other = postgres(own.url, { keys: memoryKeys() });
    await expect(other.world(world).openReadonly()).rejects.toThrow('sealed with other keys');
  });

  it('a reader that named keys before any owner did reads what is sealed with them later', async () => {
    const url = await apart();
    const keys = memoryKeys();
    await using plain = postgres(url, { connectionsMax: 3 });
    await (await plain.world('a').open()).close();
    await using reading = postgres(url, { keys });
    const reader = await reading.world('a').openReadonly();
    await using sealing = postgres(url, { connectionsMax: 3, keys });
    const open = await sealing.world('a').open();
    const ref = await open.content.put(textOf(100_000, 'a'));
    expect(await reader.content.get(ref)).toEqual(textOf(100_000, 'a'));
    await open.close();
    await reader.close();
  });

  it('an owner of a release before seals is refused a sealed world by the database', async () => {
    const world = own.fresh();
    await opened(world, { keys: keysOfServer }, first);
    const take = `UPDATE reprise.world SET epoch = epoch + 1, owner = gen_random_uuid(), packs_known_by = epoch + 1 WHERE name = $1`;
    await expect(ask(take, [Buffer.from(world)])).rejects.toThrow('a sealed world needs a newer release of Reprise');
  });

  it('content of before is read beside sealed content, is sealed when it is put again, and is erased with it', async () => {
    const world = own.fresh();
    const all = [textOf(300, `${world} a`), textOf(300, `${world} b`), textOf(2_000_000, world)];
    const refs = await opened(world, {}, async (open) => {
      const put = [];
      for (const bytes of all) put.push(await open.content.put(bytes));
      await first(open);
      return put;
    });
    await opened(world, { keys: keysOfServer }, async (open) => {
      for (const [i, ref] of refs.entries())
        expect(Buffer.compare((await open.content.get(ref)) ?? new Uint8Array(), all[i] as Uint8Array)).toBe(0);
      for (const bytes of all.slice(1)) await open.content.put(bytes);
      await open.journal.append([frameOf(1, 50)], await open.journal.head());
      for (const [i, ref] of refs.entries())
        expect(Buffer.compare((await open.content.get(ref)) ?? new Uint8Array(), all[i] as Uint8Array)).toBe(0);
      const rows = await ask(
        `SELECT bytes IS NULL AS sealed FROM reprise.blob b JOIN reprise.world w ON w.id = b.world WHERE w.name = $1 ORDER BY 1`,
        [Buffer.from(world)],
      );
      expect(rows.map(({ sealed }) => sealed)).toEqual([false, true, true]);
      await open.content.erase(refs, 1);
      for (const ref of refs) expect(await open.content.get(ref)).toBeUndefined();
    });
  });

  it('an owner that was deposed learns no key of what was stored after it, and destroys none', async () => {
    const world = own.fresh();
    const bytes = textOf(200, world);
    await using late = postgres(own.url, { connectionsMax: 3, keys: keysOfServer });
    const deposed = await late.world(world).open();
    const ref = await deposed.content.put(bytes);
    await first(deposed);
    await ask('UPDATE reprise.host SET closed = true WHERE id = (SELECT owner FROM reprise.world WHERE name = $1)', [
      Buffer.from(world),
    ]);
    await opened(world, { keys: keysOfServer }, async (open) => {
      await open.content.erase([ref], 0);
      await open.content.put(bytes);
      await open.journal.append([frameOf(1, 50)], await open.journal.head());
      await expect(deposed.content.erase([ref], 0)).rejects.toMatchObject({ code: 'fenced' });
      expect(await open.content.get(ref)).toEqual(bytes);
    });
    await deposed.close().catch(() => undefined);
  });

  describe('across a restore', () => {
    /** What a restore and its admission do to this database, whose rows stay as they are. */
    async function admitted(): Promise<void> {
      await ask('UPDATE reprise.cell SET behind = true');
      await using operator = postgres(own.url);
      expect(await operator.admit()).toMatchObject({ admitted: true });
    }

    it('an owner that was stopped in an erasure before it destroys no key of what is stored after it', async () => {
      const world = own.fresh();
      const bytes = textOf(200, world);
      await using late = postgres(own.url, { connectionsMax: 3, keys: keysOfServer });
      const zombie = await late.world(world).open();
      const ref = await zombie.content.put(bytes);
      await first(zombie);
      const stops = watched.stopNext({ call: 'destroy', when: 'before' });
      const erasing = zombie.content.erase([ref], 0).catch((error: unknown) => error);
      const stopped = await stops;
      await admitted();
      await opened(world, { keys: keysOfServer }, async (open) => {
        await open.content.put(bytes);
        await open.journal.append([frameOf(1, 50)], await open.journal.head());
        stopped.letGo();
        expect(isRepriseError(await erasing, 'fenced')).toBe(true);
        expect(await open.content.get(ref)).toEqual(bytes);
      });
      await zombie.close().catch(() => undefined);
    });

    it('an erasure destroys the keys of copies that were stored before it', async () => {
      const world = own.fresh();
      const ref = await opened(world, { keys: keysOfServer }, async (open) => {
        const put = await open.content.put(textOf(200, world));
        await first(open);
        return put;
      });
      await admitted();
      await opened(world, { keys: keysOfServer }, async (open) => {
        expect(await open.content.get(ref)).toEqual(textOf(200, world)); // its key is one of before
        await open.content.put(textOf(200, world));
        await open.journal.append([frameOf(1, 50)], await open.journal.head());
        expect(await watched.all(ref.hex)).toHaveLength(2);
        await open.content.erase([ref], 1);
        expect(await watched.all(ref.hex)).toHaveLength(0);
      });
    });
  });

  for (const when of ['before', 'after'] as const)
    it(`a reader elsewhere sees erased content as erased, or still there, while its owner is stopped ${when} the destruction of its key`, async () => {
      const world = own.fresh();
      await using owning = postgres(own.url, { connectionsMax: 3, keys: keysOfServer });
      await using live = await openKernelWorld({ store: owning.world(world), app: defineApp({ reducers: [] }) });
      const [ref, other] = [await live.content.put(textOf(300, world)), await live.content.put(textOf(400, world))];
      await live.erase({ refs: [await live.content.put(textOf(50, 'before'))] }); // its frame carries the others
      await using reading = postgres(own.url, { keys: keysOfServer });
      const reader = await reading.world(world).openReadonly();
      const stops = watched.stopNext({ call: 'destroy', when });
      const erasing = live.erase({ refs: [ref] });
      const stopped = await stops;
      const { seq } = await reader.journal.head();
      try {
        expect(await reader.content.erasedThrough()).toBeLessThan(seq);
        if (when === 'before') expect(await getBytes(reader.content, ref)).toEqual(textOf(300, world));
        else
          await expect(getBytes(reader.content, ref)).rejects.toMatchObject({
            code: 'blob_erased',
            details: { by: seq },
          });
        expect(await getBytes(reader.content, other)).toEqual(textOf(400, world));
        expect(await reader.content.erasedBy(other)).toBeUndefined();
      } finally {
        stopped.letGo();
        await erasing;
      }
      await expect(getBytes(reader.content, ref)).rejects.toMatchObject({ code: 'blob_erased', details: { by: seq } });
      await reader.close();
    });

  it('an erasure waits for an append that has its keys already, and erases what that has stored', async () => {
    const world = own.fresh();
    await opened(world, { keys: keysOfServer }, async (open) => {
      const bytes = textOf(200, world);
      const ref = await open.content.put(bytes);
      const stops = watched.stopNext({ call: 'keep', when: 'after' });
      const appending = first(open);
      const stopped = await stops;
      const erasing = open.content.erase([ref], 0);
      await ask('SELECT pg_sleep(0)'); // an erasure that did not wait would be at the database by now
      stopped.letGo();
      await Promise.all([appending, erasing]);
      expect(await open.content.get(ref)).toBeUndefined();
      await open.content.put(bytes);
      await open.journal.append([frameOf(1, 50)], await open.journal.head());
      expect(await open.content.get(ref)).toEqual(bytes);
    });
  });

  it('equal pieces of a content are stored as different bytes', async () => {
    const world = own.fresh();
    await opened(world, { keys: keysOfServer }, async (open) => {
      const ref = await open.content.put(new Uint8Array(3 * 1024 * 1024));
      const rows = await ask('SELECT md5(bytes) AS piece FROM reprise.part WHERE digest = $1', [
        Buffer.from(ref.hex, 'hex'),
      ]);
      expect(new Set(rows.map(({ piece }) => piece)).size).toBe(3);
      expect(await open.content.get(ref)).toHaveLength(3 * 1024 * 1024);
    });
  });

  it('content that is put again writes no row again', async () => {
    const world = own.fresh();
    await opened(world, { keys: keysOfServer }, async (open) => {
      const row = () => ask('SELECT xmin::text, ctid::text FROM reprise.blob WHERE seal IS NOT NULL ORDER BY 1, 2');
      await open.content.put(textOf(300, world));
      const head = await first(open);
      const before = await row();
      await open.content.put(textOf(300, world));
      await open.journal.append([frameOf(1, 50)], head);
      expect(await row()).toEqual(before);
    });
  });

  it('given a key service that fails, content and its append are refused with a code, and nothing is lost', async () => {
    const keys = new WatchedKeys();
    let fails = false;
    const service: KeyService = {
      ...keys.service,
      keep: (names) => (fails ? Promise.reject(new Error('the vault is closed')) : keys.service.keep(names)),
      destroy: (names) => (fails ? Promise.reject(new Error('the vault is closed')) : keys.service.destroy(names)),
    };
    await using database = postgres(await apart(), { keys: service });
    const open = await database.world('a').open();
    const ref = await open.content.put(textOf(100, 'a'));
    fails = true;
    for (const call of [
      () => first(open),
      () => open.content.put(textOf(100_000, 'a')),
      () => open.content.put(textOf(3_000_000, 'a')),
      () => open.content.erase([ref], 0),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('the vault is closed'),
      });
    fails = false;
    await open.content.put(textOf(100, 'a'));
    await first(open);
    expect(await open.content.get(ref)).toEqual(textOf(100, 'a'));
    await open.content.erase([ref], 0);
    expect(await open.content.get(ref)).toBeUndefined();
    await open.close();
  });
});
