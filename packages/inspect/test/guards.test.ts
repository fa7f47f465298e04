/** Who may ask the page's server, and what a browser may do with its answers. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeScene } from '../../cli/test/operators/scene.js';
import { freshFolder } from '../../cli/test/worlds.js';
import { openPage, type Page, QUESTIONS } from './page.js';

const folder = freshFolder();
const file = folder.file('scene.db');
let page: Page;
beforeAll(async () => {
  await makeScene(file);
  page = await openPage(file);
});
afterAll(async () => {
  await page.close();
  folder.remove();
});

const NAMES = [...Object.keys(QUESTIONS), 'follow', 'verify', 'nothing'];
const methodOf = (name: string) => (name === 'verify' ? 'POST' : 'GET');

describe('the guards of the page of a world', () => {
  it.each(NAMES)('the question %s without the token is answered with 401 and an error [SRV-26]', async (name) => {
    for (const headers of [{}, { 'x-reprise-token': '' }, { 'x-reprise-token': `${page.token.slice(0, -1)}_` }]) {
      const { status, json } = await page.send(methodOf(name), `/api/${name}`, headers);
      expect({ status, code: json.code }).toEqual({ status: 401, code: 'cap_denied' });
    }
  });

  it('the token in the query, or of another start, opens nothing [SRV-26]', async () => {
    const another = await openPage(file);
    try {
      expect(another.token).not.toBe(page.token);
      expect(Buffer.from(page.token, 'base64url')).toHaveLength(32);
      const { status } = await page.send('GET', `/api/world?token=${page.token}`);
      expect(status).toBe(401);
      expect((await page.ask('/api/world', { 'x-reprise-token': another.token })).status).toBe(401);
      expect((await page.ask('/api/world')).status).toBe(200);
    } finally {
      await another.close();
    }
  });

  it.each(['evil.example', 'localhost:1', '127.0.0.1', '127.0.0.1.evil.example:80', '-'])(
    'a request for the host %j is refused, whatever it asks for [SRV-7]',
    async (host) => {
      for (const path of ['/', '/page.js', '/api/world', '/api/nothing']) {
        const { status, text } = await page.ask(path, { host });
        expect([400, 403, 421]).toContain(status);
        expect(text).not.toContain('upgrade');
      }
    },
  );

  it.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('a question of another site is refused: %j [SRV-7]', async (headers) => {
    const sent = Object.fromEntries(Object.entries(headers));
    expect((await page.ask('/api/world', sent)).status).toBe(403);
    expect((await page.send('POST', '/api/verify', { 'x-reprise-token': page.token, ...sent })).status).toBe(403);
  });

  it('the own page is answered, and so is a link that a person follows', async () => {
    const own = { origin: page.base, 'sec-fetch-site': 'same-origin' };
    expect((await page.ask('/api/world', own)).status).toBe(200);
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await page.send('GET', '/', link)).status).toBe(200);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])(
    'the method %s is refused with 405 and the one that is allowed',
    async (method) => {
      for (const path of ['/', '/page.css', '/api/world', '/api/follow', '/api/nothing']) {
        const { status, headers } = await page.send(method, path, { 'x-reprise-token': page.token });
        expect({ path, status, allow: headers.allow }).toEqual({ path, status: 405, allow: 'GET' });
      }
      if (method === 'POST') return;
      const verify = await page.send(method, '/api/verify', { 'x-reprise-token': page.token });
      expect({ status: verify.status, allow: verify.headers.allow }).toEqual({ status: 405, allow: 'POST' });
    },
  );

  it('every answer states what a browser may do with it, an error too', async () => {
    for (const path of [
      '/',
      '/story/main',
      '/page.js',
      '/page.css',
      '/none.png',
      '/api/world',
      '/api/nothing',
      '//x/api',
    ]) {
      const { headers } = await page.ask(path);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
    expect((await page.ask('/api/world')).headers['cache-control']).toBe('no-store');
  });

  it('the files of the page are compressed, and a browser that has them is told that they are the same', async () => {
    const first = await page.send('GET', '/page.js', { 'accept-encoding': 'gzip' });
    expect(first.headers['content-encoding']).toBe('gzip');
    const again = await page.send('GET', '/page.js', { 'if-none-match': String(first.headers.etag) });
    expect(again.status).toBe(304);
  });

  it('the address of a screen is answered with the page, and a file that is not there with 404', async () => {
    const root = await page.send('GET', '/');
    for (const path of ['/story/main?at=3', '/tree/upgrade/2', '/f/12/3', '/cell/a%2Fb%401/c.d'])
      expect((await page.send('GET', path)).text).toBe(root.text);
    for (const path of ['/favicon.ico', '/page.js.map', '/..%2f..%2fetc/passwd', '/__proto__', '/constructor.js'])
      expect((await page.send('GET', path)).status).toBe(404);
  });

  it('the server is bound to 127.0.0.1 and to no other address of this machine [SRV-25]', async () => {
    // A socket of every address takes the port only where nobody has bound all of them.
    const other = createServer();
    await new Promise<void>((resolve, reject) => {
      other.once('error', reject).listen({ port: page.port, host: '127.0.0.2', exclusive: true }, resolve);
    });
    await new Promise((resolve) => other.close(resolve));
    expect(new URL(page.base).hostname).toBe('127.0.0.1');
  });
});
