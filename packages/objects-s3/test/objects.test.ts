/** Objects in a bucket keep the contract of the port, on a strict service, on one that keeps versions, and on two foreign ones. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import S3rver from '@20minutes/s3rver';
import { testObjectStore } from '@reprise/testkit/ports';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { s3 } from '../src/index.js';
import { type StrictServer, strictServer } from './strict-server.js';
import { hasSwift, type Swift, startSwift } from './swift.js';

const runner = { describe, it };

for (const versioned of [false, true]) {
  const name = versioned ? 'a strict bucket that keeps versions' : 'a strict bucket';
  let server: StrictServer;
  beforeAll(async () => {
    server = await strictServer({ versioned });
  });
  afterAll(() => server.close());
  testObjectStore({
    ...{ name, runner },
    make: async () => {
      const prefix = `${randomUUID()}/`;
      return {
        store: s3(server.options({ prefix })),
        again: () => s3(server.options({ prefix })),
        versionsOf: async (object) => server.versions(prefix + object).filter(({ bytes }) => bytes).length,
        failing: async () => s3(server.options({ prefix, bucket: 'absent' })),
      };
    },
  });
}

describe('a foreign service', () => {
  let folder: string;
  let foreign: S3rver;
  let endpoint: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'reprise-bucket-'));
    foreign = new S3rver({
      port: 0,
      address: '127.0.0.1',
      directory: folder,
      silent: true,
      configureBuckets: [{ name: 'bucket' }],
    });
    const { port } = await foreign.run();
    endpoint = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await foreign.close();
    await rm(folder, { recursive: true, force: true });
  });
  testObjectStore({
    ...{ name: 's3rver', runner },
    make: async () => {
      const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
      const options = { endpoint, bucket: 'bucket', prefix: `${randomUUID()}/`, credentials };
      return {
        store: s3(options),
        again: () => s3(options),
        failing: async () => s3({ ...options, credentials: { ...credentials, secretAccessKey: 'another' } }),
      };
    },
  });
});

/** Where `REPRISE_SWIFT` says `must`, as in CI, a missing server is a failure. */
const isAbsent = process.env.REPRISE_SWIFT !== 'must' && !hasSwift();

describe.skipIf(isAbsent)(`OpenStack Swift${isAbsent ? ' (skipped: python3-swift is not installed)' : ''}`, () => {
  let swift: Swift;
  beforeAll(async () => {
    swift = await startSwift();
  });
  afterAll(() => swift.stop());
  testObjectStore({
    ...{ name: 'swift', runner },
    make: async () => {
      const { endpoint, bucket, credentials } = swift;
      const options = { endpoint, bucket, prefix: `${randomUUID()}/`, credentials };
      return {
        store: s3(options),
        again: () => s3(options),
        failing: async () => s3({ ...options, credentials: { ...credentials, secretAccessKey: 'another' } }),
      };
    },
  });
});
