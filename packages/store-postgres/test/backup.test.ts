/** What a backup of the database is worth: a dump while worlds are open, and what a restore of it takes back. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  creates,
  defineApp,
  defineReducer,
  openKernelWorld,
  type Store,
  verifyStore,
  type World,
} from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';
import { postgresBin } from './server.js';

const counter = defineReducer({
  name: 'app/Counter@1',
  state: z.strictObject({ count: z.int() }),
  events: { 'app/Counted@1': creates(z.strictObject({})) },
  init: () => ({ count: 0 }),
  reduce: (draft) => void draft.count++,
});
const app = defineApp({ reducers: [counter] });
const count = (world: World) => world.request([counter.name, 'a'], { name: 'app/Counted@1', value: {} });

describePostgres('PostgreSQL and its backups', (own) => {
  const tool = (name: string, ...args: string[]) => promisify(execFile)(path.join(postgresBin() ?? '', name), args);

  describe('a dump that was made while a world is open', () => {
    it('verifies after a restore, opens when it is admitted, has what was acknowledged before, and expectHead names what went back', async () => {
      await using database = postgres(own.url, { ttl: 2_000 });
      await using world = await openKernelWorld({ store: database.world('dumped'), app });
      await count(world);
      const before = world.head;
      const file = path.join(own.server.folder, 'dump');
      await tool('pg_dump', '-Fc', '-f', file, own.url);
      await count(world);
      const acknowledged = world.head;

      await tool('createdb', '--maintenance-db', own.url, 'restored');
      const restoredUrl = own.url.replace(/postgres$/, 'restored');
      await tool('pg_restore', '-d', restoredUrl, file);
      await using restored = postgres(restoredUrl);
      const store = restored.world('dumped');
      expect(await verified(store)).toMatchObject({ head: before });

      const unseen = await openKernelWorld({ store, app }).catch((error: unknown) => error);
      expect(unseen).toMatchObject({ code: 'not_admitted', details: { reason: 'database' } });
      await restored.admit(); // also ends the lease of the dumped process
      const open = () => openKernelWorld({ store, app, expectHead: acknowledged });
      await expect(open()).rejects.toMatchObject({ code: 'head_mismatch' });
      await using again = await openKernelWorld({ store, app, expectHead: before });
      await count(again);
      expect(again.head.seq).toBe(acknowledged.seq);
    });
  });
});

async function verified(store: Store) {
  const reader = await store.openReadonly();
  try {
    return await verifyStore(reader, { app });
  } finally {
    await reader.close();
  }
}
