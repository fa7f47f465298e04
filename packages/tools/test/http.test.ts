import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { isPublicAddress } from '../src/http/addresses.js';
import { type HttpOptions, http } from '../src/index.js';
import { callerOf } from './sandbox.js';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A real server on this host. @returns its port and the requests that it received */
async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const asked: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    answer(request, response, body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, asked };
}

/** Tools that resolve every name to this host, with the given ports allowed. */
function asking(ports: readonly number[], options: Partial<HttpOptions> = {}) {
  const allowPrivate = ports.flatMap((port) => [`127.0.0.1:${port}`, `api.test:${port}`]);
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  return callerOf(http({ allow: [], allowPrivate, resolve, methods: ['POST', 'DELETE'], ...options }));
}

describe('requests to an allowed address', () => {
  it('a request returns the status, some headers and the body, also for an error status', async () => {
    const { port, asked } = await serve((_, response) =>
      response.writeHead(404, { 'content-type': 'application/json', 'x-inner': 'hidden' }).end('{"no":1}'),
    );
    const answer = await asking([port])('http_get', { url: `http://127.0.0.1:${port}/a?b=c` });
    expect(answer.refused).toBe(false);
    expect(answer.text).toBe(
      `HTTP 404 Not Found (http://127.0.0.1:${port}/a?b=c)\ncontent-type: application/json\n\n{"no":1}`,
    );
    expect(asked).toMatchObject([{ method: 'GET', url: '/a?b=c', headers: { 'accept-encoding': 'identity' } }]);
  });

  it('a request sends the allowed fields, the headers of the app and those that a model may set', async () => {
    const { port, asked } = await serve((_, response) => response.writeHead(204).end());
    const call = asking([port], {
      headers: async (_url, secret) => ({ authorization: `Bearer ${await secret('TOKEN')}` }),
    });
    const headers = { 'content-type': 'application/json' };
    await call('http_send', { url: `http://api.test:${port}/`, method: 'POST', body: '{"a":1}', headers });
    expect(asked).toMatchObject([
      { method: 'POST', body: '{"a":1}', headers: { authorization: 'Bearer value of TOKEN', ...headers } },
    ]);
    for (const wrong of [{ authorization: 'x' }, { host: 'x' }, { cookie: 'x' }, { accept: 'a\r\nx: y' }]) {
      const answer = await call('http_get', { url: `http://api.test:${port}/`, headers: wrong });
      expect(answer.receipt.error_code).toBe('tool_args_invalid');
    }
    expect((await call('http_send', { url: `http://api.test:${port}/`, method: 'PUT' })).refused).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('reading needs no approval and may be repeated, sending needs approval and happens once, and only listed methods can send [TOOL-29]', () => {
    const tools = http({ allow: ['x.org'], methods: ['POST'] });
    expect(tools.map(({ name, approval, entry }) => [name, approval, entry.guarantee])).toEqual([
      ['http_get', 'never', 'idempotent'],
      ['http_send', 'always', 'at_most_once'],
    ]);
    expect(http({ allow: ['x.org'] }).map(({ name }) => name)).toEqual(['http_get']);
  });

  it('headers that an app gives as a Headers object are sent', async () => {
    const { port, asked } = await serve((_, response) => response.writeHead(204).end());
    const call = asking([port], { headers: () => new Headers({ authorization: 'Bearer t' }) as never });
    await call('http_get', { url: `http://api.test:${port}/` });
    expect(asked).toMatchObject([{ headers: { authorization: 'Bearer t' } }]);
  });

  it('a body that is not text is returned as a file', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);
    const { port } = await serve((_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(png));
    const { receipt, content } = await asking([port])('http_get', { url: `http://api.test:${port}/img/cat.png` });
    expect(receipt.files).toMatchObject([{ path: 'cat.png', media_type: 'image/png', bytes: 7 }]);
    expect(Buffer.compare(png, (await content.get(receipt.files?.[0]?.blob_ref as never)) as Uint8Array)).toBe(0);
  });

  it('a request stops at its bound on size or on time, and says so', async () => {
    const { port } = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      if (request.url === '/slow') response.write('slow');
      else response.end('x'.repeat(100_000));
    });
    const large = await asking([port], { bytesMax: 70_000 })('http_get', { url: `http://api.test:${port}/large` });
    expect([large.refused, large.text]).toEqual([true, expect.stringContaining('more than 70000 bytes')]);
    const [get] = http({ allow: [], timeout: '2s' });
    expect(get?.entry.timeout_ms).toBe(2_000);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    const slow = await asking([port])('http_get', { url: `http://api.test:${port}/slow` }, { signal: stop.signal });
    expect([slow.refused, slow.text]).toEqual([true, expect.stringContaining('slow')]);
  });

  it('the model is informed when no server answers', async () => {
    const { port } = await serve((request) => request.socket.destroy());
    const answer = await asking([port])('http_get', { url: `http://api.test:${port}/` });
    expect(answer.text).toMatch(/^The tool http_get failed: /);
  });
});

describe('requests to a refused address', () => {
  const refused = async (url: string, options: Partial<HttpOptions>) => {
    const call = callerOf(http({ allow: [], resolve: async () => [{ address: '127.0.0.1', family: 4 }], ...options }));
    return (await call('http_get', { url })).text;
  };

  it('a host that is not listed is refused, in every spelling [TOOL-29]', async () => {
    const allow = ['api.example.com', '*.example.org', 'odd.example:8443'];
    for (const url of [
      'https://example.com/',
      'https://api.example.com.evil.test/',
      'https://evil-example.org/',
      'https://example.org/',
      'https://api.example.com:8443/',
      'https://odd.example/',
      'http://2130706433/',
    ]) {
      expect(await refused(url, { allow })).toMatch(/^Refused: .* is not an allowed host/);
    }
    expect(await refused('https://user:pw@api.example.com/', { allow })).toMatch(/user name/);
    // These hosts are listed; they then resolve to this host, which is refused for another reason.
    for (const url of ['https://API.example.com./', 'https://a.b.example.org/', 'https://odd.example:8443/']) {
      expect(await refused(url, { allow })).toMatch(/private network/);
    }
  });

  it('a listed host is matched in every way of writing its name, and a text that no address could match is refused [TOOL-45]', async () => {
    const reached = async (url: string, host: string) =>
      expect([host, await refused(url, { allow: [host] })]).toEqual([host, expect.stringMatching(/private network/)]);
    await reached('https://exämple.com/', 'exämple.com');
    await reached('https://EXÄMPLE.com/', 'xn--exmple-cua.com');
    await reached('https://xn--exmple-cua.com/', 'EXÄMPLE.com.');
    await reached('https://a.例え.jp:8443/', '*.例え.jp:8443');
    await reached('https://[::1]/', '[::1]');
    await reached('https://x.org/', 'x.org:0443');
    expect(await refused('https://exämple.com/', { allow: ['example.com'] })).toMatch(/not an allowed host/);
    for (const host of [
      'https://x.org',
      'x.org/a',
      'x.*.org',
      '*',
      '',
      'a b',
      'me@x.org',
      'x.org:port',
      'x.org:65536',
      '*.10.0.0.1',
      '*.[::1]',
    ])
      expect(() => http({ allow: [host] })).toThrow(/^invalid_argument: invalid host of the HTTP tools; at allow\[0\]/);
    expect(() => http({ allow: [], allowPrivate: ['http://localhost'] })).toThrow(/allowPrivate\[0\]/);
  });

  it('an address in a private network is refused, by name, by number, or by one of its addresses [TOOL-29]', async () => {
    const { port, asked } = await serve((_, response) => response.end('inner'));
    const inner = { address: '10.1.2.3', family: 4 };
    for (const resolve of [
      async () => [{ address: '127.0.0.1', family: 4 }],
      async () => [{ address: '93.184.216.34', family: 4 }, inner],
      async () => [{ address: '::ffff:127.0.0.1', family: 6 }],
    ]) {
      expect(await refused(`http://inner.test:${port}/`, { allow: [`inner.test:${port}`], resolve })).toMatch(
        /^Refused: the host is in a private network/,
      );
    }
    for (const host of ['127.0.0.1', '[::1]', '0x7f.1', '169.254.169.254', '[::ffff:7f00:1]']) {
      const named = new URL(`http://${host}:${port}/`);
      const text = await refused(named.href, { allow: [named.host] });
      expect([host, text]).toEqual([host, expect.stringMatching(/private network/)]);
    }
    expect(asked).toEqual([]);
  });

  it('the connection goes to the address that was checked, even if the name resolves differently the next time [TOOL-29]', async () => {
    const { port, asked } = await serve((_, response) => response.end('inner'));
    let asks = 0;
    const rebinding = async () => [{ address: asks++ === 0 ? '192.0.2.1' : '127.0.0.1', family: 4 }];
    const first = await refused(`http://rebind.test:${port}/`, { allow: [`rebind.test:${port}`], resolve: rebinding });
    expect(first).toMatch(/private network/);
    expect([asks, asked.length]).toEqual([1, 0]);
  });

  it('the target of a redirect is checked like the first address [TOOL-29]', async () => {
    const inner = await serve((_, response) => response.end('inner'));
    const outer = await serve((request, response) => {
      const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to') ?? '';
      response.writeHead(302, { location: to }).end();
    });
    const call = asking([outer.port]);
    const redirected = async (to: string) =>
      (await call('http_get', { url: `http://api.test:${outer.port}/?to=${encodeURIComponent(to)}` })).text;
    expect(await redirected(`http://127.0.0.1:${inner.port}/`)).toMatch(/not an allowed host/);
    expect(await redirected('file:///etc/passwd')).toMatch(/only http and https/);
    expect(await redirected('http://')).toMatch(/an invalid address/);
    expect(inner.asked).toEqual([]);
  });

  it('a bounded number of redirects is followed, as reads, and no header or body goes to another host', async () => {
    const seen: string[] = [];
    const second = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('there'));
    const first = await serve((request, response) => {
      if (request.url === '/round') return response.writeHead(302, { location: '/round' }).end();
      const status = request.url === '/keep' ? 307 : 303;
      return response.writeHead(status, { location: `http://api.test:${second.port}/there` }).end();
    });
    const call = asking([first.port, second.port], {
      headers: (url) => {
        seen.push(url.port);
        return url.port === String(first.port) ? { authorization: 'of the first' } : {};
      },
    });
    const at = (path: string) => `http://api.test:${first.port}${path}`;
    expect((await call('http_send', { url: at('/'), method: 'POST', body: 'x' })).text).toMatch(/there$/);
    expect(second.asked).toMatchObject([{ method: 'GET', body: '' }]);
    expect(second.asked[0]?.headers.authorization).toBeUndefined();
    expect(seen).toEqual([String(first.port), String(second.port)]);
    expect((await call('http_send', { url: at('/keep'), method: 'POST', body: 'x' })).text).toMatch(
      /redirects a body to another host/,
    );
    expect((await call('http_get', { url: at('/round') })).text).toMatch(/redirects more than 5 times/);
  });
});

describe('public addresses', () => {
  it.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1', '172.32.0.1', '100.128.0.1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.8.8.8',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.19.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    'fc00::1',
    'fe80::1%eth0',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    'localhost',
    '',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
