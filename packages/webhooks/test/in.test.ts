/** Webhooks of others, over real HTTP: mounted in Hono and in Node's server. */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { serve } from '@hono/node-server';
import type { AgentWorld } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hmac, standardWebhook, type WebhookHandlerOptions, webhookHandler } from '../src/index.js';
import { agent, newSecret, opened } from './support/world.js';

const secrets = { billing: newSecret(), next: newSecret(), github: 'a secret of GitHub', stripe: 'whsec_of_stripe' };

type Handler = (request: Request) => Promise<Response>;

let world: AgentWorld;
beforeEach(async () => {
  world = await opened({ store: memory(), secrets });
});
afterEach(() => world.close());

const to: WebhookHandlerOptions['to'] = ({ json, id }) => ({
  session: 'inbox',
  text: `${id}: ${JSON.stringify(json)}`,
  agent,
});

function standard(more: Partial<WebhookHandlerOptions> = {}): Handler {
  return webhookHandler(world, { name: 'billing', verify: standardWebhook({ secret: 'billing' }), to, ...more });
}

function signed(id: string, body: string, { secret = secrets.billing, at = new Date() } = {}): Request {
  const headers = {
    ...{
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    },
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return new Request('http://localhost/hooks', { method: 'POST', headers, body });
}

/** How many messages the inbox was sent. */
async function inputs(): Promise<number> {
  let found = 0;
  for await (const {
    seq,
    records: [first],
  } of world.kernel.frames()) {
    if (first?.kind === 'request' && first.event.name === 'aos.agent/UserInput@1') found++;
    if (seq >= world.kernel.head.seq) return found;
  }
  return found;
}

describe('a webhook of others', () => {
  it('a message is one act with the same answer however often it is sent, also at once, and it is durable when it is acknowledged [HOOK-14, HOOK-16, HOOK-17]', async () => {
    const handler = standard();
    const answers = await Promise.all([1, 2, 3, 4].map(() => handler(signed('m1', '{"n":1}'))));
    answers.push(await handler(signed('m1', '{"n":1}')));
    const texts = await Promise.all(answers.map(async (one) => `${one.status} ${await one.text()}`));
    expect(new Set(texts)).toEqual(new Set(['200 {"id":"m1","status":"accepted"}']));
    expect(await inputs()).toBe(1);
    const other = await handler(signed('m1', '{"n":2}'));
    expect(other.status).toBe(409);
    expect((await handler(signed('m2', '{"n":2}'))).status).toBe(200);
    expect(await inputs()).toBe(2);
  });

  it('one id of two senders is two acts [HOOK-16]', async () => {
    await standard()(signed('m1', '{}'));
    await standard({ name: 'shipping' })(signed('m1', '{}'));
    expect(await inputs()).toBe(2);
  });

  it('a wrong signature, a message of another time, and one without an id get 401, and nothing is journaled [HOOK-14, HOOK-15]', async () => {
    const handler = standard({ to: () => expect.unreachable() });
    const head = world.kernel.head.digest;
    const late = new Date(Date.now() - 301_000);
    const early = new Date(Date.now() + 301_000);
    const bare = signed('m1', '{}');
    bare.headers.delete('webhook-id');
    const all = [
      signed('m1', '{}', { secret: newSecret() }),
      signed('m1', '{}', { at: late }),
      signed('m1', '{}', { at: early }),
      bare,
    ];
    for (const request of all) expect((await handler(request)).status).toBe(401);
    expect((await handler(signed('m1', '{}', { at: new Date(Date.now() - 250_000) }))).status).toBe(503); // `to` was reached
    expect(world.kernel.head.digest).toBe(head);
  });

  it('a body beyond the bound is not read on, and another method is refused [HOOK-15]', async () => {
    const handler = standard({ bytesMax: 1_000 });
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(100));
      },
    });
    const request = new Request('http://localhost/', { method: 'POST', body: endless, duplex: 'half' } as RequestInit);
    expect((await handler(request)).status).toBe(413);
    expect(pulled).toBeLessThan(20);
    expect((await handler(new Request('http://localhost/'))).status).toBe(405);
  });

  it('a message may be of no interest, send an event or be refused by the world, and its sender is told which [HOOK-17]', async () => {
    const ignored = await standard({ to: () => undefined })(signed('m1', '{}'));
    expect([ignored.status, await ignored.text()]).toEqual([200, '{"id":"m1","status":"ignored"}']);
    const cell: WebhookHandlerOptions['to'] = () => ({
      cell: ['app/Nobody@1', 'a'],
      event: { name: 'app/Said@1', value: {} },
    });
    expect((await standard({ to: cell })(signed('m2', '{}'))).status).toBe(422);
    const unknown = standard({ verify: standardWebhook({ secret: 'nobody' }) });
    expect((await unknown(signed('m2', '{}'))).status).toBe(503); // a mistake of the app: the sender comes again
    await world.close();
    const later = await standard()(signed('m3', '{}'));
    expect([later.status, later.headers.get('retry-after')]).toEqual([503, '30']);
  });

  it('a secret that is missing or empty signs nothing: who signs by an empty key is told to come again [HOOK-14]', async () => {
    const troubles: unknown[] = [];
    const handler = webhookHandler(world, {
      ...{ name: 'github', to: () => expect.unreachable(), onError: (error: unknown) => troubles.push(error) },
      verify: hmac({ secret: 'nobody', header: 'x-signature', id: { header: 'x-id' } }),
    });
    const headers = { 'x-signature': createHmac('sha256', '').update('{}').digest('hex'), 'x-id': 'd1' };
    const forged = new Request('http://localhost/', { method: 'POST', headers, body: '{}' });
    expect((await handler(forged)).status).toBe(503);
    expect(troubles).toMatchObject([{ code: 'invalid_argument', details: { where: 'secret "nobody"' } }]);
  });

  it('a signature in base64 may stand behind its time [HOOK-14]', async () => {
    const handler = webhookHandler(world, {
      ...{ name: 'stripe', to },
      verify: hmac({
        ...{ secret: 'stripe', header: 'x-signature', encoding: 'base64', timestamped: true },
        id: { header: 'x-id' },
      }),
    });
    const at = Math.floor(Date.now() / 1_000);
    const mac = createHmac('sha256', secrets.stripe).update(`${at}.{}`).digest('base64');
    const headers = { 'x-signature': `t=${at}, v1=${mac}`, 'x-id': 'd1' };
    expect((await handler(new Request('http://localhost/', { method: 'POST', headers, body: '{}' }))).status).toBe(200);
  });

  it('an outcome of a call that nothing waits for is refused for good, and not asked for again [HOOK-17]', async () => {
    const settle = standard({ to: () => ({ call: 'f'.repeat(64), outcome: { status: 'ok', payload: 1 } }) });
    expect((await settle(signed('m1', '{}'))).status).toBe(422);
  });

  it('a secret may be changed over, and a sender may sign as GitHub or as Stripe does [HOOK-14]', async () => {
    const both = standard({ verify: standardWebhook({ secret: ['billing', 'next'] }) });
    expect((await both(signed('m1', '{}', { secret: secrets.next }))).status).toBe(200);

    const mac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
    const post = (headers: Record<string, string>, body: string) =>
      new Request('http://localhost/', { method: 'POST', headers, body });
    const github = webhookHandler(world, {
      ...{ name: 'github', to },
      verify: hmac({
        secret: 'github',
        header: 'x-hub-signature-256',
        prefix: 'sha256=',
        id: { header: 'x-github-delivery' },
      }),
    });
    const of = (signature: string) => post({ 'x-hub-signature-256': signature, 'x-github-delivery': 'd1' }, '{"a":1}');
    expect((await github(of(`sha256=${mac(secrets.github, '{"a":1}')}`))).status).toBe(200);
    for (const wrong of [`sha256=${mac(secrets.github, '{"a":2}')}`, mac(secrets.github, '{"a":1}'), 'sha256=', ''])
      expect((await github(of(wrong))).status).toBe(401);

    const stripe = webhookHandler(world, {
      ...{ name: 'stripe', to },
      verify: hmac({ secret: 'stripe', header: 'stripe-signature', timestamped: true, id: { field: 'id' } }),
    });
    const body = '{"id":"evt_1"}';
    const at = (seconds: number) =>
      post({ 'stripe-signature': `t=${seconds},v1=${mac(secrets.stripe, `${seconds}.${body}`)},v0=old` }, body);
    const now = Math.floor(Date.now() / 1_000);
    expect((await stripe(at(now))).status).toBe(200);
    expect((await stripe(at(now - 400))).status).toBe(401);
    expect(await inputs()).toBe(3);
  });

  it('a handler is mounted in Hono and in a server of Node, and takes real requests [HOOK-14]', async () => {
    const handler = standard();
    const app = new Hono();
    app.post('/hooks', (c) => handler(c.req.raw));
    const hono = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    const node = createServer(async (request, response) => {
      const headers = Object.entries(request.headers).map(([name, text]): [string, string] => [name, String(text)]);
      const asked = { method: request.method ?? '', headers, body: Readable.toWeb(request), duplex: 'half' };
      const answer = await handler(new Request(`http://localhost${request.url}`, asked as RequestInit));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
    await Promise.all([
      new Promise((resolve) => (hono.listening ? resolve(undefined) : hono.once('listening', resolve))),
      new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve)),
    ]);
    for (const server of [hono, node]) {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
      const { headers, method } = signed('m1', '{"n":1}');
      const answer = await fetch(url, { method, headers, body: '{"n":1}' });
      expect([answer.status, await answer.json()]).toEqual([200, { id: 'm1', status: 'accepted' }]);
      const wrong = await fetch(url, { method, headers, body: '{"n":2}' });
      expect(wrong.status).toBe(401);
    }
    expect(await inputs()).toBe(1);
    await Promise.all([hono, node].map((server) => new Promise((resolve) => server.close(resolve))));
  });
});
