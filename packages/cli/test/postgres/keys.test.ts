/** The command on a world whose content is sealed with keys, which the environment names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openKernelWorld, type Store } from '@reprise/kernel';
import { fileKeys, postgres } from '@reprise/store-postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import app from '../apps/app.js';
import { run } from '../run.js';

describePostgres('the command on a world with keys', (own) => {
  const before = process.env.REPRISE_KEYS;
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-keys-'));
  const keys = path.join(folder, 'keys');
  beforeAll(async () => {
    await using database = postgres(own.url, { keys: fileKeys(keys) });
    await (await openKernelWorld({ store: withContent(database.world('sealed')), app })).close();
  });
  afterAll(() => {
    name(before);
    rmSync(folder, { recursive: true, force: true });
  });
  const name = (given: string | undefined): void => {
    if (given === undefined) delete process.env.REPRISE_KEYS;
    else process.env.REPRISE_KEYS = given;
  };
  const verified = (world = `${own.url}#sealed`) => run('verify', world, '--integrity');

  it('given the keys, sealed content is verified like any other', async () => {
    name(keys);
    const { code, out } = await verified();
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('2 blobs') });
  });

  it('without the keys, sealed content is an error that names the variable', async () => {
    name(undefined);
    const { code, out, err } = await verified();
    expect(code).not.toBe(0);
    expect(out + err).toContain('REPRISE_KEYS');
  });

  it('given a folder that is missing, or has other keys, the error says so', async () => {
    await fileKeys(path.join(folder, 'other')).keep(['any']);
    for (const [given, said] of [
      ['nowhere', 'the folder of the variable REPRISE_KEYS does not exist'],
      ['other', 'sealed with other keys'],
    ] as const) {
      name(path.join(folder, given));
      const { code, out, err } = await verified();
      expect(code).not.toBe(0);
      expect(out + err).toContain(said);
    }
  });

  it('a sealed world moves into a file with its content, and back into a database with keys', async () => {
    name(keys);
    const file = path.join(folder, 'moved.db');
    expect(await run('move', `${own.url}#sealed`, file)).toMatchObject({ code: 0 });
    name(undefined);
    expect(await verified(file)).toMatchObject({ code: 0, out: expect.stringContaining('2 blobs') });
    name(keys);
    expect(await run('move', file, `${own.url}#again`)).toMatchObject({ code: 0 });
    expect(await verified(`${own.url}#again`)).toMatchObject({ code: 0, out: expect.stringContaining('2 blobs') });
  });
});

/** The same store, with a small and a large blob in it from the first opening on. */
function withContent(store: Store): Store {
  return {
    ...store,
    open: async () => {
      const open = await store.open();
      for (const length of [300, 2_500_000]) await open.content.put(new Uint8Array(length).fill(7));
      return open;
    },
  };
}
