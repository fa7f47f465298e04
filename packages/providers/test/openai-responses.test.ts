import { type OpaquePart, putText, readLlmOutput, type TranscriptItem } from '@reprise/agent';
import { isRepriseError, llmGenerateReceipt, type Value } from '@reprise/contracts';
import { getValue, putValue } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { openAiResponses, validateRequest } from '../src/index.js';
import { readResponse } from '../src/openai/responses-response.js';
import { MARKS_RULE } from '../src/prompt/system-text.js';
import { type Ran, run, said } from './harness.js';
import { events, eventsThen, json, providerServer } from './provider-server.js';

function payloadOf({ outcome }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return llmGenerateReceipt.parse(outcome.payload);
}

const outputOf = (ran: Ran) => readLlmOutput(ran.content, payloadOf(ran).output_ref);
const at = async ({ baseUrl }: { baseUrl: string }, over: Parameters<typeof openAiResponses>[1] = {}) =>
  openAiResponses('gpt-5', { baseUrl, sleep: async () => {}, ...over });

const message = (text: string, over: object = {}) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...over,
});
const reasoning = (id: string, text = 'hm') => ({
  type: 'reasoning',
  id,
  summary: [{ type: 'summary_text', text }],
  encrypted_content: `enc-${id}`,
  status: null,
});
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } };
const call = (call_id: string, args = '{}') => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name: 'add',
  arguments: args,
});
const response = (output: unknown[], over: object = {}) => ({ id: 'resp_1', status: 'completed', output, ...over });

/** A transcript with one stored answer of this model. */
const after =
  (output: { text?: string; opaque?: readonly OpaquePart[]; calls?: readonly string[] }) =>
  async (content: Parameters<typeof putText>[0]): Promise<TranscriptItem[]> => {
    const { text, opaque, calls = [] } = output;
    const kept = {
      ...(text === undefined ? {} : { text }),
      ...(opaque === undefined ? {} : { opaque: opaque as unknown as Value }),
      tool_calls: calls.map((call_id) => ({ call_id, tool: 'add', args: {} })),
    };
    const args_ref = await putValue(content, {});
    const results = calls.map(
      async (call_id): Promise<TranscriptItem> => ({
        role: 'tool',
        call_id,
        tool: 'add',
        output_ref: await putText(content, '1'),
        is_error: false,
      }),
    );
    return [
      said(await putText(content, 'Go')),
      {
        role: 'assistant',
        output_ref: await putValue(content, kept as Value),
        by: { profile: 'openai-responses', model: 'gpt-5' },
        calls: calls.map((call_id) => ({ call_id, tool: 'add', args_ref })),
      },
      ...(await Promise.all(results)),
      ...(calls.length === 0 ? [said(await putText(content, 'And?'))] : []),
    ];
  };

/** How the next request represents an answer of this provider. */
async function sentBack(output: unknown[]) {
  const server = await providerServer(json(200, response(output)), json(200, response([message('Well.')])));
  const first = await run(await at(server));
  const { text, opaque, tool_calls } = await outputOf(first);
  const second = await run(await at(server), {
    items: after({
      ...(text === undefined ? {} : { text }),
      ...(opaque === undefined ? {} : { opaque }),
      calls: tool_calls.map(({ call_id }) => call_id),
    }),
  });
  const body = JSON.parse(server.seen[1]!.body) as { input: { type: string }[] };
  expect(validateRequest('openai-responses', body)).toEqual([]);
  const { warnings_ref } = payloadOf(second);
  return {
    items: body.input.slice(1).filter(({ type }) => type !== 'function_call_output'),
    warnings: warnings_ref === undefined ? [] : await getValue(second.content, warnings_ref),
    opaque,
  };
}

describe('a responses request', () => {
  it('a request stores nothing at the provider and asks for encrypted reasoning [MOD-3]', async () => {
    const server = await providerServer(json(200, response([message('x')])));
    const client = await at(server, { apiKey: 'k', providerTools: [{ type: 'web_search' }] });
    const ran = await run(client, {
      params: {
        max_tokens: 8,
        temperature: 3,
        reasoning_effort: 'high',
        stop_sequences: ['END'],
        metadata: { a: 'b' },
      },
    });
    expect(server.seen[0]).toMatchObject({ path: '/v1/responses', headers: { authorization: 'Bearer k' } });
    expect(JSON.parse(server.seen[0]!.body)).toEqual({
      model: 'gpt-5',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high' },
      max_output_tokens: 16,
      temperature: 2,
      metadata: { a: 'b' },
      instructions: `Be brief.\n\n${MARKS_RULE}`,
      tools: [{ type: 'web_search' }],
      input: [{ type: 'message', role: 'user', content: 'Hello' }],
    });
    expect(await getValue(ran.content, payloadOf(ran).warnings_ref!)).toEqual([
      'parameter_changed:max_tokens',
      'parameter_changed:temperature',
      'unsupported:stop_sequences',
    ]);
  });

  it('native options are passed through and merged with our own values of the same field [MOD-4]', async () => {
    const native = {
      text: { verbosity: 'low' },
      reasoning: { summary: 'auto' },
      include: ['web_search_call.results'],
      seed: 1,
      model: 'other',
    };
    const server = await providerServer(json(200, response([message('x')])));
    const format = { type: 'json_schema', name: 'n', schema: { type: 'object' } };
    await run(await at(server, { profile: { provider_options_default: native } }), {
      context: {},
      params: { reasoning_effort: 'low' },
    });
    expect(JSON.parse(server.seen[0]!.body)).toMatchObject({
      model: 'gpt-5',
      seed: 1,
      text: { verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content', 'web_search_call.results'],
    });
    const { write } = await at(server, { profile: { provider_options_default: native } });
    const { body } = write({
      system: '',
      messages: [{ role: 'user', parts: [{ kind: 'text', text: 'x' }] }],
      tools: [],
      responseFormat: format,
    });
    expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({ text: { verbosity: 'low', format } });
  });

  it('a model without reasoning is not asked for it, since it would refuse [MOD-1]', async () => {
    const server = await providerServer(json(200, response([message('x')])));
    await run(await at(server, { profile: { supports_reasoning_effort: false } }));
    expect(JSON.parse(server.seen[0]!.body)).not.toHaveProperty('include');
  });

  it('an invalid address is refused', () => {
    expect(() => openAiResponses('m', { baseUrl: 'ftp://x' })).toThrow(
      expect.toSatisfy((error) => isRepriseError(error, 'invalid_argument')),
    );
  });
});

describe('the items of a responses answer', () => {
  it('the items of an answer are sent back in their original order, without ids where no server stores them', async () => {
    const annotations = [{ type: 'url_citation', url: 'https://x.example', start_index: 0, end_index: 3 }];
    const cited = message('Found. ', {
      content: [{ type: 'output_text', text: 'Found. ', annotations }],
      phase: 'commentary',
    });
    const output = [reasoning('rs_1'), search, cited, reasoning('rs_2', ''), call('a'), reasoning('rs_3'), call('b')];
    const { items, warnings, opaque } = await sentBack(output);
    expect(warnings).toEqual([]);
    expect(opaque?.map(({ kind, text }) => [kind, text])).toEqual([
      ['reasoning', 'hm'],
      ['provider_tool', undefined],
      ['other', undefined],
      ['reasoning', undefined],
      ['reasoning', 'hm'],
    ]);
    const thought = (id: string, text = 'hm') => ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text }],
      encrypted_content: `enc-${id}`,
    });
    expect(items).toEqual([
      thought('rs_1'),
      search,
      {
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Found. ', annotations }],
      },
      thought('rs_2', ''),
      { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' },
      thought('rs_3'),
      { type: 'function_call', call_id: 'b', name: 'add', arguments: '{}' },
    ]);
  });

  it('an item that no request can hold is dropped with a warning', async () => {
    const unanswered = { type: 'odd_call', id: 'cu_1', call_id: 'c', action: {} };
    const plain = { ...reasoning('rs_1'), encrypted_content: null };
    const { items, warnings } = await sentBack([plain, unanswered, message('Hm.'), reasoning('rs_2')]);
    expect(items[0]).toEqual({ type: 'message', role: 'assistant', content: 'Hm.' });
    expect(warnings).toEqual(['prompt_loss:provider_tool', 'prompt_loss:reasoning']);
  });

  it.each([
    ['completed', [message('x')], {}, 'stop'],
    ['calls', [call('a')], {}, 'tool_calls'],
    [
      'a limit',
      [message('x')],
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'length',
    ],
    [
      'a filter',
      [message('x')],
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'content_filter',
    ],
    ['an unknown reason', [], { status: 'incomplete', incomplete_details: null }, 'other'],
    ['a refusal', [message('', { content: [{ type: 'refusal', refusal: 'No.' }] })], {}, 'content_filter'],
  ])('an answer ends with %s [MOD-6]', async (_, output, over, finish) => {
    const server = await providerServer(json(200, response(output, over)));
    expect(payloadOf(await run(await at(server))).finish_reason).toBe(finish);
  });

  it('cached tokens and reasoning tokens are counted', async () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 20,
      input_tokens_details: { cached_tokens: 64 },
      output_tokens_details: { reasoning_tokens: 16 },
    };
    const server = await providerServer(json(200, response([message('x')], { usage })));
    const ran = await run(await at(server));
    expect(ran.outcome).toMatchObject({ usage: { tokens_in: 100, tokens_out: 20, tokens_cached: 64, calls: 1 } });
    expect(payloadOf(ran).usage_details).toEqual({ tokens_reasoning: 16, tokens_cache_read: 64 });
  });

  it('reading an answer never throws (seed 21) [MOD-7]', () => {
    const wild = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }));
    const item = fc.oneof(
      fc.record({
        type: fc.constantFrom('message', 'reasoning', 'web_search_call'),
        content: wild,
        summary: wild,
        id: wild,
      }),
      fc.record({ type: fc.constant('function_call'), call_id: wild, name: wild, arguments: wild }),
      fc.record({
        type: fc.constant('message'),
        content: fc.array(fc.record({ text: wild, annotations: wild, refusal: wild })),
      }),
      wild,
    );
    const body = fc.record(
      {
        id: wild,
        status: fc.oneof(fc.constantFrom('completed', 'incomplete'), wild),
        output: fc.array(item),
        usage: wild,
        incomplete_details: wild,
      },
      { requiredKeys: ['output'] },
    );
    const fields = llmGenerateReceipt.pick({ finish_reason: true, provider_response_id: true, usage_details: true });
    fc.assert(
      fc.property(fc.oneof(body, wild), (given) => {
        const read = readResponse(given, { idsInUse: ['call_0'], scrub: (text) => text });
        if (read === undefined) return;
        const ids = ['call_0', ...read.calls.map(({ callId }) => callId)];
        expect(new Set(ids).size).toBe(ids.length);
        fields.parse({
          finish_reason: read.finishReason,
          ...(read.providerResponseId === undefined ? {} : { provider_response_id: read.providerResponseId }),
          ...(read.usageDetails === undefined ? {} : { usage_details: read.usageDetails }),
        });
      }),
      { seed: 21, numRuns: 500 / stepOf(4) },
    );
  });
});

describe('a responses stream', () => {
  const half = [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Once' },
  ];
  const whole = events(
    { type: 'response.output_item.done', output_index: 1, item: message('Done.') },
    { type: 'response.output_item.done', output_index: 0, item: reasoning('rs_1') },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } },
  );

  it('a stream is assembled from its items when its end does not repeat them', async () => {
    const ran = await run(await at(await providerServer(whole)));
    expect(await outputOf(ran)).toMatchObject({ text: 'Done.', opaque: [{ kind: 'reasoning', text: 'hm' }] });
  });

  it('a stream with its end mark is complete, even if the connection stays open', async () => {
    const answer = { type: 'response.completed', response: response([message('Done.')]) };
    const streamed = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Done.' };
    const server = await providerServer(eventsThen('hang', half[0]!, streamed, answer));
    expect((await outputOf(await run(await at(server)))).text).toBe('Done.');
  });

  it('reasoning blocks and calls are reported with separate numbers', async () => {
    const delta = (type: string, output_index: number, text: string) => ({ type, output_index, delta: text });
    const ran = await run(
      await at(
        await providerServer(
          events(
            delta('response.reasoning_summary_text.delta', 0, 'r0'),
            delta('response.function_call_arguments.delta', 1, '{}'),
            delta('response.reasoning_text.delta', 2, 'r1'),
            delta('response.function_call_arguments.delta', 3, '{ }'),
            { type: 'response.completed', response: response([reasoning('a'), call('a'), reasoning('b'), call('b')]) },
          ),
        ),
      ),
    );
    expect(ran.notes).toEqual([
      { type: 'delta', channel: 'reasoning', index: 0, text: 'r0' },
      { type: 'delta', channel: 'tool_args', index: 0, text: '{}' },
      { type: 'delta', channel: 'reasoning', index: 1, text: 'r1' },
      { type: 'delta', channel: 'tool_args', index: 1, text: '{ }' },
    ]);
  });

  const failed = (error: object) => ({ type: 'response.failed', response: { status: 'failed', error, output: [] } });
  it.each([
    ['cut', eventsThen('cut', ...half), 'provider_error_retryable/network'],
    ['without an end', events(...half), 'provider_error_retryable/network'],
    ['with an event that is not JSON', events(...half, '{'), 'provider_error_retryable/malformed'],
    [
      'with an item at an invalid index',
      events({ type: 'response.output_item.done', output_index: 1e9, item: {} }),
      'provider_error_retryable/malformed',
    ],
    ['that failed', events(...half, failed({ code: 'server_error', message: '' })), 'provider_error_retryable/server'],
    [
      'over the rate limit',
      events(...half, failed({ code: 'rate_limit_exceeded', message: '' })),
      'provider_error_retryable/rate_limited',
    ],
    [
      'with an error event',
      events(...half, { type: 'error', code: 'server_error', message: 'x' }),
      'provider_error_retryable/server',
    ],
  ])('a stream %s is requested again, and no part of it remains', async (_, broken, code) => {
    const server = await providerServer(broken, whole);
    const ran = await run(await at(server));
    expect(server.seen).toHaveLength(2);
    expect(ran.notes).toContainEqual(expect.objectContaining({ type: 'retry', code }));
    expect((await outputOf(ran)).text).toBe('Done.');
  });

  it.each([
    [{ code: 'context_length_exceeded', message: '' }, 'provider_error_terminal/context_limit'],
    [{ code: 'insufficient_quota', message: '' }, 'provider_error_terminal/quota'],
    [{ code: 'invalid_prompt', message: '' }, 'provider_error_terminal/bad_request'],
  ])('a stream that ends with this error is a refusal: %j', async (error, code) => {
    const server = await providerServer(events(...half, failed(error)));
    expect((await run(await at(server))).outcome).toMatchObject({ code });
    expect(server.seen).toHaveLength(1);
  });

  it('a whole answer that reports a failure is a failure, too', async () => {
    const error = { code: 'server_error', message: 'x' };
    const server = await providerServer(json(200, response([], { status: 'failed', error })));
    expect((await run(await at(server))).outcome).toMatchObject({ code: 'provider_error_retryable/server' });
  });
});
