/** Runs as chat pages receive them, read with the reader that pages use. */
import { type Cursor, defineAgent, defineTool, ResultLost, toolError, toolParts } from '@reprise/agent';
import { DefaultChatTransport, UI_MESSAGE_STREAM_HEADERS, type UIMessage, validateUIMessages } from 'ai';
import * as fc from 'fast-check';
import type { ScriptStep } from 'reprise/providers';
import { script, testWorld } from 'reprise/testing';
import { askHuman } from 'reprise/tools';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../conformance/part.js';
import {
  afterOf,
  followUiMessages,
  isSuperseded,
  readChatInput,
  type ToolFailure,
  toUIMessageStream,
  UI_STREAM_HEADERS,
  type UiChunk,
  uiFollowResponse,
  uiMessageResponse,
  uiMessages,
} from '../src/index.js';
import { MessageFold } from '../src/message.js';
import { SpokenAnswer } from '../src/spoken-answer.js';
import { all, json, read } from './support/page.js';
import { messageOf, streamOf } from './support/sdk-page.js';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  args: z.strictObject({ cents: z.int() }),
  approval: ({ args }) => args.cents > 100,
  run: ({ cents }) => {
    if (cents === 13) throw new Error('no luck');
    return `Paid ${cents}.`;
  },
});

const call = (tool: string, args: Record<string, unknown>) => ({ calls: [{ tool, args: args as never }] });

async function opened(...steps: readonly ScriptStep[]) {
  const agent = defineAgent({ name: 'a', model: 'm', instructions: '', tools: [pay, askHuman()] });
  const world = await testWorld({ models: { m: script(...steps) }, agents: [agent] });
  return { world, session: world.session('chat', agent) };
}

/** The parts that a page shows of a message. */
function shown(message: UIMessage | undefined): string {
  const parts = (message?.parts ?? []).filter((part) => !isSuperseded(part));
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

describe('a run as a UI message stream', () => {
  it('a run is one message under its id: texts, calls and results, step by step', async () => {
    const { world, session } = await opened(
      { text: 'I pay.', reasoning: 'They want it paid.', ...call('pay', { cents: 5 }) },
      { text: 'Paid.' },
    );
    const run = await session.send('Pay 5.', { id: 'm-1' });
    const chunks = await all(toUIMessageStream(run));
    expect(chunks[0]).toMatchObject({ type: 'start', messageId: run.id });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
    const message = await read(chunks);
    expect(message?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'reasoning',
      'text',
      'tool-pay',
      'step-start',
      'text',
    ]);
    expect(message?.parts).toContainEqual(
      expect.objectContaining({ type: 'tool-pay', state: 'output-available', input: { cents: 5 }, output: 'Paid 5.' }),
    );
    expect(shown(message)).toBe('I pay.Paid.');
    const fold = new MessageFold(run.id);
    for (const chunk of chunks) fold.take(chunk);
    expect(fold.message).toEqual(json(message)); // our message equals the page's
    await world.close();
  });

  it('the journal alone gives the same message, for every reader at any time [EVT-1, EVT-7]', async () => {
    const { world, session } = await opened(call('pay', { cents: 13 }), { text: 'No luck.' });
    const run = await session.send('Pay 13.', { id: 'm-1' });
    await run.result();
    const first = await all(toUIMessageStream(run));
    expect(await all(toUIMessageStream(run))).toEqual(first);
    expect(await read(first)).toMatchObject({
      parts: [
        { type: 'step-start' },
        { state: 'output-error', errorText: 'The tool failed.' },
        {},
        { text: 'No luck.' },
      ],
    });
    await world.close();
  });

  it('a page is told by fixed words that a call failed, for every way in which a tool throws, and an operator by the words of the error [EVT-10]', async () => {
    const secret = 'connect ECONNREFUSED db-7.internal:5432';
    const fail = () => {
      throw new Error(secret);
    };
    const ways: Readonly<Record<string, () => unknown>> = {
      thrown: fail,
      rejected: async () => fail(),
      returned: () => toolError(secret),
      lost: () => new ResultLost(secret),
      parts: () => toolParts({ json: 2n as never }, { file: { toString: fail } as never }),
      stream: async function* () {
        yield 'a part';
        fail();
      },
    };
    for (const [way, run] of Object.entries(ways)) {
      const tool = defineTool({ name: 'query', description: 'Queries.', args: z.strictObject({}), run: run as never });
      const agent = defineAgent({ name: 'a', model: 'm', instructions: '', tools: [tool] });
      const world = await testWorld({ models: { m: script(call('query', {}), { text: 'Done.' }) }, agents: [agent] });
      const session = world.session('chat', agent);
      const sent = await session.send('Query.', { id: 'm-1' });
      await sent.result();
      const toolErrorText = ({ text, code }: ToolFailure) => text ?? code ?? '';
      const [page, messages] = [await all(toUIMessageStream(sent)), await uiMessages(session)];
      expect(JSON.stringify([page, messages]), way).not.toMatch(/ECONN|db-7|5432/);
      expect(
        page.filter(({ type }) => type.startsWith('tool-output')),
        way,
      ).toHaveLength(1);
      if (way !== 'parts')
        expect(JSON.stringify(await all(toUIMessageStream(sent, { toolErrorText }))), way).toContain(secret);
      await world.close();
    }
  });

  it('an approval is requested and its decision is shown: denied, or approved and executed', async () => {
    const { world, session } = await opened(call('pay', { cents: 500 }), call('pay', { cents: 400 }), {
      text: 'Fine.',
    });
    const run = await session.send('Pay.', { id: 'm-1' });
    const chunks: UiChunk[] = [];
    for await (const chunk of toUIMessageStream(run) as unknown as AsyncIterable<UiChunk>) {
      chunks.push(chunk);
      if (chunk.type !== 'tool-approval-request') continue;
      const [item] = await world.pending();
      expect(chunk.approvalId).toBe(item?.id); // the id that `decide` needs
      const isFirst = !chunks.some(({ type }) => type === 'tool-output-denied');
      await world.decide(chunk.approvalId, isFirst ? { deny: 'too much' } : { approve: true });
    }
    const states = (await read(chunks))?.parts.flatMap((part) =>
      'state' in part && part.type === 'tool-pay' ? [part.state] : [],
    );
    expect(states).toEqual(['output-denied', 'output-available']);
    await world.close();
  });

  it('questions, inputs during a run, and a stopped run are shown', async () => {
    const { world, session } = await opened(call('ask_human', { question: 'Which?', options: ['a', 'b'] }), {
      text: 'One moment, please.',
      delayMs: Number.POSITIVE_INFINITY,
    });
    const run = await session.send('Do it.', { id: 'm-1' });
    const chunks: UiChunk[] = [];
    for await (const chunk of toUIMessageStream(run) as unknown as AsyncIterable<UiChunk>) {
      chunks.push(chunk);
      if (chunk.type === 'data-question' && chunk.data.state === 'open') {
        await session.steer('Hurry.', { id: 'steer-1' });
        await world.answer(chunk.id, 'b');
      }
      if (chunk.type === 'text-delta') await session.cancel();
    }
    expect(chunks.at(-1)).toEqual({ type: 'abort', reason: 'cancelled' });
    const message = await read(chunks);
    expect(message?.metadata).toMatchObject({ reprise: { stop: 'Cancelled' } });
    expect(message?.parts).toContainEqual({
      type: 'data-question',
      id: expect.any(String),
      data: {
        question: { question: 'Which?', options: expect.anything() },
        toolCallId: null, // the session itself asks: the call has no effect of its own
        state: 'answered',
        actor: { kind: 'program', id: 'operator' },
        by: 'operator',
      },
    });
    expect(message?.parts).toContainEqual({
      type: 'data-steer',
      id: 'steer-1',
      data: { state: 'read', text: 'Hurry.' },
    });
    expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'One moment', state: 'done' });
    await world.close();
  });

  it('a failed run ends with an error that a person can read', async () => {
    const { world, session } = await opened(
      { fail: 'provider_error_terminal/refused' },
      { fail: 'provider_error_terminal/refused' },
    );
    const run = await session.send('Do it.', { id: 'm-1' });
    const errorText = () => 'Something went wrong.';
    expect((await all(toUIMessageStream(run))).at(-1)).toEqual({
      type: 'error',
      errorText: 'The run failed: the server of the model refused the request (provider_error_terminal/refused).',
    });
    expect((await all(toUIMessageStream(run, { errorText }))).at(-1)).toEqual({
      type: 'error',
      errorText: errorText(),
    });
    await world.close();
  });

  it('text that a broken stream had shown is not repeated', async () => {
    const { world, session } = await opened({ text: 'A text that breaks off.', cut: 10 });
    const chunks = await all(toUIMessageStream(await session.send('Say it.', { id: 'm-1' })));
    expect(shown(await read(chunks))).toBe('A text that breaks off.');
    expect(chunks.filter(({ type }) => type === 'text-start')).toHaveLength(1);
    await world.close();
  });

  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  it(`the parts without a superseded mark hold the final text exactly once, whatever the attempts contain (seed ${seed})`, async () => {
    const text = fc.stringMatching(/^[ab]{0,3}$/);
    const piece = fc.tuple(fc.constantFrom('reasoning' as const, 'text' as const), text);
    const attempts = fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 4 });
    await fc.assert(
      fc.property(attempts, text, text, fc.boolean(), (said, reasoning, end, isDropped) => {
        const answer = new SpokenAnswer('s');
        const fold = new MessageFold('m');
        const shown = () => fold.message.parts.filter((part) => !isSuperseded(part));
        const take = (chunks: Iterable<UiChunk>) => {
          for (const chunk of chunks) {
            fold.take(chunk);
          }
          const kinds = shown().map(({ type }) => type);
          expect(kinds).toEqual([...new Set(kinds)].sort()); // reasoning, then text
        };
        for (const pieces of said) {
          answer.again();
          for (const [kind, one] of pieces) take(answer.say(kind, one));
        }
        if (isDropped) take(answer.drop());
        take(answer.end({ reasoning, text: end }));
        expect(fold.message.parts.every(({ state }) => state === 'done')).toBe(true);
        expect(shown().map((one) => [one.type, one.id, one.text])).toEqual([
          ...(reasoning === '' ? [] : [['reasoning', 's/reasoning', reasoning]]),
          ...(end === '' ? [] : [['text', undefined, end]]),
        ]);
      }),
      { seed, numRuns: 2_000 / stepOf(4) },
    );
  });
});

describe('the response of a chat endpoint', () => {
  it('the response has the protocol headers, and the transport of chat pages reads it', async () => {
    const { world, session } = await opened({ text: 'Hello.' });
    expect(UI_STREAM_HEADERS).toEqual(UI_MESSAGE_STREAM_HEADERS);
    const transport = new DefaultChatTransport<UIMessage>({
      api: 'http://localhost/chat',
      fetch: (async (_: unknown, init: RequestInit) => {
        const { id, input } = readChatInput(JSON.parse(String(init.body)));
        return uiMessageResponse(await session.send(input, { id }));
      }) as typeof fetch,
    });
    const ask = () =>
      transport.sendMessages({
        chatId: 'chat',
        messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }],
        abortSignal: undefined,
        trigger: 'submit-message',
        messageId: undefined,
      });
    const first = (await all(await ask())) as UiChunk[];
    expect(shown(await read(first))).toBe('Hello.');
    // The repeated request adds no input: it is the same run, and the model is not called, since it has no step left.
    expect(shown(await read((await all(await ask())) as UiChunk[]))).toBe('Hello.');
    expect((await session.state())?.runs).toBe(1);
    await world.close();
  });

  it('headers that are given as a Headers object are sent beside those of the stream', async () => {
    const { session } = await opened({ text: 'Hello.' });
    const response = uiMessageResponse(await session.send('Hi'), { headers: new Headers({ 'x-trace': '7' }) as never });
    expect([response.headers.get('x-trace'), response.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([
      '7',
      'v1',
    ]);
    await response.text();
  });

  it('a reconnecting client receives exactly the events after its last one [EVT-3]', async () => {
    const { world, session } = await opened(call('pay', { cents: 5 }), { text: 'Paid.' });
    const run = await session.send('Pay 5.', { id: 'm-1' });
    await run.result();
    const whole = await uiMessageResponse(run).text();
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true);
    const ids = [...whole.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? '');
    for (const id of ids) {
      const after = afterOf(new Request('http://localhost', { headers: { 'last-event-id': id } }));
      const rest = await uiMessageResponse(run, after === undefined ? {} : { after }).text();
      expect(rest, `after ${id}`).toBe(whole.slice(whole.indexOf('\n\n', whole.indexOf(`id: ${id}\n`)) + 2));
    }
    // An id is on the last chunk of its event: a client with that id has the whole event.
    expect(new Set(ids).size).toBe(ids.length);
    expect(afterOf(new Request('http://localhost', { headers: { 'last-event-id': 'x' } }))).toBeUndefined();
    await world.close();
  });

  it('a response sends comments while nothing happens, and a closed connection does not affect the run', async () => {
    const { world, session } = await opened(call('pay', { cents: 500 }), { text: 'Paid.' });
    const run = await session.send('Pay.', { id: 'm-1' });
    const reader = uiMessageResponse(run, { keepAliveMs: 20 }).body?.getReader();
    let text = '';
    while (!text.includes(': keep-alive')) text += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    expect((await session.state())?.lifecycle).toBe('WaitingInput');
    const [item] = await world.pending();
    await world.decide(item ?? '', { approve: true });
    expect(await run.text()).toBe('Paid.');
    await world.close();
  });

  it('a request that no chat page sends is refused', () => {
    const message = { id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
    const sent = { chat: 'c', id: 'm-1', input: ['Hi'], act: 'send' };
    expect(readChatInput({ id: 'c', messages: [message] })).toEqual(sent);
    const edited = { id: 'c', messages: [message], trigger: 'submit-message', messageId: 'm-1' };
    expect(readChatInput(edited)).toEqual({ ...sent, act: 'edit' });
    const regenerated = { id: 'c', messages: [message], trigger: 'regenerate-message', messageId: 'c/r0' };
    expect(readChatInput(regenerated)).toEqual({ ...sent, act: 'retry' });
    const file = { type: 'file', url: 'data:text/plain;base64,SGk=', mediaType: 'text/plain', filename: 'a.txt' };
    const untyped = readChatInput({ id: 'c', messages: [{ ...message, parts: [{ ...file, mediaType: '' }] }] }).input;
    expect(untyped).toMatchObject([{ mediaType: 'application/octet-stream', name: 'a.txt' }]);
    expect(readChatInput({ id: 'c', messages: [{ ...message, parts: [file] }] }).input).toEqual([
      { bytes: new TextEncoder().encode('Hi'), mediaType: 'text/plain', name: 'a.txt' },
    ]);
    const wrong = [
      undefined,
      { id: 'c' },
      { id: '../c', messages: [message] },
      { id: 'c', messages: [{ ...message, role: 'assistant' }] },
      { id: 'c', messages: [{ ...message, id: '' }] },
      { id: 'c', messages: [{ ...message, parts: [] }] },
      { id: 'c', messages: [{ ...message, parts: [{ ...file, url: 'http://elsewhere/a' }] }] },
    ];
    for (const body of wrong) expect(() => readChatInput(body), JSON.stringify(body)).toThrow(/invalid_argument/);
  });
});

describe('the messages of a session so far', () => {
  it('the messages equal those of a page that was open the whole time', async () => {
    const { world, session } = await opened(
      call('pay', { cents: 5 }),
      { text: 'Paid.' },
      { text: 'You are welcome.' },
      call('pay', { cents: 500 }),
      { text: 'Paid.' },
    );
    const messages: unknown[] = [];
    for (const [id, text] of [
      ['m-1', 'Pay.'],
      ['m-2', 'Thanks.'],
    ] as const) {
      messages.push({ id, role: 'user', parts: [{ type: 'text', text }] });
      messages.push(json(await read(await all(toUIMessageStream(await session.send(text, { id }))))));
    }
    expect(await uiMessages(session)).toEqual(messages);
    const run = await session.send('More.', { id: 'm-3' });
    await world.pump();
    await session.followUp('And then?', { id: 'm-4' });
    const now = await uiMessages(session);
    expect(now.slice(0, 4)).toEqual(messages);
    expect(now.slice(4).map(({ id }) => id)).toEqual(['m-3', run.id, 'm-4']);
    expect(now.at(5)?.parts.at(-1)).toMatchObject({ type: 'tool-pay', state: 'approval-requested' });
    await world.close();
  });

  it('the messages are valid in the AI SDK after every kind of approval, and hold the reasoning [EVT-7]', async () => {
    const { world, session } = await opened(
      { reasoning: 'It is much.', ...call('pay', { cents: 500 }) },
      call('pay', { cents: 400 }),
      { text: 'One of them is paid.' },
      call('pay', { cents: 300 }),
    );
    const run = await session.send('Pay.', { id: 'm-1' });
    const live: UiChunk[] = [];
    for await (const chunk of toUIMessageStream(run) as unknown as AsyncIterable<UiChunk>) {
      live.push(chunk);
      if (chunk.type !== 'tool-approval-request') continue;
      const isFirst = !live.some(({ type }) => type === 'tool-output-available');
      await world.decide(chunk.approvalId, isFirst ? { approve: true } : { deny: 'too much' });
    }
    const stopped = await session.send('Once more.', { id: 'm-2' });
    await world.pump();
    await stopped.cancel();
    await stopped.result();
    const messages = await uiMessages(session);
    await validateUIMessages({ messages: json(messages) as UIMessage[] });
    const tools = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool-pay'));
    expect(tools.map(({ state }) => state)).toEqual(['output-available', 'output-denied', 'output-denied']);
    expect(tools.map(({ approval }) => approval)).toMatchObject([
      { approved: true },
      { approved: false },
      { approved: false, reason: 'cancelled' },
    ]);
    const page = await messageOf(streamOf(live));
    await validateUIMessages({ messages: [page as UIMessage] }); // also while the page has not been loaded again
    expect(json(page)).toEqual(json(messages[1]));
    const silent = await messageOf(streamOf(live), { handsOn: false });
    await expect(validateUIMessages({ messages: [silent as UIMessage] })).rejects.toThrow();
    const thought = (parts: readonly object[]) => parts.filter((part) => 'type' in part && part.type === 'reasoning');
    const before = (await read(live))?.parts ?? [];
    expect(thought(before.filter((part) => !isSuperseded(part)))).toMatchObject([{ text: 'It is much.' }]);
    expect(thought(messages[1]?.parts ?? [])).toMatchObject([{ text: 'It is much.' }]);
    await world.close();
  });

  it('the message of a page that stays, and of one that is loaded again, says who decided an approval and why', async () => {
    const { world, session } = await opened(call('pay', { cents: 500 }), { text: 'Not paid.' });
    const run = await session.send('Pay.', { id: 'm-1' });
    const live: UiChunk[] = [];
    for await (const chunk of toUIMessageStream(run) as unknown as AsyncIterable<UiChunk>) {
      live.push(chunk);
      if (chunk.type === 'tool-approval-request')
        await world.decide(chunk.approvalId, { deny: 'too much' }, { as: 'human:ann' });
    }
    const [, stored] = await uiMessages(session);
    const [asked] = live.flatMap((chunk) => (chunk.type === 'tool-approval-request' ? [chunk.approvalId] : []));
    const decisions = { [asked ?? '']: { state: 'denied', by: 'ann', reason: 'too much' } };
    expect(stored?.metadata?.reprise.decisions).toEqual(decisions);
    expect(json((await messageOf(streamOf(live)))?.metadata)).toEqual(json(stored?.metadata));
    await world.close();
  });

  it('reasoning stays out of the stream and the messages of a page that is not to have it', async () => {
    const { world, session } = await opened({ reasoning: 'They greet me.', text: 'Hello.' });
    const run = await session.send('Hi.', { id: 'm-1' });
    const sendReasoning = false;
    const live = await all(toUIMessageStream(run, { sendReasoning }));
    expect(live.filter(({ type }) => type.startsWith('reasoning'))).toEqual([]);
    expect((await uiMessages(session, { sendReasoning }))[1]?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'text',
    ]);
    await world.close();
  });

  it('the past of a conversation comes once, with each answer behind its input, and a follower goes on from any place', async () => {
    const { world, session } = await opened({ text: 'One.' }, { text: 'Two.', delayMs: 5 });
    const first = await session.send('First.', { id: 'm-1' });
    const second = await session.send('Second.', { id: 'm-2' });
    await Promise.all([first.result(), second.result()]);
    const read = async (after?: Cursor) => {
      const reader = uiFollowResponse(session, { after }).body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('event: caught-up')) text += (await reader?.read())?.value ?? '';
      await reader?.cancel();
      return [...text.matchAll(/^data: (\{"message.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    };
    const messages = await read();
    expect(messages.map(({ message, answers }) => [message.id, answers])).toEqual([
      ['m-1', undefined],
      ['chat/r0', 'm-1'],
      ['m-2', undefined],
      ['chat/r1', 'm-2'],
    ]);
    expect(messages.map(({ message }) => message)).toEqual(json(await uiMessages(session)));
    const events = await all(session.events({ channel: 'model', follow: false }));
    const begun = events.find(({ run_id, type }) => run_id === 'chat/r1' && type === 'turn.started');
    expect((await read(begun?.event_seq)).map(({ message }) => message.id)).toEqual(['chat/r1']);
    expect(await read(events.at(-1)?.event_seq)).toEqual([]);
    await world.close();
  });

  it('a second page follows the messages that another page sends', async () => {
    const { world, session } = await opened({ text: 'One.' }, { text: 'Two.' });
    await (await session.send('First.', { id: 'm-1' })).result();
    const left = new AbortController();
    const seen = new Map<string, unknown>();
    const second = (async () => {
      for await (const { message } of followUiMessages(session, { signal: left.signal })) {
        seen.set(message.id, message);
        if ((message.metadata?.reprise.stop ?? '') !== '' && message.id === 'chat/r1') left.abort();
      }
    })();
    await (await session.send('Second.', { id: 'm-2' })).result();
    await second;
    expect([...seen.values()]).toEqual(await uiMessages(session));
    await world.close();
  });
});
