/** A database that is a copy of another one, and what may be written in it before and after an operator has admitted it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { EMPTY_HEAD, type Head, type OpenStore } from '@reprise/kernel';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memoryKeys, type PostgresOptions, postgres, type WitnessPlace, witnessFolder } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';
import { frameOf } from './packing/frames.js';
import { postgresBin } from './server.js';

/** What a process of the release before admissions sends to take a world. */
const TAKE_OF_7 = `UPDATE reprise.world SET epoch = $3, owner = $1, packs_known_by = $3
   WHERE id = $2 AND epoch = $3 - 1 AND owner IS NOT DISTINCT FROM $4
     AND EXISTS (SELECT FROM reprise.host h WHERE h.id = $1 AND NOT h.closed AND h.expires > clock_timestamp())
   RETURNING true`;

/** And to append to it: a frame's worth of it, with the epoch alone as its fence. */
const APPEND_OF_7 = 'UPDATE reprise.world SET seq = seq + 1 WHERE id = $1 AND epoch = $2 RETURNING true';

describePostgres('a copy of a database', (own) => {
  let folder: string;
  let witness: WitnessPlace;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'reprise-witness-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function ask<T extends pg.QueryResultRow>(url: string, text: string, values?: unknown[]): Promise<T[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<T>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  const failure = (call: Promise<unknown>): Promise<RepriseError> =>
    call.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => (isRepriseError(error) ? error : expect.fail(String(error))),
    );

  /** Appends a frame; under another head when the world went back and goes another way. */
  async function append(store: OpenStore, head: Head, other?: string): Promise<Head> {
    const frame = frameOf(head.seq + 1, 300);
    return store.journal.append([{ ...frame, head: other ?? frame.head }], head);
  }

  /** An empty database of its own, and a way to put it back to a copy of an earlier moment. */
  async function database() {
    const [name, copy] = [`d${own.fresh()}`, `c${own.fresh()}`];
    await ask(own.url, `CREATE DATABASE ${name}`);
    witness = witnessFolder(path.join(folder, name));
    return {
      url: own.url.replace(/postgres$/, name),
      /** Copies it; nothing may be connected. */
      keep: () => ask(own.url, `CREATE DATABASE ${copy} TEMPLATE ${name}`),
      copyUrl: own.url.replace(/postgres$/, copy),
    };
  }

  const open = (url: string, more: PostgresOptions = {}) => postgres(url, { connectionsMax: 3, ...more });

  it('a database that was copied within its server opens no world until it is admitted, and then all of them', async () => {
    const { url, keep, copyUrl } = await database();
    {
      await using first = open(url, { witness });
      const store = await first.world('a').open();
      await append(store, EMPTY_HEAD);
      await store.close();
    }
    await keep();
    await using copy = open(copyUrl, { witness });
    const refused = await failure(copy.world('a').open());
    expect([refused.code, refused.details.reason]).toEqual(['not_admitted', 'database']);
    expect((await failure(copy.world('new').open())).code).toBe('not_admitted');
    expect(await ask(copyUrl, 'SELECT count(*)::int AS n FROM reprise.world')).toEqual([{ n: 1 }]);
    const looked = await copy.admit({ witness, look: true });
    expect(looked).toMatchObject({ reason: 'database', admitted: false, compared: 1, lost: [] });
    expect((await failure(copy.world('a').open())).code).toBe('not_admitted');
    const report = await copy.admit({ witness });
    expect(report).toMatchObject({ reason: 'database', admitted: true, compared: 1, lost: [] });
    expect(report.incarnation).not.toBe(looked.incarnation);
    const store = await copy.world('a').open();
    expect(await store.journal.head()).toMatchObject({ seq: 0 });
    await store.close();
    const again = await copy.admit({ witness });
    expect(again).toMatchObject({ reason: null, admitted: false, incarnation: report.incarnation });
    // The one it was copied from goes on.
    await using first = open(url);
    await (await first.world('a').open()).close();
  });

  it('an admission with a place that names no world of the database decides nothing', async () => {
    const { url } = await database();
    await using owner = open(url, { witness });
    const store = await owner.world('a').open();
    await append(store, EMPTY_HEAD);
    await store.close();
    await owner.close();
    await ask(url, "UPDATE reprise.cell SET system = 'another'");
    await using operator = open(url);
    const empty = witnessFolder(path.join(folder, 'not-mounted'));
    expect(await operator.admit({ witness: empty, look: true })).toMatchObject({ compared: 0, lost: [] });
    const refused = await failure(operator.admit({ witness: empty, open: 'all' }));
    expect([refused.code, refused.details.actual]).toEqual(['invalid_argument', empty.label]);
    expect((await failure(operator.world('a').open())).code).toBe('not_admitted');
    expect(await operator.admit({ witness })).toMatchObject({ admitted: true, compared: 1 });
  });

  it('a dump that was restored into another database opens no world until it is admitted, and its epochs go on above the old ones', async () => {
    const { url, copyUrl } = await database();
    const before = open(url);
    const old = await before.world('a').open();
    const head = await append(old, EMPTY_HEAD);
    const tool = (name: string, ...args: string[]) => promisify(execFile)(path.join(postgresBin() ?? '', name), args);
    const file = path.join(own.server.folder, own.fresh());
    await tool('pg_dump', '-Fc', '-f', file, url);
    await ask(own.url, `CREATE DATABASE ${new URL(copyUrl).pathname.slice(1)}`);
    await tool('pg_restore', '-d', copyUrl, file);
    await using restored = open(copyUrl);
    expect((await failure(restored.world('a').open())).details.reason).toBe('database');
    await restored.admit();
    const store = await restored.world('a').open();
    expect(store.tenure?.epoch).toBeGreaterThan((old.tenure?.epoch ?? 0) + 1_000);
    expect(await store.journal.head()).toEqual(head);
    await store.close();
    await old.close();
    await before.close();
  });

  it('a process that has a world since before an admission writes nothing more, also where epoch and head are its own', async () => {
    const { url } = await database();
    await using zombie = open(url, { ttl: 60_000 });
    const store = await zombie.world('a').open();
    const head = await append(store, EMPTY_HEAD);
    // The epoch comes again: as in a copy from before, in which another process has opened the world as often.
    await ask(url, 'UPDATE reprise.cell SET behind = true');
    await using operator = open(url);
    await operator.admit();
    await ask(url, 'ALTER TABLE reprise.world DISABLE TRIGGER ALL');
    await ask(url, 'UPDATE reprise.world SET epoch = $1', [store.tenure?.epoch]);
    await ask(url, 'ALTER TABLE reprise.world ENABLE TRIGGER ALL');
    expect((await failure(append(store, head))).code).toBe('fenced');
    expect((await failure(store.journal.head())).code).toBe('fenced');
    expect((await failure(store.mark('a note'))).code).toBe('fenced');
    expect(
      (
        await failure(
          store.content.putStream(
            (async function* () {
              yield new Uint8Array(3 * 1024 * 1024);
            })(),
          ),
        )
      ).code,
    ).toBe('fenced');
    expect((await failure(store.content.erase([], 0))).code).toBe('fenced');
    expect(await ask(url, 'SELECT seq, mark FROM reprise.world')).toEqual([{ seq: '0', mark: null }]);
    expect(await ask(url, 'SELECT count(*)::int AS n FROM reprise.part')).toEqual([{ n: 0 }]);
  });

  it('an admission fences a world with sealed content that was open, and the next owner reads that content', async () => {
    const { url } = await database();
    const keys = memoryKeys();
    await using zombie = open(url, { ttl: 60_000, keys });
    const store = await zombie.world('a').open();
    const content = new Uint8Array([1, 2, 3]);
    const ref = await store.content.put(content);
    const head = await append(store, EMPTY_HEAD);
    await ask(url, 'UPDATE reprise.cell SET behind = true');
    await using operator = open(url);
    expect(await operator.admit()).toMatchObject({ reason: 'heads', admitted: true });
    expect((await failure(append(store, head))).code).toBe('fenced');
    await using next = open(url, { keys });
    const opened = await next.world('a').open();
    expect(await opened.content.get(ref)).toEqual(content);
    await opened.close();
  });

  it('a process of the release before is refused worlds of a restored database in words, and is fenced by its admission', async () => {
    const { url } = await database();
    await using database7 = open(url);
    for (const name of ['a', 'b']) await (await database7.world(name).open()).close();
    const host = '77777777-7777-4777-8777-777777777777';
    await ask(
      url,
      `INSERT INTO reprise.host (id, process, expires) VALUES ('${host}', 'old', clock_timestamp() + interval '1 hour')`,
    );
    const epoch = async () =>
      Number((await ask<{ epoch: string }>(url, 'SELECT epoch FROM reprise.world WHERE id = 1'))[0]?.epoch);
    const take = async (owner: string | null) => ask(url, TAKE_OF_7, [host, 1, (await epoch()) + 1, owner]);
    expect(await take(null)).toHaveLength(1); // as long as nothing was restored
    const had = await epoch();
    await ask(url, "UPDATE reprise.cell SET system = 'another'");
    await expect(take(host)).rejects.toThrow('no operator has admitted it');
    expect(await ask(url, APPEND_OF_7, [1, had])).toHaveLength(1); // its fence knows nothing of a restore
    await using operator = open(url);
    expect(await operator.admit()).toMatchObject({ reason: 'system' });
    expect(await ask(url, APPEND_OF_7, [1, had])).toHaveLength(0);
    expect(await take(host)).toEqual([]); // its lease is closed
    await ask(url, 'UPDATE reprise.host SET closed = false WHERE id = $1', [host]);
    await expect(ask(url, TAKE_OF_7, [host, 2, 2, null])).rejects.toThrow('used before a restore');
  });

  it('a role that may not ask the server for its system and its timeline opens worlds, and an admission compares what it may', async () => {
    const { url } = await database();
    await using first = open(url);
    await (await first.world('a').open()).close();
    const role = own.fresh();
    await ask(url, `CREATE ROLE ${role} LOGIN`);
    await ask(url, `GRANT USAGE ON SCHEMA reprise TO ${role}`);
    await ask(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA reprise TO ${role}`);
    for (const name of ['pg_control_system', 'pg_control_checkpoint', 'pg_current_wal_lsn'])
      await ask(url, `REVOKE EXECUTE ON FUNCTION pg_catalog.${name}() FROM PUBLIC`);
    const limited = url.replace('reprise@', `${role}@`);
    expect(await ask(limited, 'SELECT system, timeline FROM reprise.here()')).toEqual([
      { system: null, timeline: null },
    ]);
    await ask(url, 'UPDATE reprise.cell SET timeline = 7');
    await using app = open(limited);
    await (await app.world('a').open()).close(); // it cannot tell
    expect((await failure(first.world('a').open())).details.reason).toBe('timeline');
  });

  it('a database that was put back behind its witness opens no world for any process, and admit names each that lacks frames', async () => {
    const { url } = await database();
    const heads = new Map<string, Head>();
    {
      await using first = open(url, { witness });
      for (const name of ['a', 'b', 'c']) {
        const store = await first.world(name).open();
        heads.set(name, await append(store, EMPTY_HEAD));
        await store.close();
      }
    }
    await ask(url, 'CREATE TABLE kept AS SELECT * FROM reprise.world');
    {
      await using first = open(url, { witness });
      for (const name of ['b', 'new']) {
        const store = await first.world(name).open();
        heads.set(name, await append(store, await store.journal.head()));
        await store.close();
      }
    }
    // As a copy of the folder does it: the same server, the same timeline.
    await ask(
      url,
      'DELETE FROM reprise.frame WHERE (world, seq) NOT IN (SELECT id, g FROM kept, generate_series(0, seq) g)',
    );
    await ask(url, 'ALTER TABLE reprise.world DISABLE TRIGGER ALL');
    await ask(
      url,
      'UPDATE reprise.world w SET seq = k.seq, head = k.head, epoch = k.epoch FROM kept k WHERE k.id = w.id',
    );
    await ask(url, 'DELETE FROM reprise.world w WHERE id NOT IN (SELECT id FROM kept)');
    await ask(url, 'ALTER TABLE reprise.world ENABLE TRIGGER ALL');

    await using seeing = open(url, { witness });
    const refused = await failure(seeing.world('a').open());
    expect([refused.code, refused.details.reason]).toEqual(['not_admitted', 'heads']);
    expect(refused.details.worlds).toEqual([
      'b: frame 1 was acknowledged, frame 0 is here',
      'new: frame 0 was acknowledged, no frame is here',
    ]);
    await using blind = open(url);
    expect((await failure(blind.world('a').open())).code).toBe('not_admitted');

    const report = await blind.admit({ witness });
    expect(report).toMatchObject({ reason: 'heads', admitted: true, compared: 4, completeSince: 0 });
    expect(report.lost).toEqual([
      { world: 'b', had: heads.get('b'), has: { seq: 0, digest: expect.any(String) }, opened: false },
      { world: 'new', had: heads.get('new'), has: EMPTY_HEAD, opened: false },
    ]);
    for (const database of [seeing, blind]) {
      await (await database.world('a').open()).close();
      const lost = await failure(database.world('b').open());
      expect([lost.code, lost.details.expected]).toEqual([
        'head_mismatch',
        `sha256:${heads.get('b')?.digest} at frame 1, which was acknowledged`,
      ]);
      expect((await failure(database.world('new').open())).code).toBe('head_mismatch');
    }
    expect(await blind.admit({ witness })).toMatchObject({ admitted: false, lost: report.lost });
    expect((await failure(blind.admit({ witness, open: ['a'] }))).code).toBe('invalid_argument');

    const opened = await blind.admit({ witness, open: ['b'] });
    expect(opened.lost.map(({ world, opened: isOpen }) => [world, isOpen])).toEqual([
      ['b', true],
      ['new', false],
    ]);
    expect((await failure(seeing.world('new').open())).code).toBe('head_mismatch');
    let store = await seeing.world('b').open();
    const next = await append(store, await store.journal.head(), 'ab'.repeat(32));
    expect(next.seq).toBe(1);
    expect(next.digest).not.toBe(heads.get('b')?.digest);
    await store.close();
    await using later = open(url, { witness });
    store = await later.world('b').open(); // the head that was given up counts no more
    await store.close();
  });

  it('a world that went back under processes that had their witness before does not open behind a head they have seen', async () => {
    const { url } = await database();
    await using database1 = open(url, { witness });
    const store = await database1.world('a').open();
    const first = await append(store, EMPTY_HEAD);
    const second = await append(store, first);
    await store.close();
    await ask(url, "UPDATE reprise.world SET seq = 0, head = decode($1, 'hex')", [first.digest]);
    const refused = await failure(database1.world('a').open());
    expect([refused.code, refused.details.expected]).toEqual([
      'head_mismatch',
      `sha256:${second.digest} at frame 1, which was acknowledged`,
    ]);
    await ask(url, "UPDATE reprise.world SET seq = 2, head = decode($1, 'hex')", ['ab'.repeat(32)]);
    await ask(url, 'DELETE FROM reprise.frame WHERE seq = 1');
    expect((await failure(database1.world('a').open())).code).toBe('journal_damaged');
  });

  it('a dump that is restored under a running server opens no world before a head, for a process that had compared it before [FLEET-11]', async () => {
    const { url } = await database();
    await using early = open(url, { witness });
    await (await early.world('other').open()).close(); // it has compared all slots, which name nothing yet
    await using writer = open(url, { witness });
    const store = await writer.world('a').open();
    const first = await append(store, EMPTY_HEAD);
    await append(store, first);
    await store.close();
    await writer.close();
    await ask(url, "UPDATE reprise.world SET seq = 0, head = decode($1, 'hex') WHERE name = 'a'", [first.digest]);
    await ask(url, 'DELETE FROM reprise.frame WHERE seq = 1');
    await ask(url, 'DELETE FROM reprise.host'); // the dump is older than the process
    const refused = await failure(early.world('a').open());
    expect([refused.code, refused.details.reason]).toEqual(['not_admitted', 'heads']);
  });

  it('an admission waits for a write that is under way, and compares what it has written', async () => {
    const { url } = await database();
    {
      await using first = open(url, { witness });
      const store = await first.world('a').open();
      const head = await append(store, EMPTY_HEAD);
      await append(store, head);
      await store.close();
      await ask(url, "UPDATE reprise.world SET seq = 0, head = decode($1, 'hex')", [head.digest]);
    }
    await using operator = open(url, { ttl: 60_000 });
    expect(await operator.admit({ witness, look: true })).toMatchObject({ reason: 'heads', lost: [{ world: 'a' }] });
    const zombie = new pg.Client({ connectionString: url });
    await zombie.connect();
    await zombie.query('BEGIN');
    await zombie.query("UPDATE reprise.world SET seq = 1, head = decode($1, 'hex')", [frameOf(1, 300).head]);
    const admitting = operator.admit({ witness });
    const waiting = "SELECT FROM pg_locks WHERE relation = 'reprise.world'::regclass AND NOT granted";
    await Promise.race([admitting, expect.poll(async () => (await ask(url, waiting)).length).toBe(1)]);
    await zombie.query('COMMIT');
    await zombie.end();
    expect(await admitting).toMatchObject({ reason: null, admitted: false, lost: [] });
  });

  it('slots are leased by one process at a time, and those of processes that have ended are used again with what they named', async () => {
    const { url } = await database();
    const names: string[] = [];
    const counted: WitnessPlace = {
      ...witness,
      put: async (name, bytes) => {
        names.push(name.slice(-3));
        await witness.put(name, bytes);
      },
    };
    for (const world of ['a', 'b', 'c']) {
      await using one = open(url, { witness: counted });
      const store = await one.world(world).open();
      await append(store, EMPTY_HEAD);
      await store.close();
      await one.close();
      await ask(url, "UPDATE reprise.host SET expires = expires - interval '2 minutes'");
    }
    expect(new Set(names)).toEqual(new Set(['000']));
    expect(await open(url).admit({ witness, look: true })).toMatchObject({ compared: 3, lost: [] });
    await using one = open(url, { witness: counted });
    await using other = open(url, { witness: counted });
    names.length = 0;
    for (const each of [one, other]) {
      const store = await each.world('d').open();
      await append(store, await store.journal.head());
      await store.close();
    }
    await expect.poll(() => [...new Set(names)].sort()).toEqual(['000', '001']);
  });

  it('a slot that was leased a moment ago is the last to be leased again: a put may still be on its way to it', async () => {
    const { url } = await database();
    const slotOf = async (world: string): Promise<number> => {
      await using one = open(url, { witness });
      await (await one.world(world).open()).close();
      const [row] = await ask<{ slot: number }>(
        url,
        'SELECT s.slot FROM reprise.witness_slot s JOIN reprise.host h ON h.id = s.host WHERE NOT h.closed',
      );
      return row?.slot ?? -1;
    };
    expect([await slotOf('a'), await slotOf('b')]).toEqual([0, 1]);
    await ask(url, "UPDATE reprise.host SET expires = expires - interval '2 minutes'");
    expect(await slotOf('c')).toBe(0);
    await ask(
      url,
      'INSERT INTO reprise.witness_slot (slot, host) SELECT s, (SELECT host FROM reprise.witness_slot WHERE slot = 0) FROM generate_series(2, 255) AS s',
    );
    await ask(url, 'UPDATE reprise.host SET expires = clock_timestamp()');
    expect(await slotOf('d')).toBe(0); // all of them rest
  });
});
