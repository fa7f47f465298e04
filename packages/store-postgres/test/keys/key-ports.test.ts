/** The suites of the ports on a database whose content is sealed, with rows and with objects. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testContentStore, testStore } from '@reprise/testkit/ports';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { fileKeys, postgres } from '../../src/index.js';
import { describePostgres } from '../describe-postgres.js';
import { memoryBucket } from './bucket.js';

describePostgres('PostgreSQL with keys', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-keys-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function ask(statement: string) {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  const subjects = (place: 'rows' | 'objects') => async () => {
    const objects = memoryBucket();
    const more = place === 'rows' ? {} : { objects };
    const database = () => postgres(own.url, { connectionsMax: 3, keys: fileKeys(folder), ...more });
    const [world, one, other] = [own.fresh(), database(), database()];
    return {
      store: one.world(world),
      again: () => other.world(world),
      dispose: async () => void (await Promise.all([one.close(), other.close()])),
      crashed: async () => {
        await ask(
          `UPDATE reprise.host SET closed = true, died = true WHERE id = (SELECT owner FROM reprise.world WHERE name = '${world}')`,
        );
        return other.world(world);
      },
      damageBlob: async ({ hex }: { readonly hex: string }) => {
        const parts = await ask(`SELECT object FROM reprise.part WHERE digest = '\\x${hex}'`);
        for (const { object } of parts) await objects.put(object, new Uint8Array(100));
        if (parts.length > 0) return;
        await ask(
          `UPDATE reprise.blob SET seal = set_byte(seal, 7, 255 - get_byte(seal, 7)) WHERE digest = '\\x${hex}'`,
        );
      },
    };
  };
  for (const place of ['rows', 'objects'] as const)
    testContentStore({
      name: `PostgreSQL with keys, content in ${place}`,
      runner: { describe, it },
      make: subjects(place),
    });
  testStore({ name: 'PostgreSQL with keys', runner: { describe, it }, make: subjects('rows') });

  it('control: the suites above have sealed all content, in rows and in pieces, and packed none of it', async () => {
    const [found] = await ask(
      `SELECT count(*)::int AS all, count(seal)::int AS sealed, count(bytes)::int AS plain, count(pack)::int AS packed,
         (SELECT count(*)::int FROM reprise.part) AS pieces FROM reprise.blob`,
    );
    expect(found).toMatchObject({ sealed: found?.all, plain: 0, packed: 0 });
    expect(found?.sealed).toBeGreaterThan(20);
    expect(found?.pieces).toBeGreaterThan(3);
  });
});
