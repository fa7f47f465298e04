/** What a user of a bucket learns when the service, the network or the key is wrong. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRepriseError } from '@reprise/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { s3 } from '../src/index.js';
import { type Fault, KEY, type StrictServer, strictServer } from './strict-server.js';

let server: StrictServer;
beforeEach(async () => {
  server = await strictServer({ versioned: true });
});
afterEach(() => server.close());

const BYTES = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) % 251);

async function errorOf(call: Promise<unknown>): Promise<{ readonly code: string; readonly text: string }> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isRepriseError(error)) throw new Error(`expected a coded error, got ${String(error)}`);
  return { code: error.code, text: `${error.message} ${JSON.stringify(error)} ${String(error.stack)}` };
}

describe('a request that fails', () => {
  const PASSING: readonly Fault[] = ['answer lost', 'busy', 'cut in the middle'];
  for (const fault of PASSING)
    it(`given a service that is ${fault} once, each call is tried again and succeeds`, async () => {
      const objects = s3(server.options());
      if (fault !== 'cut in the middle') server.fail(fault);
      await objects.put('one', BYTES);
      server.fail(fault);
      expect(Buffer.from((await objects.get('one')) ?? []).equals(Buffer.from(BYTES))).toBe(true);
      server.fail(fault);
      await objects.remove('one');
      expect(server.names()).toEqual([]);
    });

  it('given a service that stays busy, a call fails after four tries and says so', async () => {
    server.failAlways('busy');
    const { code, text } = await errorOf(s3(server.options()).put('one', BYTES));
    expect(code).toBe('store_failed');
    expect(text).toContain('503 SlowDown');
    expect(server.requests).toHaveLength(4);
  });

  it('given a service that does not answer, a call ends after its time', async () => {
    server.failAlways('silent');
    const { code, text } = await errorOf(s3(server.options({ requestMs: 150 })).get('one'));
    expect(code).toBe('store_failed');
    expect(text).toContain('did not answer');
  });

  it('given an answer whose connection fails before it is read, a call is tried again, and a stored object is stored', async () => {
    const real = globalThis.fetch;
    const lost = (status: number): Response =>
      new Response(new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) }), {
        ...{ status, headers: { etag: '"one"' } },
      });
    const answers = [lost(503), lost(200)];
    globalThis.fetch = async () => answers.shift() ?? Promise.reject(new Error('one call too many'));
    try {
      await s3(server.options()).put('one', BYTES);
    } finally {
      globalThis.fetch = real;
    }
    expect(answers).toEqual([]);
  });

  it('given a place that answers everything with a page, no object counts as stored', async () => {
    const page = createServer((_request, response) => void response.end('<html>Please log in</html>'));
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    const { code, text } = await errorOf(s3(server.options({ endpoint })).put('one', BYTES));
    expect(code).toBe('store_failed');
    expect(text).toContain('what answers is no object store');
    page.closeAllConnections();
    page.close();
  });

  it('given an answer that leads elsewhere, nothing is sent there', async () => {
    server.failAlways('redirected');
    const { code, text } = await errorOf(s3(server.options()).put('one', BYTES));
    expect(code).toBe('store_failed');
    expect(text).toContain('another region');
  });

  it('given a lost answer to each of several puts, one removal leaves no version behind', async () => {
    const objects = s3(server.options());
    server.fail('answer lost', 'answer lost', 'answer lost');
    await objects.put('one', BYTES);
    expect(server.versions('reprise/one')).toHaveLength(4);
    await objects.remove('one');
    expect(server.versions('reprise/one')).toEqual([]);
  });
});

describe('a key', () => {
  it('given a wrong secret, the error says so and shows neither the key nor what was signed', async () => {
    const wrong = { ...KEY, secretAccessKey: 'SECRET-THAT-IS-WRONG' };
    const { code, text } = await errorOf(s3(server.options({ credentials: wrong })).get('one'));
    expect(code).toBe('store_failed');
    expect(text).toContain('SignatureDoesNotMatch');
    expect(text).not.toContain(KEY.accessKeyId);
    expect(text).not.toContain('SECRET');
  });

  it('given a function, it is asked before each request, so that a key can change', async () => {
    let asked = 0;
    const objects = s3(
      server.options({ credentials: async () => (++asked === 1 ? { ...KEY, accessKeyId: 'OLD' } : KEY) }),
    );
    expect((await errorOf(objects.put('one', BYTES))).text).toContain('InvalidAccessKeyId');
    await objects.put('one', BYTES);
    expect(asked).toBe(2);
  });

  it('given a function that fails, or returns no key, the error says so and not that the service is silent', async () => {
    const failing = async () => Promise.reject(new Error('the role has ended'));
    const failed = await errorOf(s3(server.options({ credentials: failing })).get('one'));
    expect(failed).toEqual({ code: 'store_failed', text: expect.stringContaining('the role has ended') });
    const none = await errorOf(s3(server.options({ credentials: async () => ({}) as never })).get('one'));
    expect(none.code).toBe('store_failed');
    expect(none.text).toContain('objects in a bucket need the key of the service');
    for (const { text } of [failed, none]) expect(text).not.toContain('did not answer');
    expect(server.requests).toEqual([]);
  });

  it('given a key that may not list the bucket, a removal cannot end, and its error names the right that is missing', async () => {
    const amazon = await strictServer({ lists: false });
    const objects = s3(amazon.options());
    await objects.put('one', BYTES);
    const { code, text } = await errorOf(objects.remove('one'));
    expect(code).toBe('store_failed');
    expect(text).toContain('s3:ListBucket');
    await amazon.close();
  });

  it('given no key or a broken one, the error shows nothing of it', async () => {
    for (const credentials of [undefined, { ...KEY, secretAccessKey: '' }, 'SECRET', { secretAccessKey: 'SECRET' }]) {
      const open = async () => s3({ endpoint: server.endpoint, bucket: 'bucket', credentials: credentials as never });
      const { code, text } = await errorOf(open());
      expect(code).toBe('invalid_argument');
      expect(text).not.toContain('SECRET');
    }
  });
});

describe('an address', () => {
  it('given a bucket in the name of the host, the path has none', async () => {
    const { port } = new URL(server.endpoint);
    const objects = s3(
      server.options({ endpoint: `http://localhost:${port}`, bucket: 'bucket', addressing: 'host', requestMs: 2_000 }),
    );
    // `bucket.localhost` may not resolve here: what matters is where the request was to go.
    const { text } = await errorOf(objects.get('one'));
    expect(text).toMatch(/bucket\.localhost|NoSuchBucket/);
  });

  it('given an option of the wrong kind, it is refused before anything is sent', async () => {
    const wrong = [
      { endpoint: 'bucket.example' },
      { endpoint: 'https://user:SECRET@s3.example' },
      { bucket: 'Bucket' },
      { bucket: 'a/b' },
      { prefix: '/a' },
      { prefix: 'a?b' },
      { requestMs: 0 },
      { addressing: 'elsewhere' },
      { bukket: 'bucket' },
    ];
    for (const one of wrong) {
      const { code, text } = await errorOf((async () => s3(server.options(one as never)))());
      expect(code, JSON.stringify(one)).toBe('invalid_argument');
      expect(text).not.toContain('SECRET');
    }
    expect(server.requests).toEqual([]);
  });
});
