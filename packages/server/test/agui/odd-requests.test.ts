/** Requests that no page sends by itself, and streams that are stopped. */
import { describe, expect, it } from 'vitest';
import { type ModelClient, scriptBy } from '../../../reprise/src/providers.js';
import { httpHandler } from '../../src/index.js';
import { eventsOf, refusedBy } from './support/client.js';
import { brokenRules } from './support/rules.js';
import { agUiWorld } from './support/world.js';

type Served = Awaited<ReturnType<typeof agUiWorld>>;

const said = (id: string, content: unknown) => ({ id, role: 'user', content });

/** What a thread of Ann answers to a body. */
async function post({ url, tokens }: Served, body: object) {
  const token = await tokens.issue('human:ann', { for: '1h' });
  const answer = await fetch(`${url}/clerk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ threadId: 't', runId: 'r', ...body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, events: eventsOf(text) };
}

const sent = async ({ world, clerk }: Served) => (await world.session('ann/t', clerk).state())?.inputs ?? 0;

/** A request for a payment, which waits for approval; its answers. */
async function asking(served: Served) {
  await post(served, { messages: [said('m1', 'pay 500')] });
  const [item] = await served.world.pending();
  return (approved: boolean) => ({ interruptId: item?.id, status: 'resolved', payload: { approved } });
}

/** A model that begins an answer, and ends it when its world is closed. */
function beginning(): ModelClient {
  const final = scriptBy(() => ({ text: 'You said: Hello' }));
  return {
    ...final,
    generate: async (request, context) => {
      context.progress({ type: 'delta.reset' });
      context.progress({ type: 'delta', index: 0, channel: 'text', text: 'You' });
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      return final.generate(request, { ...context, progress: () => undefined });
    },
  };
}

/** Reads a stream until it says something, or ends. */
async function until(reader: ReadableStreamDefaultReader<Uint8Array> | undefined, words: string): Promise<void> {
  for (let seen = ''; !seen.includes(words); ) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return;
    seen += Buffer.from(value ?? []).toString();
  }
}

describe('an odd request of AG-UI', () => {
  it('two messages of one id are one message, and its turn is told once [SRV-41]', async () => {
    await using served = await agUiWorld();
    const messages = [said('m1', 'pay 5'), said('m1', 'pay 6')];
    const { events } = await post(served, { messages });
    expect(brokenRules(events, { threadId: 't', runId: 'r', had: messages, pending: [] })).toEqual([]);
    expect(events.filter(({ type }) => type === 'TOOL_CALL_START')).toHaveLength(1);
    expect([await sent(served), served.paid]).toEqual([1, [5]]);
  });

  it('a message with the id that an answer will have is not sent, and the stream stays valid [SRV-41]', async () => {
    await using served = await agUiWorld();
    const messages = [said('ann/t/r0/t1/s1', 'pay 5'), said('m1', 'pay 6')];
    const { events } = await post(served, { messages });
    const kept = events.flatMap((event) => (event.type === 'MESSAGES_SNAPSHOT' ? [event.messages] : []));
    expect(kept.at(-1)).toEqual([said('m1', 'pay 6')]);
    expect(await refusedBy(events)).toBeUndefined();
    expect([await sent(served), served.paid]).toEqual([1, [6]]);
  });

  it.each<[string, object]>([
    ['an empty message', said('m3', '')],
    ['a link', said('m3', [{ type: 'image', source: { type: 'url', value: 'http://example.com' } }])],
    ['a long id', said('m'.repeat(129), 'Hello')],
  ])('%s behind a good message is refused, and nothing is sent or decided [SRV-44]', async (_, bad) => {
    await using served = await agUiWorld();
    const answer = await asking(served);
    const messages = [said('m1', 'pay 500'), said('m2', 'Hello'), bad];
    const { status, text } = await post(served, { messages, resume: [answer(true)] });
    expect([status, JSON.parse(text)]).toEqual([400, expect.objectContaining({ where: 'messages' })]);
    expect([await sent(served), (await served.world.pending()).length, served.paid]).toEqual([1, 1, []]);
  });

  it('two answers to one interrupt decide nothing [SRV-44]', async () => {
    await using served = await agUiWorld();
    const answer = await asking(served);
    const { events } = await post(served, { messages: [], resume: [answer(true), answer(false)] });
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'invalid_argument' });
    expect([(await served.world.pending()).length, served.paid]).toEqual([1, []]);
  });

  it('more messages than a batch may have are refused, and each within it counts like a request [SRV-16]', async () => {
    await using served = await agUiWorld({ http: { limits: { batch: 30, burst: 20, perSecond: 1 } } });
    const many = (n: number) => Array.from({ length: n }, (_, i) => said(`m${i}`, 'Hello'));
    expect((await post(served, { messages: many(31) })).status).toBe(413);
    const soon = await post(served, { messages: many(30) });
    expect([soon.status, Number(soon.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await sent(served)).toBe(0);
    expect((await post(served, { messages: many(2) })).status).toBe(200);
  });
});

describe('a stream of AG-UI that is stopped', () => {
  it.each<[string, (served: Served) => Promise<unknown>]>([
    ['its server closes', ({ serving }) => serving.close()],
    ['the token of its client is taken back', ({ tokens }) => tokens.revokeAll('human:ann')],
  ])(
    'breaks its connection, so that no client takes a part of an answer for all of it: %s [SRV-43]',
    async (_, stop) => {
      await using served = await agUiWorld({ model: beginning() });
      const { url, headers } = await served.as('human:ann', 't');
      const body = JSON.stringify({ threadId: 't', runId: 'r', messages: [said('m1', 'Hello')] });
      const reader = (await fetch(url, { method: 'POST', headers, body })).body?.getReader();
      await until(reader, '"You"');
      await stop(served);
      await expect(until(reader, 'RUN_FINISHED')).rejects.toThrow('terminated');
      expect(served.errors).toEqual([]);
    },
  );

  it('breaks the body that a mounted handler answers with [SRV-38, SRV-43]', async () => {
    await using served = await agUiWorld({ model: beginning() });
    const handler = await httpHandler(served.world, { auth: served.tokens.auth, mcp: false, agUi: true });
    const answer = await handler.fetch(
      new Request('http://app.example/ag-ui/clerk', {
        method: 'POST',
        headers: { authorization: `Bearer ${await served.tokens.issue('human:ann', { for: '1h' })}` },
        body: JSON.stringify({ threadId: 't', runId: 'r', messages: [said('m1', 'Hello')] }),
      }),
    );
    const reader = answer.body?.getReader();
    await until(reader, '"You"');
    const broke = expect(until(reader, 'RUN_FINISHED')).rejects.toThrow('stopped');
    await handler.close();
    await broke;
  });
});
