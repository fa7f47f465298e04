/** The command on a world whose large content is in a bucket, which the environment names, and on a witness in one. */
import { openKernelWorld, type Store } from '@reprise/kernel';
import { s3 } from '@reprise/objects-s3';
import { postgres } from '@reprise/store-postgres';
import pg from 'pg';
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

  it('a witness in a bucket is compared by the same address, and names what the database lacks', async () => {
    name(undefined);
    const witness = s3(bucket.options({ prefix: 'seen/' }));
    {
      await using database = postgres(own.url, { witness });
      await (await openKernelWorld({ store: database.world('seen'), app })).close();
    }
    const place = `s3://bucket/seen/?endpoint=${bucket.endpoint}`;
    const admit = (...args: string[]) => run('fleet', 'admit', own.url, '--witness', place, ...args);
    expect(await admit()).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 world of the witness compared, 0 lost'),
    });
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    await client.query("UPDATE reprise.world SET seq = -1, head = decode(repeat('00', 32), 'hex') WHERE name = 'seen'");
    await client.end();
    const { code, out } = await admit('--json');
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { reason: 'heads', lost: [{ world: 'seen', has: null, opened: false }] },
    ]);
    expect(out).not.toContain(KEY.secretAccessKey);
    process.env.AWS_SECRET_ACCESS_KEY = 'another';
    expect(await admit('--look')).toMatchObject({ code: 3, err: expect.stringContaining('store_failed') });
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
