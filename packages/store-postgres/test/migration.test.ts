/** A database of the first version: a dump that the first release with databases made, with a world and directories in it. */
import { readFileSync } from 'node:fs';
import { isRepriseError } from '@reprise/contracts';
import { verifyStore } from '@reprise/kernel';
import pg from 'pg';
import { expect, it } from 'vitest';
import { postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';

/** `pg_dump` of the tables of version 1. The host of the directory `hosts` died with the world `old` open. */
const DUMP = readFileSync(new URL('tables-1.sql', import.meta.url), 'utf8');

/** What a host of version 1 writes, which may still run. */
const SET_OF_1 = `WITH held AS MATERIALIZED (SELECT d.id FROM reprise.directory d WHERE d.id = 1 AND d.epoch = $1 FOR SHARE),
  changed AS (INSERT INTO reprise.directory_row (directory, world, wake, open)
    SELECT held.id, $2, 9, true FROM held
    ON CONFLICT (directory, world) DO UPDATE SET wake = excluded.wake, open = excluded.open)
  SELECT id FROM held`;

/** The processes that wait for the one that makes the tables. */
const WAITING = "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

describePostgres('a database of version 1', (own) => {
  async function ask<T extends pg.QueryResultRow>(url: string, text: string, values?: unknown[]): Promise<T[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<T>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async function restored(): Promise<string> {
    const name = own.fresh();
    await ask(own.url, `CREATE DATABASE ${name}`);
    const url = own.url.replace(/postgres$/, name);
    await ask(url, DUMP);
    return url;
  }

  it('a world of version 1 is read and verified without a change of the tables', async () => {
    const url = await restored();
    await using database = postgres(url);
    const reader = await database.world('old').openReadonly();
    expect(await verifyStore(reader)).toMatchObject({ head: { seq: 3 } });
    await reader.close();
    expect(await ask(url, 'SELECT version FROM reprise.meta')).toEqual([{ version: 1 }]);
  });

  it('a directory of version 1 is shared by its next hosts, which have its rows and adopt what its last host left open', async () => {
    const url = await restored();
    await using one = postgres(url);
    await using other = postgres(url);
    const [a, b] = [await one.directory('hosts').open(), await other.directory('hosts').open()];
    const closed = { world: 'closed', nextWakeAt: 5_000, open: false };
    const never = { world: 'never', nextWakeAt: null, open: false };
    expect(await b.list({ limit: 9 })).toEqual([closed, never, { world: 'old', nextWakeAt: null, open: true }]);
    expect(await a.shared?.adopt(7_000, 9)).toBe(1);
    expect(await b.due(9_000, 9)).toEqual([closed, { world: 'old', nextWakeAt: 7_000, open: false }]);
    const claim = await b.shared?.claim('old');
    await expect(a.shared?.claim('old')).rejects.toMatchObject({ code: 'world_locked' });
    await claim?.release(never);
  });

  it('a directory whose host of version 1 lives is refused, and that host goes on writing its rows', async () => {
    const url = await restored();
    await ask(url, "UPDATE reprise.host SET process = 'elsewhere', expires = clock_timestamp() + interval '1 hour'");
    await using database = postgres(url);
    const refused = await database
      .directory('hosts')
      .open()
      .catch((error: unknown) => error);
    expect(isRepriseError(refused, 'world_locked')).toBe(true);
    expect(await ask(url, SET_OF_1, [1, Buffer.from('closed')])).toEqual([{ id: '1' }]);
    await ask(url, 'UPDATE reprise.host SET expires = clock_timestamp()');
    const open = await database.directory('hosts').open();
    expect(await open.get('closed')).toEqual({ world: 'closed', nextWakeAt: 9, open: true });
    expect(await ask(url, SET_OF_1, [1, Buffer.from('never')])).toEqual([]); // and not any more
  });

  it('a process that waits for another one to make the tables of an empty database finds them made', async () => {
    const name = own.fresh();
    await ask(own.url, `CREATE DATABASE ${name}`);
    const url = own.url.replace(/postgres$/, name);
    const first = new pg.Client({ connectionString: url });
    await first.connect();
    await first.query('BEGIN');
    await first.query('SELECT pg_advisory_xact_lock($1)', [0x52505250]);
    await using database = postgres(url);
    const opening = database.directory('any').open();
    const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while ((await ask(url, waiting)).length === 0) await new Promise((next) => setImmediate(next));
    await first.query(DUMP);
    await first.query('COMMIT');
    await first.end();
    await (await opening).close();
  });

  it('tables that were upgraded are those that are made anew', async () => {
    const [old, fresh] = [await restored(), own.url];
    for (const url of [old, fresh]) {
      await using database = postgres(url);
      await (await database.directory('any').open()).close();
    }
    const shape = async (url: string) => [
      await ask(
        url,
        `SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity
         FROM information_schema.columns WHERE table_schema = 'reprise' ORDER BY 1, 2`,
      ),
      await ask(url, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'reprise' ORDER BY 1"),
      await ask(url, 'SELECT version FROM reprise.meta'),
    ];
    expect(await shape(old)).toEqual(await shape(fresh));
  });

  it('a process with a short lease waits for another one that makes the tables for long', async () => {
    const name = own.fresh();
    await ask(own.url, `CREATE DATABASE ${name}`);
    const url = own.url.replace(/postgres$/, name);
    const maker = new pg.Client({ connectionString: url });
    await maker.connect();
    await maker.query('BEGIN');
    await maker.query('SELECT pg_advisory_xact_lock($1)', [0x52505250]);
    await using database = postgres(url, { ttl: 400 });
    const open = database.world('first').open();
    const waits = async () => (await ask<{ n: number }>(url, WAITING))[0]?.n;
    await expect.poll(waits).toBe(1);
    const since = performance.now();
    await expect.poll(() => performance.now() - since).toBeGreaterThan(800); // longer than a statement of its lease may take
    await maker.query('ROLLBACK');
    await maker.end();
    await (await open).close();
  });
});
