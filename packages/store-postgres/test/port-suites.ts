/** The suites of all ports that a database has to keep, on a server of a test. */
import { testContentStore, testDirectory, testJournal, testStore, testViewStore } from '@reprise/testkit/ports';
import pg from 'pg';
import { describe, it } from 'vitest';
import { postgresWithPacks } from '../src/database.js';
import { type PostgresDatabase, postgres } from '../src/index.js';
import type { OwnServer } from './describe-postgres.js';

/**
 * Runs the suites of the journal, the content, the store, the directory and the views.
 *
 * @param name as it stands in the titles
 * @param address the address that the stores use: the server, or what stands before it
 * @param options `pooled`: whether a pooler in transaction mode stands before it; `packBytes`: the plain bytes of a pack
 */
export function testPorts(
  name: string,
  own: Pick<OwnServer, 'url' | 'fresh'>,
  address: () => string,
  { pooled = false, packBytes }: { readonly pooled?: boolean; readonly packBytes?: number } = {},
): void {
  const database = (): PostgresDatabase => {
    const options = { connectionsMax: 3, pooled };
    return packBytes === undefined ? postgres(address(), options) : postgresWithPacks(packBytes, address(), options);
  };
  const runner = { describe, it };

  const store = async () => {
    const [world, one, other] = [own.fresh(), database(), database()];
    return {
      store: one.world(world),
      again: () => other.world(world),
      dispose: async () => void (await Promise.all([one.close(), other.close()])),
      crashed: async () => {
        await run(
          `UPDATE reprise.host SET closed = true, died = true WHERE id = (SELECT owner FROM reprise.world WHERE name = '${world}')`,
        );
        return other.world(world);
      },
      damageBlob: async ({ hex }: { readonly hex: string }) => {
        const change = 'set_byte(bytes, 0, 255 - get_byte(bytes, 0))';
        await run(`UPDATE reprise.blob SET bytes = ${change} WHERE digest = '\\x${hex}' AND bytes IS NOT NULL`);
        await run(
          `UPDATE reprise.blob_pack p SET bytes = decode(repeat('ff', length(p.bytes)), 'hex') FROM reprise.blob b
           WHERE b.digest = '\\x${hex}' AND p.world = b.world AND p.id = b.pack`,
        );
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
  testJournal({ name, runner, make: store });
  testContentStore({ name, runner, make: store });
  testStore({ name, runner, make: store });
  testDirectory({
    ...{ name, runner },
    make: async () => {
      const [directory, one, other] = [own.fresh(), database(), database()];
      return {
        directory: one.directory(directory),
        again: () => other.directory(directory),
        endLease: () =>
          run(
            `UPDATE reprise.host SET expires = clock_timestamp() WHERE id = (SELECT r.owner FROM reprise.directory_row r
             JOIN reprise.directory d ON d.id = r.directory WHERE d.name = '${directory}' AND r.world = 'a')`,
          ),
        dispose: async () => void (await Promise.all([one.close(), other.close()])),
      };
    },
  });
  testViewStore({
    ...{ name, runner },
    make: async () => {
      const one = database();
      return { store: one.views(own.fresh()), dispose: () => one.close() };
    },
  });
}
