/** The contracts of the ports through a pooler that gives each transaction another connection of the server. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describePostgres, type OwnServer } from './describe-postgres.js';
import { pgbouncerProgram, startPooler, type TestPooler } from './pgbouncer.js';
import { testPorts } from './port-suites.js';

const absent = pgbouncerProgram() === undefined && process.env.REPRISE_POSTGRES !== 'must';
const title = 'PostgreSQL behind a pooler';

describe.skipIf(absent)(absent ? `${title} (skipped: no pgbouncer is installed)` : title, () => {
  describePostgres('in transaction mode', (own) => {
    let pooler: TestPooler | undefined;
    beforeAll(async () => {
      pooler = await startPooler(own.server.port);
    });
    afterAll(() => pooler?.stop());
    const address = (): string => {
      if (pooler === undefined) throw new Error('the pooler runs only while a test does');
      return pooler.url;
    };

    it('control: two statements of one client run on different connections of the server, where a named one is unknown', async () => {
      const client = new pg.Client({ connectionString: address() });
      await client.connect();
      try {
        const pids = new Set<number>();
        for (let n = 0; n < 8; n++) pids.add((await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid);
        expect(pids.size).toBe(4);
        const named = async () => {
          for (let n = 0; n < 8; n++) await client.query({ name: 'one', text: 'SELECT $1::int', values: [n] });
        };
        await expect(named()).rejects.toThrow('prepared statement "one" does not exist');
      } finally {
        await client.end();
      }
    });

    testPorts('PostgreSQL behind pgbouncer', own satisfies OwnServer, address, { pooled: true });
  });
});
