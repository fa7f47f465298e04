/** `reprise fleet` on a real PostgreSQL: who has which worlds, what is late, a process that is asked to leave, an admission. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineApp, openKernelWorld } from '@reprise/kernel';
import { openHost } from '@reprise/kernel/host';
import { postgres, witnessFolder } from '@reprise/store-postgres';
import pg from 'pg';
import { expect, it } from 'vitest';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { run } from '../run.js';

const app = defineApp({ reducers: [] });

describePostgres('reprise fleet', (own) => {
  const fleet = (...args: string[]) => run('fleet', ...args);
  async function ask(text: string, url = own.url): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(text);
    await client.end();
  }
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
    expect(text.out).toMatch(/^shops +1 +0 +0 +- +0 +- +0$/m);
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

  it('admit needs a witness that is there, or is told to do without, and decides nothing where it only looks', async () => {
    const name = own.fresh();
    await ask(`CREATE DATABASE ${name}`);
    const url = own.url.replace(/postgres$/, name);
    expect(await fleet('admit', url, '--no-witness')).toMatchObject({
      code: 3,
      err: expect.stringContaining('world_absent'),
    });
    const folder = mkdtempSync(path.join(tmpdir(), 'reprise-admit-'));
    try {
      const witness = witnessFolder(folder);
      await using database = postgres(url, { witness });
      await (await openKernelWorld({ store: database.world('antwerp'), app })).close();
      await database.close();
      for (const [args, says] of [
        [[], 'REPRISE_WITNESS'],
        [['--witness', `${folder}/nowhere`], 'the folder of the witness is missing'],
        [['--witness', 's3://bucket/x'], 'the bucket of --witness cannot be read'],
        [['--witness', folder, '--look', '--open', 'antwerp'], '--look decides nothing'],
        [['--witness', folder, '--open', 'antwerp'], 'is not closed for lost frames'],
      ] as const)
        expect(await fleet('admit', url, ...args)).toMatchObject({ code: 2, err: expect.stringContaining(says) });
      expect(await fleet('admit', url, '--witness', folder)).toMatchObject({
        code: 0,
        out: 'this database is admitted, and lacks no other frame\n1 world of the witness compared, 0 lost acknowledged frames\n',
      });
      await ask("UPDATE reprise.cell SET system = 'another'", url);
      const looked = await fleet(
        'admit',
        url.replace('reprise@', 'reprise:hunter2secret@'),
        '--witness',
        folder,
        '--look',
        '--json',
      );
      expect([looked.code, JSON.parse(looked.out)]).toMatchObject([
        1,
        { ok: false, reason: 'system', admitted: false, compared: 1, completeSince: 0, lost: [] },
      ]);
      expect(looked.out + looked.err).not.toContain('hunter2');
      const blind = await fleet('admit', url, '--no-witness');
      expect([blind.code, blind.out]).toEqual([
        0,
        expect.stringMatching(
          /^the server is another one: another at the last admission, \d+ now\ncompared with no witness: .*\nadmitted as/,
        ),
      ]);
      process.env.REPRISE_WITNESS = folder;
      expect(await fleet('admit', url)).toMatchObject({ code: 0 });
      await ask("UPDATE reprise.world SET seq = 7, head = decode(repeat('ab', 32), 'hex')", url);
      await ask(
        "INSERT INTO reprise.frame SELECT world, s, at, kind, decode(repeat('ab', 32), 'hex'), NULL, bytes FROM reprise.frame f, generate_series(f.seq + 1, 7) AS s",
        url,
      );
      await ask("UPDATE reprise.frame SET head = decode(repeat('ab', 32), 'hex')", url);
      const other = await fleet('admit', url, '--witness', folder, '--look');
      expect(other).toMatchObject({ code: 1, out: expect.stringMatching(/^antwerp +\d +7 +some +closed$/m) });
    } finally {
      delete process.env.REPRISE_WITNESS;
      rmSync(folder, { recursive: true });
    }
  });

  it('status ends with 1 while timers are late or a dead process has worlds', async () => {
    await using database = postgres(own.url);
    const directory = await database.directory('late').open();
    await directory.set([{ world: 'x', nextWakeAt: Date.now() - 120_000, open: false }]);
    const late = await fleet('status', own.url);
    expect([late.code, /^late +0 +1 +1 +2 min +0 +- +0$/m.test(late.out)]).toEqual([1, true]);
    await directory.set([{ world: 'x', nextWakeAt: null, open: false }]);
    await directory.shared?.claim('y');
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    await client.query(`INSERT INTO reprise.posted_call (directory, key, world, principal, request, operation, input, made)
      SELECT id, '\\x00', 'x', 'operator', 'r-1', 'shop/order@1', '', clock_timestamp() - interval '2 minutes'
      FROM reprise.directory WHERE name = 'late'`);
    const posted = await fleet('status', own.url);
    expect([posted.code, /^late +\d+ +\d+ +\d+ +.* +1 +2 min +1$/m.test(posted.out)]).toEqual([1, true]);
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
