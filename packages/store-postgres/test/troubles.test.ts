/** Trouble between a process and its database, at the moments that hurt: each is a report, and the process goes on. */
import { createHash } from 'node:crypto';
import { isRepriseError, Ref } from '@reprise/contracts';
import { EMPTY_HEAD } from '@reprise/kernel';
import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { connect } from '../src/connection/driver.js';
import { postgres } from '../src/index.js';
import { removeUnfinished } from '../src/world/blobs.js';
import type { OwnedPlace } from '../src/world/place.js';
import { describePostgres } from './describe-postgres.js';
import { openNetwork } from './proxy.js';
import { standStill } from './stop.js';

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'accepted',
    (error: unknown) => (isRepriseError(error) ? error.code : String(error)),
  );

describePostgres('a process and its database', (own) => {
  afterEach(() => void vi.restoreAllMocks());

  async function admin<T extends pg.QueryResultRow>(statement: string): Promise<readonly T[]> {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const { rows } = await client.query<T>(statement);
    await client.end();
    return rows;
  }

  it('a connection that breaks inside a transaction is a failed call, and not the end of the process', async () => {
    await using database = postgres(own.url);
    const views = await database.views(own.fresh()).open();
    const place = views as unknown as {
      connections: { transaction: <T>(what: string, body: (sql: never) => Promise<T>) => Promise<T> };
    };
    const broken = place.connections.transaction('try', async () => {
      await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reprise'");
      await new Promise((resolve) => setTimeout(resolve, 200)); // the end of the connection is heard between two statements
    });
    expect(await codeOf(broken)).toBe('store_failed');
    expect(await views.mark('test/View@1')).toBe(null);
    await views.close();
  });

  it('a machine that slept for longer than the lease does not believe in it, before any answer of the database', async () => {
    await using database = postgres(own.url);
    const open = await database.world(own.fresh()).open();
    expect(open.tenure?.holds()).toBe(true);
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now + 3_600_000); // the monotonic clock stands still while a machine sleeps
    expect(open.tenure?.holds()).toBe(false);
    vi.restoreAllMocks();
    await open.close();
  });

  it('worlds that are opened at once after a lost lease share the next one', async () => {
    await using database = postgres(own.url, { ttl: 2_000 });
    const first = await database.world(own.fresh()).open();
    standStill(2_400);
    expect(first.tenure?.holds()).toBe(false);
    const worlds = await Promise.all(Array.from({ length: 5 }, () => database.world(own.fresh()).open()));
    const owners = await admin<{ n: number }>(
      'SELECT count(DISTINCT owner)::int AS n FROM reprise.world w JOIN reprise.host h ON h.id = w.owner WHERE NOT h.closed AND h.expires > clock_timestamp()',
    );
    expect(owners).toEqual([{ n: 1 }]);
    for (const world of [first, ...worlds]) await world.close().catch(() => undefined);
  });

  it('a world whose close did not reach the database is given back as soon as it can be', async () => {
    const network = await openNetwork(own.server.port);
    const url = own.url.replace(`:${own.server.port}/`, `:${network.port}/`);
    const [database, other] = [postgres(url, { ttl: 30_000 }), postgres(own.url)];
    const name = own.fresh();
    const open = await database.world(name).open();
    network.set('cut');
    expect(await codeOf(open.close())).toBe('store_failed');
    network.set('passes');
    await expect.poll(() => codeOf(other.world(name).open())).toBe('accepted');
    await Promise.all([database.close(), other.close()]);
    await network.close();
  });

  it('two openings of one world in one process are one opening and one refusal', async () => {
    await using database = postgres(own.url);
    const name = own.fresh();
    const codes = await Promise.all([1, 2, 3].map(() => codeOf(database.world(name).open())));
    expect(codes.toSorted()).toEqual(['accepted', 'world_locked', 'world_locked']);
  });

  it('content that was erased while waiting content was being written does not come back', async () => {
    await using database = postgres(own.url);
    const open = await database.world(own.fresh()).open();
    const puts = Array.from({ length: 150 }, (_, n) => open.content.put(Buffer.alloc(60_000, `content ${n}`)));
    await new Promise((resolve) => setTimeout(resolve, 20)); // they are more than may wait: they are being written
    const erased = [0, 60, 120, 149].map((n) =>
      Ref.fromHex(
        createHash('sha256')
          .update(Buffer.alloc(60_000, `content ${n}`))
          .digest('hex'),
      ),
    );
    await open.content.erase(erased, 1);
    await Promise.all(puts);
    await open.journal.append([], EMPTY_HEAD);
    expect(await Promise.all(erased.map((ref) => open.content.has(ref)))).toEqual([false, false, false, false]);
    await open.close();
  });

  it('content of several pieces that is erased while it is stored again leaves no piece behind', async () => {
    await using database = postgres(own.url);
    const name = own.fresh();
    const open = await database.world(name).open();
    const large = Buffer.alloc(2_500_000, 5);
    const ref = await open.content.put(large);
    expect(ref.hex).toBe(createHash('sha256').update(large).digest('hex'));
    for (let round = 1; round <= 8; round++)
      await Promise.all([open.content.put(large), open.content.erase([ref], round)]);
    await open.content.erase([ref], 9);
    const left = await admin(
      `SELECT 1 FROM reprise.part p JOIN reprise.world w ON w.id = p.world WHERE w.name = '${name}'`,
    );
    expect([await open.content.has(ref), left.length]).toEqual([false, 0]);
    await open.close();
  });

  it('an owner that tidies up late, after another one has taken its world, removes no piece of what that one stores', async () => {
    const world = own.fresh();
    const late = await connect({ url: own.url, connectionsMax: 1, statementMs: 5_000, pooled: false });
    await using database = postgres(own.url, { connectionsMax: 4 });
    const open = await database.world(world).open();
    const [row] = await late.rows(
      'look',
      'SELECT id, (SELECT incarnation::text FROM reprise.cell) FROM reprise.world WHERE name = $1',
      [Buffer.from(world)],
    );
    const [id, incarnation] = [Number(row?.[0]), String(row?.[1])];
    const epoch = (open.tenure?.epoch ?? 0) - 1; // that of the opening before
    const tidy = () =>
      removeUnfinished({ connections: late, id, epoch, incarnation, where: world } as OwnedPlace).catch(
        (error) => error,
      );
    let outcome: unknown;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let piece = 0; piece < 4; piece++) {
        if (piece === 3) outcome = await tidy();
        yield new Uint8Array(1_000_000).fill(piece);
      }
    }
    const { ref } = await open.content.putStream(pieces());
    expect((await open.content.get(ref))?.length).toBe(4_000_000);
    expect(isRepriseError(outcome, 'fenced')).toBe(true);
    await open.close();
    await late.end();
  });

  it('a server that only reads, a statement that is cut short and a right that is missing are told apart, with what to do', async () => {
    await using made = postgres(own.url);
    await (await made.world(own.fresh()).open()).close();
    await admin('CREATE ROLE few LOGIN; GRANT USAGE ON SCHEMA reprise TO few; GRANT SELECT ON reprise.meta TO few');
    for (const [setting, role, said] of [
      ['default_transaction_read_only=on', 'reprise', 'Use the address of the primary'],
      ['statement_timeout=1', 'reprise', 'statement_timeout of the server'],
      ['work_mem=4MB', 'few', 'again after an upgrade'],
    ] as const) {
      const url = `${own.url.replace('reprise@', `${role}@`)}?options=${encodeURIComponent(`-c ${setting}`)}`;
      await using database = postgres(url, { connectionsMax: 3 });
      const opening = Promise.all(Array.from({ length: 20 }, () => database.world(own.fresh()).open()));
      await expect(opening).rejects.toMatchObject({
        code: 'store_failed',
        details: { hint: expect.stringContaining(said) },
      });
    }
  });

  it('an address in which a password cannot be told apart is refused without being shown', () => {
    for (const url of [
      'postgres://u:12/ss@host/db',
      'postgres://u:/ss@host/db',
      'postgres://u:a?b@host/db',
      'postgres://u:a#b@host/db',
      'postgres://u:a@b@host/db',
    ])
      expect(() => postgres(url)).toThrow(
        expect.objectContaining({ code: 'invalid_argument', message: expect.not.stringContaining('ss@') }),
      );
    for (const url of [
      'postgres://u:p%40ss@host:5432/db',
      'postgres://localhost/agents',
      'postgresql://u@host/db?sslmode=require',
    ])
      expect(postgres(url).label).not.toContain('ss');
  });
});
