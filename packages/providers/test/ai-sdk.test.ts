import { createHash } from 'node:crypto';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LLMock } from '@copilotkit/aimock';
import { readText } from '@reprise/agent';
import { isRepriseError, type Value } from '@reprise/contracts';
import { encode, getValue, putValue } from '@reprise/kernel';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { mockProvider } from '../../../conformance/profiles/mock-provider.js';
import { readGenerated } from '../src/ai-sdk/call-answer.js';
import { type AiSdkModel, type AiSdkOptions, aiSdk, assembleRequest, validateRequest } from '../src/index.js';
import { MARKS_RULE } from '../src/prompt/system-text.js';
import { add, concernedCells, outputOf, payloadOf } from './answers.js';
import { listed, run } from './harness.js';
import { pngOf } from './media.js';
import { answered } from './support/answered.js';

/** Third-party AI SDK providers, against a third-party mock server. */
const MODELS = {
  'openai chat': (mock: LLMock) => createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'k' }).chat('gpt-5'),
  'openai responses': (mock: LLMock) => createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'k' }).responses('gpt-5'),
  'anthropic messages': (mock: LLMock) =>
    createAnthropic({ baseURL: `${mock.url}/v1`, apiKey: 'k' })('claude-sonnet-4-5'),
} as const;

/** The options that keep each provider from storing the conversation. */
const STATELESS: Readonly<Record<keyof typeof MODELS, Readonly<Record<string, Value>>>> = {
  'openai chat': {},
  'openai responses': { openai: { store: false, include: ['reasoning.encrypted_content'] } },
  'anthropic messages': {},
};

type Name = keyof typeof MODELS;
const NAMES = Object.keys(MODELS) as Name[];
const WAYS = NAMES.flatMap((name) => [true, false].map((streams) => [name, streams ? 'streamed' : 'whole'] as const));

function clientOf(name: Name, mock: LLMock, { profile, ...options }: AiSdkOptions = {}) {
  const waits: number[] = [];
  const client = aiSdk(MODELS[name](mock), {
    sleep: async (ms) => void waits.push(ms),
    profile: { provider_options_default: STATELESS[name], ...profile },
    ...options,
  });
  return { client, waits };
}

describe.each(WAYS)('the AI SDK client of %s with %s answers', (name, way) => {
  const streams = way === 'streamed';
  const profile = { supports_streaming: streams };

  it('a model makes parallel calls, sends reasoning, and receives its own answer back', async () => {
    const mock = await mockProvider();
    const calls = [
      { id: 'call_a', name: 'add', arguments: '{"a":1,"b":2}' },
      { id: 'call_b', name: 'add', arguments: '{"a":3,"b":4}' },
    ];
    const thought = { reasoning: 'Two sums.', reasoningSignature: 'c2lnbmVk' };
    const usage = { prompt_tokens: 12, completion_tokens: 3, input_tokens: 12, output_tokens: 3 };
    mock.on({ hasToolResult: false }, { content: 'I add.', toolCalls: calls, usage, ...thought });
    mock.on({ hasToolResult: true }, { content: 'It is 3 and 7.' });
    const { client } = clientOf(name, mock, { profile });
    const first = await run(client, { tools: [add] });
    expect(payloadOf(first).finish_reason).toBe('tool_calls');
    expect(first.outcome).toMatchObject({ usage: { tokens_in: 12, tokens_out: 3, calls: 1 } });
    expect(await outputOf(first)).toMatchObject({
      text: 'I add.',
      tool_calls: [
        { call_id: 'call_a', tool: 'add', args: { a: 1, b: 2 } },
        { call_id: 'call_b', tool: 'add', args: { a: 3, b: 4 } },
      ],
    });
    expect(concernedCells(first, 'text')).toBe(streams ? 'I add.' : '');
    expect(concernedCells(first, 'tool_args')).toBe(streams ? '{"a":1,"b":2}{"a":3,"b":4}' : '');
    const second = await run(client, { tools: [add], items: (content) => answered(first, content) });
    expect((await outputOf(second)).text).toBe('It is 3 and 7.');
    const { warnings_ref } = payloadOf(second);
    const told = warnings_ref === undefined ? [] : await getValue(second.content, warnings_ref);
    expect(JSON.stringify(told)).not.toContain('loss');
    const body = JSON.stringify(mock.getLastRequest()?.body);
    expect(body).toContain('result of call_a');
    if (name === 'anthropic messages') {
      const { opaque = [] } = await outputOf(first);
      expect(opaque[0]).toMatchObject({ kind: 'reasoning', text: 'Two sums.' });
    }
    const { content, params, items } = second;
    const again = await assembleRequest(params, { content, client, readContext: listed(items) }, payloadOf(second));
    expect(again.digest).toBe(payloadOf(second).request_digest);
    expect(validateRequest('ai-sdk', again.body)).toEqual([]);
    const { prefix_digest, request_bytes } = payloadOf(first);
    const prefix = again.written.body.subarray(0, request_bytes - 2);
    expect(createHash('sha256').update(prefix).digest('hex')).toBe(prefix_digest);
  });

  it('only the transport retries: the policy bounds the number of requests [MOD-8]', async () => {
    const mock = await mockProvider();
    mock.on({}, { error: { message: 'Overloaded.', type: 'overloaded_error' }, status: 500 });
    const { client } = clientOf(name, mock, { profile, retry: { retriesMax: 2 } });
    const { outcome } = await run(client);
    expect(outcome).toEqual({ status: 'error', code: 'provider_error_retryable/server', retryable: true });
    expect(mock.getRequests()).toHaveLength(3);
  });

  it('a retry waits as long as the 429 answer requests', async () => {
    const mock = await mockProvider();
    const busy = { error: { message: 'Slow down.', type: 'rate_limit_error' }, status: 429, retryAfter: 2 };
    mock.on({ sequenceIndex: 0 }, busy).on({}, { content: 'ok' });
    const { client, waits } = clientOf(name, mock, { profile });
    expect((await outputOf(await run(client))).text).toBe('ok');
    expect(waits).toEqual([2_000]);
  });

  it.each([
    [400, { message: 'prompt is too long', type: 'invalid_request_error' }, 'context_limit'],
    [401, { message: 'Bad key.', type: 'authentication_error' }, 'auth'],
  ])('a status %i with the error %j is a final failure', async (status, error, reason) => {
    const mock = await mockProvider();
    mock.on({}, { error, status });
    const { outcome } = await run(clientOf(name, mock, { profile }).client);
    expect(outcome).toEqual({ status: 'error', code: `provider_error_terminal/${reason}`, retryable: false });
    expect(mock.getRequests()).toHaveLength(1);
  });

  it.each(['malformedRate', 'disconnectRate'])('a request is retried after an injected fault: %s', async (chaos) => {
    const mock = await mockProvider();
    mock.on({ sequenceIndex: 0 }, { content: 'never' }, { chaos: { [chaos]: 1 } }).on({}, { content: 'ok' });
    const ran = await run(clientOf(name, mock, { profile }).client);
    expect((await outputOf(ran)).text).toBe('ok');
  });
});

describe.each(NAMES)('the AI SDK client of %s with streamed answers', (name) => {
  it('an answer that is cut off is requested again, and no part of it remains', async () => {
    const mock = await mockProvider();
    mock
      .on({ sequenceIndex: 0 }, { content: 'Once upon a time there was a broken stream.' }, { truncateAfterChunks: 8 })
      .on({}, { content: 'Whole.' });
    const ran = await run(clientOf(name, mock).client);
    expect(ran.notes).toContainEqual({ type: 'delta.reset' });
    expect(await outputOf(ran)).toMatchObject({ text: 'Whole.', tool_calls: [] });
    expect(await readText(ran.content, payloadOf(ran).raw_output_ref)).not.toContain('Once');
  });

  it('a stopped answer keeps its text; a silent stream is a timeout', async () => {
    const mock = await mockProvider();
    mock.on({}, { content: 'one two three four five six seven eight' }, { latency: 20 });
    const controller = new AbortController();
    const ran = await run(clientOf(name, mock).client, {
      context: {
        signal: controller.signal,
        progress: (note) => {
          if ((note as { channel?: string }).channel === 'text') controller.abort();
        },
      },
    });
    expect(payloadOf(ran)).toMatchObject({ finish_reason: 'interrupted', tool_calls: [] });
    const silent = await mockProvider();
    silent.on({}, { content: 'too late' }, { streamingProfile: { ttft: 2_000 } });
    const { outcome } = await run(clientOf(name, silent, { timeoutMs: 60 }).client);
    expect(outcome).toEqual({ status: 'timeout', code: 'adapter_timeout' });
  });
});

const usage = {
  inputTokens: { total: 9, noCache: 1, cacheRead: 8, cacheWrite: 0 },
  outputTokens: { total: 2, reasoning: 1 },
};

/** A model that answers with this content without streaming. */
const answering = (content: unknown[], over: object = {}) =>
  new MockLanguageModelV3({
    doGenerate: { content, finishReason: { unified: 'stop', raw: 'end' }, usage, warnings: [], ...over } as never,
  });
const whole = (model: AiSdkModel, options: AiSdkOptions = {}) =>
  aiSdk(model, { sleep: async () => {}, ...options, profile: { supports_streaming: false, ...options.profile } });

describe('requests to a model of the AI SDK', () => {
  it('the model receives exactly the recorded bytes, without undefined fields', async () => {
    const model = answering([{ type: 'text', text: 'x' }]);
    const tool = { type: 'provider', id: 'x.search', name: 'search', args: {} };
    const ran = await run(
      whole(model, { providerTools: [tool], profile: { provider_options_default: { x: { y: 1 } } } }),
      {
        tools: [add],
        params: {
          max_tokens: 9,
          temperature: 3,
          stop_sequences: ['END'],
          tool_choice: 'add',
          metadata: { a: 'b' },
          reasoning_effort: 'low',
        },
      },
    );
    const { abortSignal, headers, ...call } = model.doGenerateCalls[0]!;
    expect(call).toEqual({
      maxOutputTokens: 9,
      temperature: 2,
      stopSequences: ['END'],
      providerOptions: { x: { y: 1 } },
      toolChoice: { type: 'tool', toolName: 'add' },
      tools: [
        { type: 'function', name: 'add', description: 'Adds two integers.', inputSchema: add.entry.schema },
        tool,
      ],
      prompt: [
        { role: 'system', content: `Be brief.\n\n${MARKS_RULE}` },
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      ],
    });
    expect(headers).toEqual({ 'idempotency-key': 'e'.repeat(64) });
    expect(abortSignal).toBeInstanceOf(AbortSignal);
    const digest = createHash('sha256')
      .update(JSON.stringify({ specification: 'v3', ...call }))
      .digest('hex');
    expect(payloadOf(ran).request_digest).toBe(digest);
    expect(await getValue(ran.content, payloadOf(ran).warnings_ref!)).toEqual([
      'parameter_changed:temperature',
      'unsupported:metadata',
      'unsupported:reasoning_effort',
    ]);
  });

  it('the model receives the metadata of each part at its position', async () => {
    const said = (n: number) => ({ providerMetadata: { p: { n } } });
    const content = [
      { type: 'reasoning', text: 'hm', ...said(1) },
      { type: 'text', text: 'I look.', ...said(2) },
      {
        type: 'tool-call',
        toolCallId: 's1',
        toolName: 'search',
        input: '{"q":1}',
        providerExecuted: true,
        dynamic: undefined,
      },
      { type: 'source', sourceType: 'url', id: 'u', url: 'https://x.example' },
      { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: [1], ...said(3) },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1,"b":2}', ...said(4) },
      { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) },
    ];
    const model = answering(content, { warnings: [{ type: 'unsupported', feature: 'seed' }] });
    const first = await run(whole(model), { tools: [add] });
    expect(payloadOf(first)).toMatchObject({
      usage_details: { tokens_reasoning: 1, tokens_cache_read: 8, tokens_cache_write: 0 },
    });
    expect(await getValue(first.content, payloadOf(first).warnings_ref!)).toEqual(['provider_warning:seed']);
    expect(() => encode((first.outcome as { payload: Value }).payload)).not.toThrow();
    const second = await run(whole(model), { tools: [add], items: (store) => answered(first, store) });
    const options = (n: number) => ({ providerOptions: { p: { n } } });
    expect(model.doGenerateCalls[1]!.prompt[2]).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', ...options(1) },
        { type: 'text', text: 'I look.', ...options(2) },
        { type: 'tool-call', toolCallId: 's1', toolName: 'search', input: { q: 1 }, providerExecuted: true },
        {
          type: 'tool-result',
          toolCallId: 's1',
          toolName: 'search',
          output: { type: 'json', value: [1] },
          ...options(3),
        },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1, b: 2 }, ...options(4) },
        { type: 'file', mediaType: 'image/png', data: 'AQID' },
      ],
    });
    const { content: store, params, items } = second;
    const again = await assembleRequest(params, { content: store, client: whole(model), readContext: listed(items) });
    expect(validateRequest('ai-sdk', again.body)).toEqual([]);
  });

  it('the model receives images in its own format, in user messages and in tool results', async () => {
    const model = answering([{ type: 'text', text: 'x' }]);
    await run(whole(model), {
      items: async (content) => {
        const blob_ref = await content.put(pngOf());
        const shown = { blob_ref, media_type: 'image/png' };
        const args_ref = await putValue(content, {});
        return [
          { role: 'user', origin: 'input', parts: [{ kind: 'blob', ...shown, view: 'full', name: 'a/cat.png' }] },
          {
            role: 'assistant',
            output_ref: await putValue(content, { tool_calls: [{ call_id: 'c', tool: 'shot', args: {} }] }),
            by: { profile: 'p', model: 'm' },
            calls: [{ call_id: 'c', tool: 'shot', args_ref }],
          },
          {
            role: 'tool',
            call_id: 'c',
            tool: 'shot',
            is_error: false,
            files: [{ ...shown, path: 'shot.png', bytes: 3 }],
          },
        ];
      },
    });
    const { prompt } = model.doGenerateCalls[0]!;
    expect(prompt[1]).toEqual({
      role: 'user',
      content: [
        { type: 'file', mediaType: 'image/png', data: Buffer.from(pngOf()).toString('base64'), filename: 'cat.png' },
      ],
    });
    expect(prompt[3]).toMatchObject({
      content: [
        {
          output: {
            type: 'content',
            value: [{ type: 'text' }, { type: 'image-data', data: Buffer.from(pngOf()).toString('base64') }],
          },
        },
      ],
    });
  });

  it('an argument that is not a model is refused', () => {
    for (const given of ['gpt-5', { specificationVersion: 'v9', doStream() {} }, null]) {
      expect(() => aiSdk(given as never)).toThrow(
        expect.toSatisfy((error) => isRepriseError(error, 'invalid_argument')),
      );
    }
  });
});

describe('answers of a model of the AI SDK', () => {
  const about = { idsInUse: [], scrub: (text: string) => text };
  const base = { content: [{ type: 'text', text: 'x' }], usage, warnings: [], response: {} };

  it.each([
    [{ unified: 'stop', raw: 'end_turn' }, 'stop'],
    [{ unified: 'length', raw: 'max_tokens' }, 'length'],
    [{ unified: 'content-filter', raw: 'refusal' }, 'content_filter'],
    [{ unified: 'stop', raw: 'pause_turn' }, 'interrupted'],
    [{ unified: 'other', raw: 'x' }, 'other'],
    ['tool-calls', 'tool_calls'],
    ['unknown', 'other'],
    [undefined, 'other'],
  ])('the finish reason %j is read as: %s', (finishReason, finish) => {
    expect(readGenerated({ ...base, finishReason }, about).finishReason).toBe(finish);
  });

  it('token usage in the form of the second release is read, too', () => {
    const listedUsage = {
      inputTokens: 7,
      outputTokens: 3,
      reasoningTokens: 1,
      cachedInputTokens: 4,
      totalTokens: undefined,
    };
    expect(readGenerated({ ...base, finishReason: 'stop', usage: listedUsage }, about)).toMatchObject({
      usage: { tokens_in: 7, tokens_out: 3, tokens_cached: 4, calls: 1 },
      usageDetails: { tokens_reasoning: 1, tokens_cache_read: 4 },
    });
  });

  const parts = (...chunks: object[]) =>
    new MockLanguageModelV3({
      doStream: async () => ({ stream: simulateReadableStream({ chunks: chunks as never[] }) }),
    });
  const text = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 'a' },
    { type: 'text-delta', id: 'a', delta: 'Once' },
  ];
  const end = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };

  it.each([
    ['without an end', text, 'provider_error_retryable/network'],
    [
      'with an end that gives no reason',
      [...text, { ...end, finishReason: { unified: 'other', raw: undefined } }],
      'provider_error_retryable/network',
    ],
    [
      'with an error in it',
      [...text, { type: 'error', error: { type: 'overloaded_error', message: '' } }, end],
      'provider_error_retryable/server',
    ],
    ['with an error as text', [...text, { type: 'error', error: 'broken' }, end], 'provider_error_retryable/network'],
    [
      'with an error for good',
      [{ type: 'error', error: { code: 'context_length_exceeded', message: '' } }],
      'provider_error_terminal/context_limit',
    ],
  ])('a broken stream is a failure: %s', async (_, chunks, code) => {
    const { outcome } = await run(aiSdk(parts(...chunks), { sleep: async () => {} }));
    expect(outcome).toMatchObject({ status: 'error', code });
  });

  it.each(['v2', 'v4'] as const)('an answer in the format %s is read', async (specificationVersion) => {
    const chunks = [
      ...text,
      { type: 'tool-input-start', id: 'c1', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"a":1,"b":2}' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1,"b":2}' },
      { type: 'finish', finishReason: 'tool-calls', usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } },
    ];
    const doStream = async () => ({ stream: simulateReadableStream({ chunks }) });
    const model = { specificationVersion, provider: 'p', modelId: 'm', doStream, doGenerate: doStream };
    const ran = await run(aiSdk(model), { tools: [add] });
    expect(await outputOf(ran)).toEqual({
      text: 'Once',
      tool_calls: [{ call_id: 'c1', tool: 'add', args: { a: 1, b: 2 } }],
    });
    expect(ran.outcome).toMatchObject({ usage: { tokens_in: 7, tokens_out: 3, calls: 1 } });
    expect(concernedCells(ran, 'tool_args')).toBe('{"a":1,"b":2}');
  });

  it.each([
    ['AI_LoadAPIKeyError', 'provider_error_terminal/credentials_missing', 1],
    ['AI_UnsupportedFunctionalityError', 'provider_error_terminal/bad_request', 1],
    ['AI_TypeValidationError', 'provider_error_retryable/malformed', 4],
    ['Error', 'provider_error_retryable/network', 4],
  ])('an exception %s gives %s after %i calls', async (name, code, calls) => {
    let asked = 0;
    const model = new MockLanguageModelV3({
      doGenerate: async () => {
        asked++;
        throw Object.assign(new Error('no'), { name });
      },
    });
    expect((await run(whole(model))).outcome).toMatchObject({ status: 'error', code });
    expect(asked).toBe(calls);
  });

  it('a run that ends stops waiting for the model, even if the model ignores the signal', async () => {
    const deaf = new MockLanguageModelV3({ doGenerate: () => new Promise(() => {}) });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    expect((await run(whole(deaf), { context: { signal: controller.signal } })).outcome).toEqual({
      status: 'cancelled',
    });
    expect((await run(whole(deaf), { context: { signal: AbortSignal.abort() } })).outcome).toEqual({
      status: 'cancelled',
    });
    expect((await run(whole(deaf, { timeoutMs: 20 }))).outcome).toEqual({ status: 'timeout', code: 'adapter_timeout' });
  });
});
