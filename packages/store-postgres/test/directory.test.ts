/** Hosts that share a directory in a database: what the network and lost leases do to their claims. */
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import type { LimitParts, SharedRows } from '@reprise/kernel/host';
import pg from 'pg';
import { expect, it } from 'vitest';
import { randomFrom } from '../../../conformance/random.js';
import { postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';
import { openNetwork } from './proxy.js';
import { standStill } from './stop.js';

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'accepted',
    (error: unknown) => (isRepriseError(error) ? error.code : String(error)),
  );

describePostgres('hosts that share a directory', (own) => {
  /** Two hosts; the first one reaches the database through a network. */
  async function twoHosts(ttl = 30_000) {
    const network = await openNetwork(own.server.port);
    const url = own.url.replace(`:${own.server.port}/`, `:${network.port}/`);
    const name = own.fresh();
    const [one, other] = [postgres(url, { ttl }), postgres(own.url, { ttl })];
    const [a, b] = [await one.directory(name).open(), await other.directory(name).open()];
    const close = async (): Promise<void> => {
      await Promise.all([one.close(), other.close()]);
      await network.close();
    };
    const [rowsA, rowsB] = [a.shared as SharedRows, b.shared as SharedRows];
    return { network, one, other, name, a, b, rowsA, rowsB, close };
  }

  it('a claim whose answer was lost is given up by the host that lives, and any host gets the world', async () => {
    const { network, b, rowsA, rowsB, close } = await twoHosts();
    await b.set([{ world: 'w', nextWakeAt: 5, open: false }]);
    await rowsA.adopt(1, 9); // its statements are prepared: the next one is answered once
    network.loseAnswers();
    expect(await codeOf(rowsA.claim('w'))).toBe('store_failed');
    network.set('passes');
    await expect.poll(async () => (await b.get('w'))?.open).toBe(true);
    expect(await codeOf(rowsB.claim('w'))).toBe('world_locked');
    expect(await rowsA.adopt(7, 9)).toBe(1);
    expect(await b.get('w')).toEqual({ world: 'w', nextWakeAt: 7, open: false });
    await (await rowsB.claim('w')).release(undefined);
    await close();
  });

  it('a claim whose answer was lost does not keep its own host from claiming the world again', async () => {
    const { network, a, rowsA, rowsB, close } = await twoHosts();
    network.loseAnswers();
    expect(await codeOf(rowsA.claim('w'))).toBe('store_failed');
    network.set('passes');
    await expect.poll(() => codeOf(a.get('w'))).toBe('accepted');
    const claim = await rowsA.claim('w');
    expect(await codeOf(rowsB.claim('w'))).toBe('world_locked');
    await claim.release({ world: 'w', nextWakeAt: 8, open: false });
    expect(await a.get('w')).toEqual({ world: 'w', nextWakeAt: 8, open: false });
    await close();
  });

  it('a release that the database refuses does not keep those that come with it from being written', async () => {
    const { b, rowsA, rowsB, close } = await twoHosts();
    const worlds = ['v', 'w', 'x'];
    const claims = await Promise.all(worlds.map((world) => rowsA.claim(world)));
    const noWholeNumber = 0.5;
    const released = claims.map((claim, n) =>
      codeOf(claim.release({ world: worlds[n] ?? '', nextWakeAt: n === 1 ? noWholeNumber : n, open: false })),
    );
    expect(await Promise.all(released)).toEqual(['accepted', 'store_failed', 'accepted']);
    expect(await b.get('x')).toEqual({ world: 'x', nextWakeAt: 2, open: false });
    await (await rowsB.claim('v')).release(undefined);
    expect(await codeOf(rowsB.claim('w'))).toBe('world_locked'); // until its own host adopts it
    expect(await rowsA.adopt(9, 9)).toBe(1);
    await close();
  });

  it('a row whose release did not arrive is adopted by its own host, which lives', async () => {
    const { network, b, rowsA, close } = await twoHosts();
    const claim = await rowsA.claim('w');
    network.set('cut');
    expect(await codeOf(claim.release({ world: 'w', nextWakeAt: 8, open: false }))).toBe('store_failed');
    network.set('passes');
    await expect.poll(() => codeOf(rowsA.adopt(9, 9))).toBe('accepted');
    expect(await b.get('w')).toEqual({ world: 'w', nextWakeAt: 9, open: false });
    await close();
  });

  it('a host that stood still for longer than its lease has lost its claims and goes on with new ones', async () => {
    const { a, b, rowsA, rowsB, close } = await twoHosts(600);
    const late = await rowsA.claim('w');
    standStill(900);
    const next = await rowsB.claim('w'); // both stood still: this is a new lease
    await late.release({ world: 'w', nextWakeAt: 8, open: false });
    expect(await a.get('w')).toEqual({ world: 'w', nextWakeAt: null, open: true });
    expect(await codeOf(rowsA.claim('w'))).toBe('world_locked');
    expect(await codeOf(rowsA.claim('other'))).toBe('accepted');
    await next.release({ world: 'w', nextWakeAt: 9, open: false });
    expect((await b.due(10, 9)).map(({ world }) => world)).toEqual(['w']);
    await close();
  });

  it('a refused claim and a refused opening name the address of the process that has the world', async () => {
    await using one = postgres(own.url, { address: 'http://10.0.0.7:8080' });
    await using other = postgres(own.url);
    const name = own.fresh();
    const [a, b] = [await one.directory(name).open(), await other.directory(name).open()];
    await a.shared?.claim('w');
    const open = await one.world(name).open();
    const refused = { code: 'world_locked', details: { by: { address: 'http://10.0.0.7:8080' } } };
    await expect(b.shared?.claim('w')).rejects.toMatchObject(refused);
    await expect(other.world(name).open()).rejects.toMatchObject(refused);
    await open.close();
    const silent = await other.world(name).open();
    await expect(one.world(name).open()).rejects.toSatisfy((error) => !('by' in (error as RepriseError).details));
    await silent.close();
  });

  it('two hosts of one process that share their connections have no world in common', async () => {
    await using database = postgres(own.url);
    const directory = database.directory(own.fresh());
    const [a, b] = [await directory.open(), await directory.open()];
    const claim = await a.shared?.claim('w');
    expect(await codeOf(b.shared?.claim('w') ?? Promise.resolve())).toBe('world_locked');
    expect(await b.shared?.adopt(1, 9)).toBe(0);
    await claim?.release(undefined);
    expect(await codeOf(b.shared?.claim('w') ?? Promise.resolve())).toBe('accepted');
  });

  it('a host that has given up its lease leaves its worlds to the others at once', async () => {
    const { one, b, rowsA, rowsB, close } = await twoHosts();
    await rowsA.claim('w');
    await one.close();
    expect(await rowsB.adopt(3, 9)).toBe(1);
    expect((await b.get('w'))?.open).toBe(false);
    await close();
  });

  it('the worlds of a dead host are adopted by one host each, when several adopt at once', async () => {
    const { name, rowsA, rowsB, close } = await twoHosts();
    await using third = postgres(own.url);
    const dead = postgres(own.url);
    const died = (await dead.directory(name).open()).shared as SharedRows;
    for (let n = 0; n < 60; n++) await died.claim(`w${n}`);
    await dead.close();
    const rowsC = (await third.directory(name).open()).shared as SharedRows;
    const adopted = await Promise.all([rowsA, rowsB, rowsC].map((rows) => rows.adopt(1, 25)));
    expect(adopted.reduce((sum, one) => sum + one, 0)).toBe(60);
    await close();
  });

  it('hosts that come, close and die never have more of a limit together than it allows', async () => {
    const name = own.fresh();
    const random = randomFrom(20261130);
    const use = { limit: 'llm.* at once', max: 7, countsFor: 0 };
    interface Sharing {
      readonly database: ReturnType<typeof postgres>;
      readonly rows: SharedRows;
      close(): Promise<void>;
      parts: LimitParts | undefined;
    }
    const hosts: Sharing[] = [];
    const most: number[] = [];
    for (let step = 0; step < 80; step++) {
      const act = random();
      const host = hosts[Math.floor(random() * hosts.length)];
      if (host === undefined || (act < 0.12 && hosts.length < 5)) {
        const database = postgres(own.url, { ttl: 60_000, connectionsMax: 3 });
        const open = await database.directory(name).open();
        hosts.push({ database, rows: open.shared as SharedRows, close: () => open.close(), parts: undefined });
      } else if (act < 0.2) {
        hosts.splice(hosts.indexOf(host), 1);
        if (act < 0.16) await host.close();
        await host.database.close(); // with its directory open, as when its process died
      } else {
        const held = host.parts?.holds() === true ? (host.parts.allowed[0] ?? 0) : 0;
        host.parts = await host.rows.share([{ ...use, held }]);
      }
      const parts = hosts.map((one) => (one.parts?.holds() === true ? (one.parts.allowed[0] ?? 0) : 0));
      most.push(parts.reduce((sum, part) => sum + part, 0));
    }
    expect(Math.max(...most)).toBe(7);
    for (let round = 0; round < 3; round++)
      for (const host of hosts) host.parts = await host.rows.share([{ ...use, held: host.parts?.allowed[0] ?? 0 }]);
    const parts = hosts.map((host) => host.parts?.allowed[0] ?? 0);
    expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
    for (const { database } of hosts) await database.close();
  });

  it('hosts that ask for their parts at the same moment do not get the same ones', async () => {
    const name = own.fresh();
    const databases = [1, 2, 3, 4].map(() => postgres(own.url, { connectionsMax: 3 }));
    const hosts = await Promise.all(databases.map((database) => database.directory(name).open()));
    for (let round = 0; round < 5; round++) {
      const use = { limit: `limit ${round}`, max: 7, held: 0, countsFor: 0 };
      const parts = await Promise.all(hosts.map((host) => host.shared?.share([use])));
      expect(parts.reduce((sum, part) => sum + (part?.allowed[0] ?? 0), 0)).toBeLessThanOrEqual(7);
    }
    await Promise.all(databases.map((database) => database.close()));
  });

  it('a host that closes its directory leaves its places to others, while its process goes on', async () => {
    const { a, rowsA, rowsB, close } = await twoHosts();
    const use = { limit: 'at once', max: 6, held: 0, countsFor: 0 };
    expect((await rowsA.share([use])).allowed).toEqual([6]);
    expect((await rowsB.share([use])).allowed).toEqual([0]);
    await a.close();
    expect((await rowsB.share([use])).allowed).toEqual([6]);
    await close();
  });

  it('what a process that has ended used within a time counts on for that time, and its places do not', async () => {
    const { one, rowsA, rowsB, close } = await twoHosts();
    const uses = [
      { limit: 'at once', max: 6, held: 0, countsFor: 0 },
      { limit: 'in an hour', max: 6, held: 0, countsFor: 3_600_000 },
    ];
    expect((await rowsA.share(uses)).allowed).toEqual([6, 6]);
    await one.close();
    expect((await rowsB.share(uses)).allowed).toEqual([6, 0]);
    await close();
  });

  it('a directory of many closed worlds finds what is due and what is left open by an index', async () => {
    await using database = postgres(own.url);
    const name = own.fresh();
    const open = await database.directory(name).open();
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const id = (await client.query('SELECT id FROM reprise.directory WHERE name = $1', [Buffer.from(name)])).rows[0].id;
    await client.query(
      `INSERT INTO reprise.directory_row (directory, world, wake, open)
       SELECT $1, convert_to('w' || n, 'UTF8'), n + 1000000, false FROM generate_series(1, 20000) n`,
      [id],
    );
    await client.query('ANALYZE reprise.directory_row');
    await open.shared?.claim('w7');
    const plan = async (text: string) =>
      (await client.query(`EXPLAIN ${text}`)).rows.map((row) => row['QUERY PLAN']).join('\n');
    const left = `SELECT FROM reprise.directory_row r WHERE r.directory = ${id} AND r.open AND (r.owner IS NULL OR r.owner = ANY ('{}'::uuid[]))`;
    expect(await plan(left)).toContain('directory_open');
    const hosts = `SELECT FROM reprise.host h WHERE EXISTS (SELECT FROM reprise.directory_row r WHERE r.directory = ${id} AND r.open AND r.owner = h.id)`;
    expect(await plan(hosts)).toContain('directory_open');
    await client.end();
  });
});
