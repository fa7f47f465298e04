/** Sends the server the requests of the page, without a browser. */
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { type AgentWorld, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { pageFile, sentFile } from 'reprise/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundlePage } from '../src/bundle.js';
import { type ChatServer, startChatServer } from '../src/server.js';
import { nextStep, waiter } from '../src/waiter.js';

let world: AgentWorld;
let server: ChatServer;
let stories: number;
beforeEach(async () => {
  stories = 0;
  const main = scriptBy((request) => {
    const step = nextStep(request);
    if (!(step.text ?? '').startsWith('Once')) return step;
    stories += 1;
    return { ...step, delayMs: Number.POSITIVE_INFINITY };
  });
  world = await openWorld({ store: memory(), models: { main }, agents: [waiter] });
  const files = { '/': pageFile('text/html', '<p>page</p>') };
  server = await startChatServer({ world, agent: waiter, files, port: 0 });
});
afterEach(async () => {
  await world.verify();
  await server.close();
  await world.close();
});

const user = (id: string, text: string): UIMessage => ({ id, role: 'user', parts: [{ type: 'text', text }] });

/** Sends a message as the page does. */
function said(message: UIMessage): Promise<ReadableStream<UIMessageChunk>> {
  const transport = new DefaultChatTransport<UIMessage>({ api: `${server.url}/api/chat` });
  const trigger = 'submit-message';
  return transport.sendMessages({
    chatId: 'ada',
    messages: [message],
    abortSignal: undefined,
    trigger,
    messageId: undefined,
  });
}

/** Reads messages as the page does, until one matches. */
async function until(stream: ReadableStream<UIMessageChunk>, fits: (parts: string) => boolean): Promise<UIMessage> {
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) {
    last = message;
    if (fits(JSON.stringify(message.parts))) return message;
  }
  throw new Error(`it never came: ${JSON.stringify(last)}`);
}

function posted(what: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/api/chat${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const history = async (): Promise<UIMessage[]> =>
  (await fetch(`${server.url}/api/chat/ada`)).json() as Promise<UIMessage[]>;

const sessions = async () => (await world.sessions()).items;

function approvalOf(message: UIMessage): string {
  const found = message.parts.find((part) => 'approval' in part) as { approval?: { id: string } } | undefined;
  return found?.approval?.id ?? '';
}

describe('the chat server', () => {
  it('the server answers a message with its run, asks the guest, and continues after the approval', async () => {
    const asking = await until(await said(user('m-1', 'A table for 4 at 20:00')), (parts) =>
      parts.includes('approval-requested'),
    );
    expect((await history()).map(({ id, role }) => [id, role])).toEqual([
      ['m-1', 'user'],
      [asking.id, 'assistant'],
    ]);
    // When it is loaded again, the page asks for the run in progress.
    const resumed = await new DefaultChatTransport<UIMessage>({ api: `${server.url}/api/chat` }).reconnectToStream({
      chatId: 'ada',
    });
    expect(await (await posted('/ada/decide', { id: approvalOf(asking), approve: true })).json()).toEqual({
      status: 'applied',
    });
    const done = await until(resumed as ReadableStream<UIMessageChunk>, (parts) =>
      parts.includes('It is booked. Table 2 at 20:00 for 4.'),
    );
    expect(done.id).toBe(asking.id);
    await world.pump();
    expect((await fetch(`${server.url}/api/chat/ada/stream`)).status).toBe(204);
  });

  it('the model reads the reason of a refusal', async () => {
    const stream = await said(user('m-1', 'Book a table for 2'));
    const [asking, rest] = stream.tee();
    const id = approvalOf(await until(asking, (parts) => parts.includes('approval-requested')));
    await posted('/ada/decide', { id, approve: false, reason: 'too early' });
    await until(rest, (parts) => parts.includes('Then I leave it: too early.'));
  });

  it('a repeated message counts once, and a message during a run joins that run', async () => {
    const ask = user('m-1', 'A table for 4 at 20:00');
    await until(await said(ask), (parts) => parts.includes('approval-requested'));
    const [again, rest] = (await said(ask)).tee();
    const asking = await until(again, (parts) => parts.includes('approval-requested'));
    expect((await world.session('ada', waiter).state())?.runs).toBe(1);
    expect(await (await posted('/ada/steer', { id: 's-1', text: 'make it 6' })).json()).toMatchObject({
      status: 'accepted',
    });
    await posted('/ada/decide', { id: approvalOf(asking), approve: false });
    await until(rest, (parts) => parts.includes('I look for a table for 6') && parts.includes('"state":"read"'));
  });

  it('the server stops a run when the guest requests it, and not when the guest leaves the page', async () => {
    const stream = await said(user('m-1', 'Tell me a story'));
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    while (stories === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await world.session('ada', waiter).state())?.lifecycle).toBe('Running');
    await posted('/ada/stop', {});
    await world.pump();
    expect((await world.session('ada', waiter).state())?.lifecycle).toBe('Cancelled');
    expect(JSON.stringify(await history())).toContain('Once there was a kettle');
  });

  it('the server refuses requests that its page does not send, says why, and goes on', async () => {
    const body = { id: 'ada', messages: [user('m-1', 'Hi')] };
    const raw = (text: string | Uint8Array) =>
      fetch(`${server.url}/api/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text as string,
      });
    const cases: readonly (readonly [Promise<Response>, number, RegExp])[] = [
      [posted('', { id: 'ada' }), 400, /invalid request of a chat page/],
      [posted('/ada/decide', { id: 1 }), 400, /expected string/],
      [posted('', body, { 'content-type': 'text/plain' }), 403, /application\/json/],
      [posted('/ada/nonsense', {}), 404, /nonsense/],
      [fetch(`${server.url}/nothing`), 404, /\/nothing/],
      [fetch(`${server.url}/api/chatter`), 404, /chatter/],
      [fetch(`${server.url}/api/chat/..%2f..`), 400, /id of a chat/],
      [fetch(`${server.url}/api/chat`, { method: 'PUT' }), 405, /PUT/],
      [raw('{"id": "ada", '), 400, /not JSON/],
      [raw(''), 400, /not JSON/],
      [raw(Uint8Array.of(0x22, 0xff, 0x22)), 400, /not JSON/],
      [posted('', { ...body, pad: 'x'.repeat(20 * 1024 * 1024) }), 413, /at most 262144 bytes/],
    ];
    for (const [reply, status, why] of cases) {
      expect((await reply).status).toBe(status);
      expect(await (await reply).text()).toMatch(why);
    }
    expect(await sessions()).toEqual([]);
    expect(await (await fetch(server.url)).text()).toBe('<p>page</p>');
    await until(await said(user('m-1', 'Hi')), (parts) => parts.includes('I book tables'));
    expect((await posted('', { id: 'ada', messages: [user('m-1', 'Something else')] })).status).toBe(409);
  });

  it('a request that breaks off, or names an odd last event, is no failure of the server', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    for (const after of ['%E2%98%83', 'a%0Ab', '%00'])
      expect((await fetch(`${server.url}/api/chat/ada/follow?after=${after}`)).status, after).toBe(400);
    const { port, host } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = ['POST /api/chat HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', 'Content-Length: 100'];
    await new Promise<void>((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n{`, () => resolve()));
    await fetch(server.url); // the server has read what came before
    socket.destroy();
    for (let turn = 0; turn < 5; turn++) await fetch(server.url);
    expect(reported).not.toHaveBeenCalled();
    reported.mockRestore();
  });

  it('the server tells of a chat that it does not have, and makes none', async () => {
    const asked = [
      fetch(`${server.url}/api/chat/nobody`),
      fetch(`${server.url}/api/chat/nobody/stream`),
      posted('/nobody/stop', {}),
      posted('/nobody/resume', {}),
      posted('/nobody/steer', { id: 's-1', text: 'Hm' }),
      posted('/nobody/decide', { id: 'x', approve: true }),
      posted('/nobody/answer', { id: 'x', answer: 'y' }),
    ];
    for (const reply of asked) {
      expect((await reply).status).toBe(404);
      expect(await (await reply).text()).toBe('There is no chat "nobody" yet: it begins with its first message.');
    }
    expect(await sessions()).toEqual([]);
  });

  it('the server answers only to the names that it was started for', async () => {
    const { port } = new URL(server.url);
    const asked = (host: string, path = '/') =>
      new Promise<readonly [number | undefined, string]>((resolve, reject) => {
        get({ port, host: '127.0.0.1', path, headers: { host } }, async (response) => {
          resolve([response.statusCode, (await response.toArray()).join('')]);
        }).on('error', reject);
      });
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect((await asked(host))[0], host).toBe(200);
    for (const host of ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`, '127.0.0.1']) {
      for (const path of ['/', '/api/chat/ada']) expect((await asked(host, path))[0], host).toBe(403);
    }
    expect((await asked('evil.example'))[1]).toContain('Unknown host "evil.example"');
    const named = await startChatServer({ world, agent: waiter, files: {}, port: 0, hosts: ['Chat.example'] });
    const { port: other } = new URL(named.url);
    const status = async (host: string) =>
      (await new Promise<IncomingMessage>((resolve) => get({ port: other, headers: { host } }, resolve))).statusCode;
    expect([await status('chat.example'), await status('chat.example.org')]).toEqual([404, 403]);
    await named.close();
  });

  it('the server refuses the pages of other sites, also those on other ports of this machine', async () => {
    const body = { id: 'ada', messages: [user('m-1', 'Hi')] };
    const { port } = new URL(server.url);
    for (const origin of ['http://elsewhere.example', 'null', 'http://localhost:1', `http://localhost:${port}`])
      expect((await posted('', body, { origin })).status, origin).toBe(403);
    for (const site of ['cross-site', 'same-site']) {
      expect((await posted('', body, { 'sec-fetch-site': site })).status).toBe(403);
      const reading = await fetch(`${server.url}/api/chat/ada/follow`, { headers: { 'sec-fetch-site': site } });
      expect(reading.status).toBe(403);
    }
    expect((await world.session('ada', waiter).state())?.runs).toBeUndefined();
    expect((await posted('', body, { origin: server.url, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('each answer of the server tells the browser to allow only what the page needs', async () => {
    for (const path of ['/', '/api/chat/ada', '/nothing']) {
      const { headers } = await fetch(`${server.url}${path}`);
      expect(headers.get('content-security-policy')).toMatch(
        /default-src 'none'; script-src 'self'; .*frame-ancestors/,
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('a decision counts only in the chat that owns the call, and only once', async () => {
    const asking = await until(await said(user('m-1', 'A table for 4')), (parts) =>
      parts.includes('approval-requested'),
    );
    const id = approvalOf(asking);
    await (await posted('', { id: 'eve', messages: [user('m-1', 'Hi')] })).text();
    const foreign = await posted('/eve/decide', { id, approve: true });
    expect([foreign.status, await foreign.text()]).toEqual([
      404,
      'Chat "eve" has no such question: it may belong to another chat.',
    ]);
    expect((await posted('/ada/decide', { id: 'no such id', approve: true })).status).toBe(404);
    expect((await world.pending()).map((item) => item.id)).toEqual([id]);
    expect((await posted('/ada/decide', { id, approve: false })).status).toBe(200);
    const again = await posted('/ada/decide', { id, approve: true });
    expect([again.status, await again.text()]).toEqual([409, 'This was decided already, by guest.']);
  });

  it('a page that follows sees the messages of others, and goes on behind the last event that it has', async () => {
    const follow = async (after = '') => {
      const response = await fetch(`${server.url}/api/chat/ada/follow`, { headers: { 'last-event-id': after } });
      return response.body?.pipeThrough(new TextDecoderStream()).getReader() as ReadableStreamDefaultReader<string>;
    };
    const reader = await follow();
    const receipt = await posted('', { id: 'ada', messages: [user('m-1', 'Hi')] }, { accept: 'application/json' });
    expect([receipt.status, await receipt.json()]).toEqual([202, { message: 'm-1', run: 'ada/r0' }]);
    let text = '';
    while (!text.includes('"stop":"Completed"')) text += (await reader.read()).value;
    await reader.cancel();
    const [, last = ''] = text.match(/^id: (.*)\n(?![\s\S]*^id: )/m) ?? [];
    const rest = await follow(last);
    expect((await rest.read()).value).toMatch(/^id: .*\nevent: caught-up/);
    await rest.cancel();
  });

  it('a message that waits behind a stopped answer goes on when the guest wants it', async () => {
    await said(user('m-1', 'Tell me a story'));
    while (stories === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const second = await said(user('m-2', 'Hi'));
    await posted('/ada/stop', {});
    expect((await posted('/ada/resume', {})).status).toBe(200);
    await until(second, (parts) => parts.includes('I book tables'));
    expect((await posted('/ada/stop', {})).status).toBe(409);
  });

  it('the server stops while pages follow and stream, which do not end by themselves', async () => {
    const stream = await said(user('m-1', 'Tell me a story'));
    const follow = await fetch(`${server.url}/api/chat/ada/follow`);
    const ended = Promise.allSettled([stream.pipeTo(new WritableStream()), follow.text()]);
    await server.close();
    await ended;
  });

  it('the script of the page takes at most 120 kB on its way to the browser, which keeps it', async () => {
    const file = pageFile('text/javascript', await bundlePage());
    const sent = async (headers: Record<string, string>) => {
      const answer = sentFile(file, headers);
      return { answer, bytes: (await answer.arrayBuffer()).byteLength };
    };
    const compressed = await sent({ 'accept-encoding': 'gzip, br;q=0' });
    expect(compressed.answer.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.bytes).toBeLessThan(120_000);
    expect(compressed.bytes).toBeGreaterThan(50_000); // React, the AI SDK and Markdown are in it
    expect((await sent({ 'accept-encoding': 'gzip, br' })).answer.headers.get('content-encoding')).toBe('br');
    const plain = await sent({});
    expect(plain.answer.headers.get('content-encoding')).toBeNull();
    expect(plain.bytes).toBeGreaterThan(300_000);
    const again = await sent({ 'if-none-match': file.etag });
    expect(again.answer.status).toBe(304);
    expect(again.bytes).toBe(0);
  });
});
