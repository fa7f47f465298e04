/** The command on a world whose large content is in a bucket, which the environment names. */
import { openKernelWorld, type Store } from '@reprise/kernel';
import { s3 } from '@reprise/objects-s3';
import { postgres } from '@reprise/store-postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY, type StrictServer, strictServer } from '../../../objects-s3/test/strict-server.js';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import app from '../apps/app.js';
import { run } from '../run.js';

const VARIABLES = ['REPRISE_OBJECTS', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;

describePostgres('the command on a world with a bucket', (own) => {
  let bucket: StrictServer;
  const before = VARIABLES.map((name) => [name, process.env[name]] as const);
  beforeAll(async () => {
    bucket = await strictServer();
    await using database = postgres(own.url, { objects: s3(bucket.options({ prefix: 'worlds/' })) });
    const world = await openKernelWorld({ store: withLargeContent(database.world('large')), app });
    await world.close();
    await using other = postgres(own.url, { objects: s3(bucket.options()) });
    await (await openKernelWorld({ store: withLargeContent(other.world('unprefixed')), app })).close();
  });
  afterAll(async () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await bucket.close();
  });
  const name = (address: string | undefined, secret = KEY.secretAccessKey): void => {
    if (address === undefined) delete process.env.REPRISE_OBJECTS;
    else process.env.REPRISE_OBJECTS = address;
    process.env.AWS_ACCESS_KEY_ID = KEY.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = secret;
    delete process.env.AWS_SESSION_TOKEN;
  };
  const verified = (world = 'large') => run('verify', `${own.url}#${world}`, '--integrity');

  it('given the bucket, content in it is verified like any other', async () => {
    name(`s3://bucket/worlds/?endpoint=${bucket.endpoint}`);
    const { code, out } = await verified();
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('1 blob') });
  });

  it('given a bucket without a prefix, objects are looked for where a program without one has them', async () => {
    name(`s3://bucket?endpoint=${bucket.endpoint}`);
    expect(await verified('unprefixed')).toMatchObject({ code: 0, out: expect.stringContaining('1 blob') });
  });

  it('without the bucket, content in it is an error that names the variable', async () => {
    name(undefined);
    const { code, out, err } = await verified();
    expect(code).not.toBe(0);
    expect(out + err).toContain('REPRISE_OBJECTS');
  });

  it('given a variable that cannot be read, or a wrong key, the error says so and shows no secret', async () => {
    for (const [address, secret, said] of [
      ['bucket', KEY.secretAccessKey, 'REPRISE_OBJECTS cannot be read'],
      ['s3://bucket/worlds/', KEY.secretAccessKey, 'REPRISE_OBJECTS cannot be read'],
      [`s3://bucket/worlds/?endpoint=${bucket.endpoint}`, 'SECRET', 'SignatureDoesNotMatch'],
      [`s3://bucket/worlds/?endpoint=${bucket.endpoint}`, '', 'environment variables of the key'],
    ] as const) {
      name(address, secret);
      const { code, out, err } = await verified();
      expect(code, address).not.toBe(0);
      expect(out + err).toContain(said);
      expect(out + err).not.toContain('SECRET\n');
      expect(out + err).not.toContain(KEY.secretAccessKey);
    }
  });
});

/** The same store, with one large blob in it from the first opening on. */
function withLargeContent(store: Store): Store {
  return {
    ...store,
    open: async () => {
      const open = await store.open();
      await open.content.put(new Uint8Array(150_000).fill(7));
      return open;
    },
  };
}
