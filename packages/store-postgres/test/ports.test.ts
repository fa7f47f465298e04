/** The contracts of the ports that a database has to keep, on a real server. */
import { testContentStore, testDirectory, testJournal, testStore, testViewStore } from '@reprise/testkit/ports';
import pg from 'pg';
import { describe, it } from 'vitest';
import { type PostgresDatabase, postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';

describePostgres('PostgreSQL', (own) => {
  const database = (): PostgresDatabase => postgres(own.url, { connectionsMax: 3 });
  const runner = { describe, it };

  const store = async () => {
    const [name, one, other] = [own.fresh(), database(), database()];
    return {
      store: one.world(name),
      again: () => other.world(name),
      dispose: async () => void (await Promise.all([one.close(), other.close()])),
      crashed: async () => {
        await run(
          `UPDATE reprise.host SET closed = true, died = true WHERE id = (SELECT owner FROM reprise.world WHERE name = '${name}')`,
        );
        return other.world(name);
      },
      damageBlob: async ({ hex }: { readonly hex: string }) => {
        const change = 'set_byte(bytes, 0, 255 - get_byte(bytes, 0))';
        await run(`UPDATE reprise.blob SET bytes = ${change} WHERE digest = '\\x${hex}' AND bytes IS NOT NULL`);
        await run(`UPDATE reprise.part SET bytes = ${change} WHERE digest = '\\x${hex}' AND n = 0`);
      },
    };
  };
  async function run(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
  testJournal({ name: 'PostgreSQL', runner, make: store });
  testContentStore({ name: 'PostgreSQL', runner, make: store });
  testStore({ name: 'PostgreSQL', runner, make: store });
  testDirectory({
    name: 'PostgreSQL',
    runner,
    make: async () => {
      const [name, one, other] = [own.fresh(), database(), database()];
      return {
        directory: one.directory(name),
        again: () => other.directory(name),
        dispose: async () => void (await Promise.all([one.close(), other.close()])),
      };
    },
  });
  testViewStore({
    name: 'PostgreSQL',
    runner,
    make: async () => {
      const one = database();
      return { store: one.views(own.fresh()), dispose: () => one.close() };
    },
  });
});
