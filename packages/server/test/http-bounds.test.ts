/** What a server over HTTP refuses: foreign pages and names, too much of anything; and how it closes. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../scripts/lib/cpu.js';
import { Pace } from '../src/door/pace.js';
import { serveHttp } from '../src/index.js';
import { HTTP_LIMITS } from '../src/protocol/limits.js';
import { matches } from '../src/world/templates.js';
import { countOf } from './support/notes.js';
import { bareCall, bareRequest, begin, messageOf, openNotes, overHttp, post } from './support/stage.js';

const args = { notebook: 'ann', text: 'x' };

/** Sends a request whose headers `fetch` would not send. */
function send(
  url: string,
  headers: Record<string, string>,
  body = '',
): Promise<{ status: number; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('a connection without a request', () => {
  it('a connection without a request stays open longer than the minute for which proxies keep theirs, so that no request meets a server that closes first', async () => {
    await using stage = await overHttp();
    const answer = await post(stage.url, await stage.tokenOf('human:ann'), ...bareRequest(1, 'tools/list'));
    await answer.text();
    const [, seconds] = /timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
  });
});

describe('from where a server is called', () => {
  it('a foreign host or origin is refused before anything is asked of its token [SRV-7]', async () => {
    let asked = 0;
    const auth = (): 'human:ann' => {
      asked++;
      return 'human:ann';
    };
    const origins = ['https://app.example.com'];
    await using stage = await overHttp({ http: { origins, auth } });
    const { port } = new URL(stage.url);
    const own = `127.0.0.1:${port}`;
    const refused: Record<string, string>[] = [
      { host: 'evil.example.com' },
      { host: `evil.example.com:${port}` },
      { host: `127.0.0.1:1` },
      { host: own, origin: 'https://evil.example.com' },
      { host: own, origin: 'null' },
      { host: own, origin: 'http://localhost:1' },
      { host: own, origin: 'https://app.example.com.evil.org' },
      { host: own, origin: `https://${own}` },
    ];
    for (const headers of refused) expect([headers, (await send(stage.url, headers)).status]).toEqual([headers, 403]);
    expect(asked).toBe(0);
    const accept = 'application/json, text/event-stream';
    const taken: Record<string, string>[] = [
      { host: own },
      { host: `localhost:${port}`, origin: `http://localhost:${port}` },
      { host: 'app.example.com', origin: 'https://app.example.com' },
    ];
    for (const headers of taken) {
      const { status, headers: said } = await send(stage.url, { accept, ...headers }, JSON.stringify(begin));
      expect([status, said['access-control-allow-origin']]).toEqual([200, headers.origin]);
    }
    const asks = {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-headers': 'mcp-name' },
    };
    const preflight = await fetch(stage.url, asks);
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'mcp-name']);
  });

  it('another path, another method, and another form of body are refused', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const authorization = `Bearer ${token}`;
    expect((await fetch(stage.url.replace('/mcp', '/'), { headers: { authorization } })).status).toBe(404);
    expect((await fetch(stage.url, { method: 'PUT', headers: { authorization } })).status).toBe(405);
    expect((await post(stage.url, token, '{"jsonrpc"')).status).toBe(400);
    expect((await post(stage.url, token, '')).status).toBe(400);
    expect((await post(stage.url, token, begin, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(stage.url, token, begin, { accept: 'text/html' })).status).toBe(406);
    expect((await post(stage.url, token, '[]')).status).toBeGreaterThanOrEqual(400);
    expect((await fetch(stage.url, { headers: { authorization } })).status).toBe(400);
    expect(stage.errors).toEqual([]);
  });
});

describe('too much', () => {
  it('a body beyond the bound is refused, whether its length is said or not, and reaches no cell [SRV-7]', async () => {
    await using stage = await overHttp();
    const token = await stage.tokenOf('human:ann');
    const [call, headers] = bareCall(1, { ...args, text: 'x'.repeat(2 * 1024 * 1024) });
    const before = stage.world.kernel.head.seq;
    const refused = await post(stage.url, token, call, headers).then(
      ({ status }) => status,
      () => 413,
    );
    expect(refused).toBe(413);
    const body = new Blob([JSON.stringify(call)]).stream();
    const chunked = await fetch(stage.url, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit).then(
      ({ status }) => status,
      () => 413,
    );
    expect(chunked).toBe(413);
    expect(stage.world.kernel.head.seq).toBe(before);
    const [small, more] = bareCall(1, args);
    expect((await post(stage.url, token, small, more)).status).toBe(200);
  });

  it('requests beyond the bounds of a principal are refused with a time to wait, and other principals go on [SRV-11]', async () => {
    await using stage = await overHttp({ http: { limits: { perSecond: 1, burst: 3 } } });
    const [ann, bob] = [await stage.tokenOf('human:ann'), await stage.tokenOf('human:bob')];
    const statuses = [];
    for (let i = 0; i < 4; i++) {
      const answer = await post(stage.url, ann, ...bareCall(i, args));
      statuses.push([answer.status, answer.headers.get('retry-after')]);
      await answer.text();
    }
    expect(statuses).toEqual([
      [200, null],
      [200, null],
      [200, null],
      [429, '1'],
    ]);
    expect((await post(stage.url, bob, ...bareCall(1, args))).status).toBe(200);
    expect(await countOf(stage.world.kernel, 'ann')).toBe(4);
  });

  it('requests under way are bounded for each principal, and a place is free when its client leaves [SRV-11]', async () => {
    await using stage = await overHttp({ http: { limits: { open: 2 } } });
    const token = await stage.tokenOf('human:ann');
    const stop = new AbortController();
    const waiting = [1, 2].map((id) => {
      const [body, headers] = bareCall(id, {}, 'note_wait');
      return fetch(stage.url, {
        method: 'POST',
        signal: stop.signal,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(body),
      }).catch(() => undefined);
    });
    const status = async () => (await post(stage.url, token, ...bareCall(9, args))).status;
    await expect.poll(status).toBe(429);
    stop.abort();
    await Promise.all(waiting);
    await expect.poll(status).toBe(200);
  });

  it('bodies that are being sent count as requests under way, so they do not fill the memory [SRV-11]', async () => {
    await using stage = await overHttp({ http: { limits: { open: 2 } } });
    const token = await stage.tokenOf('human:ann');
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': '1000000',
    };
    const slow = [1, 2].map(() => {
      const sent = request(stage.url, { method: 'POST', headers });
      sent.on('error', () => undefined).write('{');
      return sent;
    });
    const status = async () => (await post(stage.url, token, ...bareCall(9, args))).status;
    await expect.poll(status).toBe(429);
    for (const one of slow) one.destroy();
    await expect.poll(status).toBe(200);
    expect(stage.errors).toEqual([]);
  });

  it('the pace of a principal is an average: what was saved up is a burst, and never more', () => {
    let now = 0;
    const pace = new Pace({ ...HTTP_LIMITS, perSecond: 10, burst: 5, open: 100 }, () => now);
    const taken = () =>
      Array.from({ length: 20 }, () => pace.take('human:ann', 1)).filter((wait) => wait === undefined).length;
    expect(taken()).toBe(5);
    now = 300;
    expect(taken()).toBe(3);
    now = 1_000_000;
    expect(taken()).toBe(5);
  });

  it('connections beyond the bound are refused, and a client that sends nothing is not waited for [SRV-11]', async () => {
    await using stage = await overHttp({ http: { limits: { connections: 3, requestMs: 200 } } });
    const { port } = new URL(stage.url);
    const ended: number[] = [];
    const sockets = Array.from({ length: 5 }, (_, i) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined).on('close', () => ended.push(i));
      socket.write('POST /mcp HTTP/1.1\r\nhost: x\r\n');
      return socket;
    });
    await expect.poll(() => ended.length).toBeGreaterThanOrEqual(2);
    for (const socket of sockets) socket.destroy();
  });

  it('text in a template is matched in linear time, and a name holds no further part of a path', async () => {
    expect(matches('notes://{book}', 'notes://ann')).toBe(true);
    expect(matches('notes://{book}', 'notes://')).toBe(false);
    expect(matches('notes://{book}', 'notes://a/b')).toBe(false);
    expect(matches('notes://{book}/page-{n}.txt', 'notes://ann/page-12.txt')).toBe(true);
    expect(matches('notes://{book}/page-{n}.txt', 'notes://ann/page-.txt')).toBe(false);
    expect(matches('notes://', 'notes://')).toBe(true);
    const cost = await cpuMsOf(() => matches('a{x}a{y}a{z}b', `a${'a'.repeat(200_000)}`));
    expect(cost).toBeLessThan(2_000);
  });
});

describe('a server that closes', () => {
  it('answers what it has taken in, refuses the rest, and ends streams [SRV-12]', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let called = false;
    const world = await openNotes({
      onCall: () => {
        called = true;
        return gate;
      },
    });
    await using stage = await overHttp({ world });
    const token = await stage.tokenOf('human:ann');
    const [listen, listenHeaders] = bareRequest(5, 'subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    const stream = await post(stage.url, token, listen, listenHeaders);
    expect(stream.status).toBe(200);
    const answered = post(stage.url, token, ...bareCall(1, args)).then(messageOf);
    await expect.poll(() => called).toBe(true);
    const closed = stage.serving.close();
    await expect(
      post(stage.url, token, begin).then(
        ({ status }) => status,
        () => 'refused',
      ),
    ).resolves.toSatisfy((said) => said === 'refused' || said === 503);
    release();
    expect((await answered).result?.structuredContent).toEqual({ number: 1 });
    await stream.text();
    await closed;
    await stage.serving.ended;
  });

  it('a call that goes on for too long is ended with the server', async () => {
    await using stage = await overHttp({ http: { limits: { drainMs: 50 } } });
    const token = await stage.tokenOf('human:ann');
    const hanging = post(stage.url, token, ...bareCall(1, {}, 'note_wait')).then(
      ({ status }) => status,
      () => 'ended',
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    await stage.serving.close();
    expect([200, 499, 'ended']).toContain(await hanging);
  });

  it('wrong options are refused before a port is opened', async () => {
    const world = await openNotes();
    const auth = async () => undefined;
    for (const wrong of [
      undefined,
      {},
      { auth, port: -1 },
      { auth, port: 80.5 },
      { auth, origins: ['example.com'] },
      { auth, origins: ['https://example.com/path'] },
      { auth, limits: { bodyBytes: 0 } },
      { auth, limits: { body: 1 } },
      { auth, ports: 1 },
      { auth, host: '' },
    ])
      await expect(serveHttp(world, wrong as never)).rejects.toThrow('invalid_argument');
    await expect(serveHttp({} as never, { auth })).rejects.toThrow('invalid_argument');
    await world.close();
  });
});
