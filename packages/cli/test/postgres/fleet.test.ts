/** `reprise fleet` on a real PostgreSQL: who has which worlds, what is late, and a process that is asked to leave. */
import { defineApp, openKernelWorld } from '@reprise/kernel';
import { openHost } from '@reprise/kernel/host';
import { postgres } from '@reprise/store-postgres';
import pg from 'pg';
import { expect, it } from 'vitest';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { run } from '../run.js';

const app = defineApp({ reducers: [] });

describePostgres('reprise fleet', (own) => {
  const fleet = (...args: string[]) => run('fleet', ...args);
  const withPassword = () => own.url.replace('reprise@', 'reprise:hunter2secret@');

  it('status of a database without worlds, and of what is no database, is refused', async () => {
    expect(await fleet('status', own.url)).toMatchObject({ code: 3, err: expect.stringContaining('world_absent') });
    for (const wrong of ['home.db', `${own.url}#home`, 'postgres://'])
      expect(await fleet('status', wrong)).toMatchObject({ code: 2, err: expect.stringContaining('invalid_argument') });
  });

  it('status lists processes and what waits, and drain asks one of them to leave', async () => {
    let asked = 0;
    const address = 'http://10.0.0.7:7070/a-start';
    await using database = postgres(own.url, { ttl: 2_000, address, onDrain: () => asked++ });
    const host = await openHost({
      directory: database.directory('shops'),
      store: (world) => database.world(world),
      open: (_world, base) => openKernelWorld({ ...base, app }),
    });
    await host.use('antwerp', () => undefined);
    const text = await fleet('status', withPassword());
    expect(text.code).toBe(0);
    expect(text.out).toMatch(new RegExp(`^[0-9a-f-]{36} +${address} +\\d+ ms +1$`, 'm'));
    expect(text.out).toMatch(/^shops +1 +0 +0 +- +0 +-$/m);
    const json = JSON.parse((await fleet('status', own.url, '--json')).out);
    expect(json).toMatchObject({
      ok: true,
      hosts: [{ address, open: 1, leaving: false }],
      directories: [{ name: 'shops' }],
    });

    expect(await fleet('drain', own.url, 'http://10.0.0.8')).toMatchObject({ code: 2 });
    const drained = await fleet('drain', withPassword(), 'http://10.0.0.7');
    expect(drained).toMatchObject({ code: 0, out: expect.stringContaining('is asked to leave') });
    expect(text.out + text.err + drained.out + drained.err).not.toContain('hunter2');
    await expect.poll(() => asked).toBe(1);
    expect((await fleet('status', own.url)).out).toMatch(/ 1 +leaving$/m);
    await host.close();
  });

  it('status ends with 1 while timers are late or a dead process has worlds', async () => {
    await using database = postgres(own.url);
    const directory = await database.directory('late').open();
    await directory.set([{ world: 'x', nextWakeAt: Date.now() - 120_000, open: false }]);
    const late = await fleet('status', own.url);
    expect([late.code, /^late +0 +1 +1 +2 min +0 +-$/m.test(late.out)]).toEqual([1, true]);
    await directory.set([{ world: 'x', nextWakeAt: null, open: false }]);
    await directory.shared?.claim('y');
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    await client.query(`INSERT INTO reprise.posted_call (directory, key, world, principal, request, operation, input, made)
      SELECT id, '\\x00', 'x', 'operator', 'r-1', 'shop/order@1', '', clock_timestamp() - interval '2 minutes'
      FROM reprise.directory WHERE name = 'late'`);
    const posted = await fleet('status', own.url);
    expect([posted.code, /^late +\d+ +\d+ +\d+ +.* +1 +2 min$/m.test(posted.out)]).toEqual([1, true]);
    await client.query('DELETE FROM reprise.posted_call');
    await client.query(
      "UPDATE reprise.host SET expires = clock_timestamp() - interval '1 second' WHERE id IN (SELECT owner FROM reprise.directory_row)",
    );
    await client.end();
    const dead = await fleet('status', own.url);
    expect([dead.code, / over +1 +dead$/m.test(dead.out)]).toEqual([1, true]);
    await directory.close();
  });
});
