import { createHash } from 'node:crypto';
import { putText, readText, type TranscriptItem } from '@reprise/agent';
import type { ContentStore } from '@reprise/kernel';
import { getValue } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { CLIENTS, mockProvider, watched } from '../../../conformance/profiles/mock-provider.js';
import { assembleRequest } from '../src/index.js';
import { add, concernedCells, outputOf, payloadOf } from './answers.js';
import { listed, run, said } from './harness.js';
import { pngOf } from './media.js';
import { answered } from './support/answered.js';

const TWO_CALLS = [
  { id: 'call_a', name: 'add', arguments: '{"a":1,"b":2}' },
  { id: 'call_b', name: 'add', arguments: '{"a":3,"b":4}' },
];

const WAYS = CLIENTS.flatMap((name) => [true, false].map((streams) => [name, streams ? 'streamed' : 'whole'] as const));

describe.each(WAYS)('the client %s with %s answers', (name, way) => {
  const streams = way === 'streamed';
  const profile = { supports_streaming: streams };

  it('the client sends the request that its receipt records, and stores the answer', async () => {
    const mock = await mockProvider();
    const usage = { prompt_tokens: 12, completion_tokens: 3, input_tokens: 12, output_tokens: 3 };
    mock.on({}, { content: 'Hello, my friend.', usage });
    const { client, sent } = watched(name, mock, { profile });
    const ran = await run(client, { tools: [add] });
    const payload = payloadOf(ran);
    expect(await outputOf(ran)).toMatchObject({ text: 'Hello, my friend.', tool_calls: [] });
    expect(payload.finish_reason).toBe('stop');
    expect(payload.request_digest).toBe(createHash('sha256').update(sent[0]!).digest('hex'));
    expect(ran.observed.asked?.profile).toBe(name);
    expect(ran.outcome).toMatchObject({ usage: { tokens_in: 12, tokens_out: 3, calls: 1 } });
    expect(concernedCells(ran, 'text')).toBe(streams ? 'Hello, my friend.' : '');
    expect(await readText(ran.content, payload.raw_output_ref)).toContain(streams ? 'data: ' : 'Hello, my friend.');
  });

  it('the call says whom it asked, and which model answered [MOD-60, MOD-61]', async () => {
    const mock = await mockProvider();
    mock.on({}, { content: 'Hello.' });
    const { client } = watched(name, mock, { profile });
    const ran = await run(client);
    const { profile_id, model_default, provider } = client.profile;
    expect(ran.observed.asked).toEqual({ profile: profile_id, model: model_default, provider, server: '127.0.0.1' });
    expect(ran.outcome).toMatchObject({ status: 'ok', response_model: model_default });
  });

  it('the model makes parallel calls, and the next request holds their results', async () => {
    const mock = await mockProvider();
    mock.on({ hasToolResult: false }, { content: 'I add.', toolCalls: TWO_CALLS });
    mock.on({ hasToolResult: true }, { content: 'It is 3 and 7.' });
    const { client, sent } = watched(name, mock, { profile });
    const first = await run(client, { tools: [add] });
    expect(payloadOf(first).finish_reason).toBe('tool_calls');
    expect(await outputOf(first)).toMatchObject({
      text: 'I add.',
      tool_calls: [
        { call_id: 'call_a', tool: 'add', args: { a: 1, b: 2 } },
        { call_id: 'call_b', tool: 'add', args: { a: 3, b: 4 } },
      ],
    });
    expect(concernedCells(first, 'tool_args')).toBe(streams ? '{"a":1,"b":2}{"a":3,"b":4}' : '');
    const second = await run(client, { tools: [add], items: (content) => answered(first, content) });
    expect((await outputOf(second)).text).toBe('It is 3 and 7.');
    expect(sent[1]).toContain('result of call_a');
    const { prefix_digest, request_bytes } = payloadOf(first);
    expect(
      createHash('sha256')
        .update(sent[1]!.slice(0, request_bytes - 2))
        .digest('hex'),
    ).toBe(prefix_digest);
    const { content, params, items } = second;
    const again = await assembleRequest(params, { content, client, readContext: listed(items) }, payloadOf(second));
    expect(again.digest).toBe(payloadOf(second).request_digest);
  });

  it('reasoning is stored and sent back to the same model', async () => {
    const mock = await mockProvider();
    const thought = { reasoning: 'Two sums.', reasoningSignature: 'c2lnbmVk', redactedThinking: ['c2VjcmV0'] };
    mock.on({ hasToolResult: false }, { content: 'I add.', toolCalls: TWO_CALLS, ...thought });
    mock.on({ hasToolResult: true }, { content: 'Done.' });
    const { client, sent } = watched(name, mock, { profile });
    const first = await run(client, { tools: [add], params: { reasoning_effort: 'low' } });
    const { opaque = [] } = await outputOf(first);
    expect(opaque.map(({ kind }) => kind)).toContain('reasoning');
    expect(opaque.some(({ text }) => text === 'Two sums.')).toBe(true);
    if (streams) expect(concernedCells(first, 'reasoning')).toBe('Two sums.');
    const second = await run(client, { tools: [add], items: (content) => answered(first, content) });
    expect(payloadOf(second).finish_reason).toBe('stop');
    const RETURNED = {
      'openai-compatible': [],
      'openai-responses': ['"type":"reasoning"', '"encrypted_content":"'],
      'anthropic-messages': ['"signature":"c2lnbmVk"', '"type":"redacted_thinking","data":"c2VjcmV0"'],
    } as const;
    for (const words of RETURNED[name]) expect(sent[1]).toContain(words);
  });

  it('a retry waits as long as the 429 answer requests, and sends the same bytes', async () => {
    const mock = await mockProvider();
    const busy = { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 2 };
    mock.on({ sequenceIndex: 0 }, busy).on({}, { content: 'ok' });
    const { client, sent, waits } = watched(name, mock, { profile });
    expect((await outputOf(await run(client))).text).toBe('ok');
    expect(waits).toEqual([2_000]);
    expect(sent[1]).toBe(sent[0]);
  });

  it.each([500, 503, 529])('an answer with status %i is retried a bounded number of times', async (status) => {
    const mock = await mockProvider();
    mock.on({}, { error: { message: 'Overloaded.', type: 'overloaded_error' }, status });
    const { client, sent } = watched(name, mock, { profile });
    const { outcome } = await run(client);
    expect(outcome).toEqual({ status: 'error', code: 'provider_error_retryable/server', retryable: true });
    expect(sent).toHaveLength(4);
  });

  it.each([
    [400, { message: 'prompt is too long', type: 'invalid_request_error' }, 'context_limit'],
    [400, { message: 'No such field.', type: 'invalid_request_error' }, 'bad_request'],
    [401, { message: 'Bad key.', type: 'authentication_error' }, 'auth'],
    [404, { message: 'No such model.', type: 'not_found_error' }, 'not_found'],
    [429, { message: 'Pay.', type: 'billing_error', code: 'insufficient_quota' }, 'quota'],
  ])('a status %i with the error %j is a final failure without a retry', async (status, error, reason) => {
    const mock = await mockProvider();
    mock.on({}, { error, status });
    const { client, sent } = watched(name, mock, { profile });
    const { outcome } = await run(client);
    expect(outcome).toEqual({ status: 'error', code: `provider_error_terminal/${reason}`, retryable: false });
    expect(sent).toHaveLength(1);
  });

  it.each(['malformedRate', 'disconnectRate', 'dropRate'])(
    'a request is retried after an injected fault: %s',
    async (chaos) => {
      const mock = await mockProvider();
      mock.on({ sequenceIndex: 0 }, { content: 'never' }, { chaos: { [chaos]: 1 } }).on({}, { content: 'ok' });
      const { client, sent } = watched(name, mock, { profile });
      expect((await outputOf(await run(client))).text).toBe('ok');
      expect(sent).toHaveLength(2);
    },
  );
});

describe.each(CLIENTS)('the client %s with an image', (name) => {
  const image = async (content: ContentStore): Promise<TranscriptItem[]> => [
    {
      role: 'user',
      origin: 'input',
      parts: [
        { kind: 'text', text_ref: await putText(content, 'What is this?') },
        {
          kind: 'blob',
          blob_ref: await content.put(pngOf()),
          media_type: 'image/png',
          view: 'full',
          name: 'cat.png',
        },
      ],
    },
  ];

  it('an image is sent as bytes if the model reads images, and the rebuilt request has the same bytes', async () => {
    const mock = await mockProvider();
    mock.on({}, { content: 'A cat.' });
    const { client, sent } = watched(name, mock, { profile: { media_types: ['image/png'] } });
    const ran = await run(client, { items: image });
    expect(sent[0]).toContain(Buffer.from(pngOf()).toString('base64'));
    expect(payloadOf(ran).warnings_ref).toBeUndefined();
    const { content, params, items } = ran;
    const again = await assembleRequest(params, { content, client, readContext: listed(items) }, payloadOf(ran));
    expect(again.digest).toBe(payloadOf(ran).request_digest);
  });

  it('an image is described in words, with a warning, if the model reads no images [MOD-20]', async () => {
    const mock = await mockProvider();
    mock.on({}, { content: 'A file.' });
    const { client, sent } = watched(name, mock, { profile: { media_types: [] } });
    const ran = await run(client, { items: image });
    expect(sent[0]).not.toContain(Buffer.from(pngOf()).toString('base64'));
    expect(sent[0]).toContain('[file \\"cat.png\\": image/png, sha256:');
    expect(await getValue(ran.content, payloadOf(ran).warnings_ref!)).toEqual(['prompt_loss:image']);
  });
});

describe.each(CLIENTS)('the client %s with streamed answers', (name) => {
  it('an answer that is cut off is requested again, and no part of it remains', async () => {
    const mock = await mockProvider();
    mock
      .on({ sequenceIndex: 0 }, { content: 'Once upon a time there was a broken stream.' }, { truncateAfterChunks: 6 })
      .on({}, { content: 'Whole.' });
    const { client, sent } = watched(name, mock);
    const ran = await run(client);
    expect(sent[1]).toBe(sent[0]);
    const reset = ran.notes.findIndex((note) => (note as { type: string }).type === 'delta.reset');
    expect(reset).toBeGreaterThan(-1);
    expect(concernedCells({ ...ran, notes: ran.notes.slice(reset) }, 'text')).toBe('Whole.');
    expect(await outputOf(ran)).toMatchObject({ text: 'Whole.', tool_calls: [] });
    expect(await readText(ran.content, payloadOf(ran).raw_output_ref)).not.toContain('Once');
  });

  it('a slow stream is read to its end; a silent stream is a timeout', async () => {
    const mock = await mockProvider();
    mock.on({ userMessage: 'Hello' }, { content: 'drip by drip by drip' }, { latency: 15 });
    const { client } = watched(name, mock, { timeoutMs: 400 });
    const ran = await run(client);
    expect((await outputOf(ran)).text).toBe('drip by drip by drip');
    const silent = await mockProvider();
    silent.on({}, { content: 'too late' }, { streamingProfile: { ttft: 2_000 } });
    const { outcome } = await run(watched(name, silent, { timeoutMs: 60 }).client);
    expect(outcome).toEqual({ status: 'timeout', code: 'adapter_timeout' });
  });

  it('a stopped answer keeps its text', async () => {
    const mock = await mockProvider();
    mock.on({}, { content: 'one two three four five six seven eight' }, { latency: 20 });
    const controller = new AbortController();
    const { client } = watched(name, mock);
    const ran = await run(client, {
      context: {
        signal: controller.signal,
        progress: (note) => {
          if ((note as { channel?: string }).channel === 'text') controller.abort();
        },
      },
    });
    expect(payloadOf(ran)).toMatchObject({ finish_reason: 'interrupted', tool_calls: [] });
    expect('one two three four five six seven eight').toContain((await outputOf(ran)).text);
  });

  it('a secret that the provider echoes never reaches the transcript or watchers', async () => {
    const KEY = 'sk-test-0123456789abcdef';
    const mock = await mockProvider();
    mock.on({}, { content: `You sent ${KEY}.` });
    const { client } = watched(name, mock, { apiKey: KEY });
    const ran = await run(client, { items: async (content) => [said(await putText(content, 'What is my key?'))] });
    expect(concernedCells(ran, 'text')).toBe('You sent [secret].');
    expect((await outputOf(ran)).text).toBe('You sent [secret].');
    expect(JSON.stringify(mock.getLastRequest()?.headers)).toContain(
      name === 'anthropic-messages' ? 'x-api-key' : 'authorization',
    );
  });
});
