/** The rows of leases: those that no world needs do not stay for ever. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';

describePostgres('leases', (own) => {
  it('a lease that has been over for a day is forgotten, unless a world still names it', async () => {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const [left, used] = [own.fresh(), own.fresh()];
    for (const name of [left, used]) {
      await using database = postgres(own.url);
      await (await database.world(name).open()).close();
    }
    const second = postgres(own.url);
    await second.world(used).open(); // and its process dies
    await client.query("UPDATE reprise.host SET expires = expires - interval '2 days'");
    expect((await client.query('SELECT count(*)::int AS n FROM reprise.host')).rows[0].n).toBe(3);
    await using next = postgres(own.url);
    const open = await next.world(left).open();
    const rows = await client.query(
      'SELECT h.closed, w.name FROM reprise.host h JOIN reprise.world w ON w.owner = h.id ORDER BY w.id',
    );
    expect(rows.rows.map(({ name }) => String(name))).toEqual([left, used]);
    expect((await client.query('SELECT count(*)::int AS n FROM reprise.host')).rows[0].n).toBe(2);
    await open.close();
    await second.close();
    await client.end();
  });
});
