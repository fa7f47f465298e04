/** The contracts of the ports that a database has to keep, on a real server, with rows and with packs. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { describePostgres } from './describe-postgres.js';
import { testPorts } from './port-suites.js';

describePostgres('PostgreSQL', (own) => testPorts('PostgreSQL', own, () => own.url));

/** A pack for a few frames of the suites, so that nearly all of them are packed while a check runs. */
const PACK_BYTES = 500;

describePostgres('PostgreSQL with packs of a few frames', (own) => {
  testPorts('PostgreSQL, packed', own, () => own.url, { packBytes: PACK_BYTES });

  it('control: the suites above have made packs of frames and of blobs', async () => {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const made = await client.query(
      'SELECT (SELECT count(*)::int FROM reprise.pack) AS frames, (SELECT count(*)::int FROM reprise.blob_pack) AS blobs',
    );
    await client.end();
    expect(made.rows[0].frames).toBeGreaterThan(50);
    expect(made.rows[0].blobs).toBeGreaterThan(5);
  });
});
