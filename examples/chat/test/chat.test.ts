/** Sends the server the requests of the page, without a browser. */
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { type AgentWorld, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
  const files = { '/': { type: 'text/html', body: '<p>page</p>' } };
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

  it('the server refuses requests that its page does not send, without details', async () => {
    const body = { id: 'ada', messages: [user('m-1', 'Hi')] };
    const cases: readonly (readonly [Promise<Response>, number])[] = [
      [posted('', { id: 'ada' }), 400],
      [posted('/ada/decide', { id: 1 }), 400],
      [posted('', body, { origin: 'http://elsewhere.example' }), 403],
      [posted('', body, { 'content-type': 'text/plain' }), 403],
      [posted('/ada/nonsense', {}), 404],
      [fetch(`${server.url}/nothing`), 404],
      [fetch(`${server.url}/api/chat/..%2f..`), 400],
      [fetch(`${server.url}/api/chat`, { method: 'PUT' }), 405],
      [posted('', { ...body, pad: 'x'.repeat(2 * 1024 * 1024) }), 413],
    ];
    for (const [reply, status] of cases) expect((await reply).status).toBe(status);
    expect(await (await fetch(server.url)).text()).toBe('<p>page</p>');
    await until(await said(user('m-1', 'Hi')), (parts) => parts.includes('I book tables'));
    expect((await posted('', { id: 'ada', messages: [user('m-1', 'Something else')] })).status).toBe(409);
  });

  it('the page of the chat can be rendered', async () => {
    expect((await bundlePage()).length).toBeGreaterThan(100_000);
  });
});
