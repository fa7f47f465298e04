/** A handler that an app mounts: the same door, the same answers, in each server. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { connect, type StreamItem } from '@reprise/client';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpHandler, httpHandler } from '../../src/index.js';
import { servedSessions } from './world.js';

type Served = Awaited<ReturnType<typeof servedSessions>>;

const undo: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

async function stage() {
  const served = await servedSessions();
  undo.push(() => served[Symbol.asyncDispose]());
  return served;
}

async function handlerOf(
  served: Served,
  options: Partial<Parameters<typeof httpHandler>[1]> = {},
): Promise<HttpHandler> {
  const handler = await httpHandler(served.world, { auth: served.tokens.auth, mcp: false, sessions: true, ...options });
  undo.push(() => handler.close());
  return handler;
}

/** How an app mounts a handler, and how a client reaches it there. */
type Mount = (
  handler: HttpHandler,
) => Promise<{ readonly url: string; readonly fetch?: (input: string, init: RequestInit) => Promise<Response> }>;

/** Node's own server, without a framework: the few lines that the page about it shows. */
const node: Mount = async (handler) => {
  const server = createServer(async (request, response) => {
    const left = new AbortController();
    response.once('close', () => left.abort());
    const { method = 'GET', headers, url = '/' } = request;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const body = hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' as const } : {};
    const given = new Request(`http://${headers.host}${url}`, {
      method,
      headers: headers as never,
      signal: left.signal,
      ...body,
    });
    const answer = await handler.fetch(given, { remoteAddress: request.socket.remoteAddress ?? '' });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api` };
};

const hono: Mount = async (handler) => {
  const app = new Hono();
  app.all('/api/*', (c) => handler.fetch(c.req.raw));
  app.notFound((c) => c.text('not of the handler', 418));
  return { url: 'http://app.test/api', fetch: async (input, init) => app.fetch(new Request(input, init)) };
};

/** The form of Next's route handlers, Bun.serve and Deno.serve: a function from a request to an answer. */
const plain: Mount = async ({ fetch }) => ({
  url: 'https://app.test/api',
  fetch: async (input, init) => fetch(new Request(input, init)),
});

async function lastOf(told: AsyncIterable<StreamItem>): Promise<string | undefined> {
  let last: string | undefined;
  for await (const one of told) if ('event' in one) last = one.event.type;
  return last;
}

describe.each([
  ['Node’s server', node],
  ['Hono', hono],
  ['a function', plain],
] as const)('a handler in %s', (_, mount) => {
  it('a client speaks with a session, follows its run, and is refused what is not its own [SRV-38]', async () => {
    const served = await stage();
    const at = await mount(await handlerOf(served, { base: '/api' }));
    const client = async (who: 'human:ann' | 'human:bob') =>
      connect(at.url, {
        token: await served.tokens.issue(who, { for: '1h' }),
        tries: 2,
        ...(at.fetch === undefined ? {} : { fetch: at.fetch }),
      });
    const ann = (await client('human:ann')).session('ann');
    expect(await ann.send({ id: 'm', text: 'Hello', agent: 'talker' })).toMatchObject({ status: 'accepted', run: 0 });
    expect(await lastOf(ann.follow(0, { deltas: true }))).toBe('lifecycle');
    expect(await ann.run(0)).toMatchObject({ text: 'You said: Hello' });
    const left = new AbortController();
    const following = ann.events({ signal: left.signal });
    await following.next();
    left.abort();
    await following.return(undefined);
    await expect((await client('human:bob')).session('ann').read()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the door of a handler', () => {
  const ask = (handler: HttpHandler, path: string, init: RequestInit = {}) =>
    handler.fetch(new Request(`https://app.test${path}`, init));

  it('a page of another origin is refused, one of the same origin and a named one may read the answer [SRV-38]', async () => {
    const served = await stage();
    const handler = await handlerOf(served, { origins: ['https://page.test'] });
    const authorization = `Bearer ${await served.tokens.issue('human:ann', { for: '1h' })}`;
    const from = (origin: string) => ask(handler, '/v1/pending', { headers: { authorization, origin } });
    expect((await from('https://evil.test')).status).toBe(403);
    for (const origin of ['https://app.test', 'https://page.test']) {
      const answer = await from(origin);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    }
    const asks = { origin: 'https://page.test', 'access-control-request-headers': 'authorization' };
    const preflight = await ask(handler, '/v1/pending', { method: 'OPTIONS', headers: asks });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'GET, POST']);
  });

  it('what is not below its base, no token, and a body beyond the bound are refused before anything is done [SRV-38]', async () => {
    const served = await stage();
    const handler = await handlerOf(served, { base: '/api', limits: { bodyBytes: 64 } });
    const authorization = `Bearer ${await served.tokens.issue('human:ann', { for: '1h' })}`;
    const send = (path: string, body: string, headers: Record<string, string> = { authorization }) =>
      ask(handler, path, { method: 'POST', headers, body });
    const body = JSON.stringify({ id: 'm', text: 'x'.repeat(100), agent: 'talker' });
    await expect.poll(() => served.world.kernel.unfinished).toBe(false);
    const { seq } = served.world.kernel.head;
    expect((await send('/v1/sessions/ann/inputs', body)).status).toBe(404);
    expect((await send('/api/v1/sessions/ann/inputs', body)).status).toBe(413);
    expect((await send('/api/v1/sessions/ann/inputs', body, {})).status).toBe(401);
    expect(served.world.kernel.head.seq).toBe(seq);
  });

  it('streams of one principal are bounded, and a stream that its client leaves makes room [SRV-38] [SRV-13]', async () => {
    const served = await stage();
    const handler = await handlerOf(served, { limits: { streams: 2 } });
    const authorization = `Bearer ${await served.tokens.issue('human:ann', { for: '1h' })}`;
    await (await served.as('human:ann')).session('ann').send({ id: 'm', text: 'Hello', agent: 'talker' });
    const open = () => ask(handler, '/v1/sessions/ann/events', { headers: { authorization } });
    const [first, second] = [await open(), await open()];
    expect((await open()).status).toBe(429);
    await first.body?.cancel();
    const third = await open();
    expect([second.status, third.status]).toEqual([200, 200]);
    await Promise.all([second.body?.cancel(), third.body?.cancel()]);
  });

  it('a token that is taken back ends its streams, and a handler that closes ends all [SRV-18] [SRV-12]', async () => {
    const served = await stage();
    const handler = await handlerOf(served, { limits: { streamCheckMs: 20 } });
    const ended = async (answer: Response) => {
      for await (const _ of answer.body ?? []);
      return 'ended';
    };
    const open = async () => {
      const token = await served.tokens.issue('human:ann', { for: '1h' });
      return { token, answer: await ask(handler, '/v1/events', { headers: { authorization: `Bearer ${token}` } }) };
    };
    const revoked = await open();
    await served.tokens.revoke(revoked.token);
    expect(await ended(revoked.answer)).toBe('ended');
    const kept = await open();
    const over = ended(kept.answer);
    await handler.close();
    expect(await over).toBe('ended');
    expect((await open()).answer.status).toBe(503);
  });
});
