import { putText, readLlmOutput, type TranscriptItem } from '@reprise/agent';
import { llmGenerateReceipt, type Value } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { getValue } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { readMessage } from '../src/anthropic/messages-response.js';
import { anthropicMessages, type UnifiedRequest, validateRequest } from '../src/index.js';
import { MARKS_RULE } from '../src/prompt/system-text.js';
import { authorIn, type Ran, run, said } from './harness.js';
import { type Answer, events, eventsThen, json, providerServer } from './provider-server.js';

function payloadOf({ outcome }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return llmGenerateReceipt.parse(outcome.payload);
}

const outputOf = (ran: Ran) => readLlmOutput(ran.content, payloadOf(ran).output_ref);
const at = ({ baseUrl }: { baseUrl: string }, over: Parameters<typeof anthropicMessages>[1] = {}) =>
  anthropicMessages('claude-x', { baseUrl, sleep: async () => {}, ...over });

const text = (said: string, over: object = {}) => ({ type: 'text', text: said, ...over });
const thinking = (thought: string) => ({ type: 'thinking', thinking: thought, signature: `sig-${thought}` });
const use = (id: string) => ({ type: 'tool_use', id, name: 'add', input: {} });
const searched = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } };
const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srv_1',
  content: [{ type: 'web_search_result', url: 'u' }],
};
const message = (content: unknown[], over: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 2 },
  ...over,
});

/** A transcript that continues after an answer of this model. */
async function after(first: Ran, content: ContentStore): Promise<TranscriptItem[]> {
  for await (const link of first.content.list()) await content.put((await first.content.get(link)) as Uint8Array);
  const { output_ref, tool_calls, finish_reason } = payloadOf(first);
  const calls = tool_calls.map(({ call_id, tool, args_ref }) => ({ call_id, tool, args_ref }));
  const output = await putText(content, '1');
  return [
    ...first.items,
    {
      role: 'assistant',
      output_ref,
      by: authorIn(first),
      calls,
      ...(finish_reason === 'interrupted' ? { interrupted: true as const } : {}),
    },
    ...calls.map(
      ({ call_id, tool }): TranscriptItem => ({ role: 'tool', call_id, tool, output_ref: output, is_error: false }),
    ),
    ...(calls.length === 0 ? [said(await putText(content, 'And?'))] : []),
  ];
}

/** How the next request represents an answer of this provider. */
async function sentBack(content: unknown[], over: object = {}) {
  const server = await providerServer(json(200, message(content, over)), json(200, message([text('Well.')])));
  const first = await run(at(server));
  const second = await run(at(server), { items: (store) => after(first, store) });
  const body = JSON.parse(server.seen[1]!.body) as { messages: { content: unknown[] }[] };
  expect(validateRequest('anthropic-messages', body)).toEqual([]);
  const { warnings_ref } = payloadOf(second);
  return {
    blocks: body.messages[1]!.content,
    last: body.messages.at(-1)!,
    warnings: warnings_ref === undefined ? [] : await getValue(second.content, warnings_ref),
    first: payloadOf(first),
  };
}

const asking = (over: Partial<UnifiedRequest>): UnifiedRequest => ({
  system: '',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Go' }] }],
  tools: [],
  ...over,
});
const written = (over: Partial<UnifiedRequest>, options: Parameters<typeof anthropicMessages>[1] = {}) => {
  const { body, warnings } = anthropicMessages('claude-x', options).write(asking(over));
  const data: unknown = JSON.parse(new TextDecoder().decode(body));
  expect(validateRequest('anthropic-messages', data)).toEqual([]);
  return { data, warnings };
};

describe('a messages request', () => {
  it('a request carries the protocol headers and a token limit', async () => {
    const server = await providerServer(json(200, message([text('x')])));
    await run(at(server, { apiKey: 'k', betas: ['a', 'b'] }));
    expect(server.seen[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b' },
    });
    expect(JSON.parse(server.seen[0]!.body)).toEqual({
      model: 'claude-x',
      stream: true,
      max_tokens: 8_192,
      system: `Be brief.\n\n${MARKS_RULE}`,
      messages: [{ role: 'user', content: [text('Hello')] }],
    });
  });

  it('the effort is sent as a word, or as a token budget for older models', () => {
    expect(written({ reasoningEffort: 'high' }).data).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
    const { data } = written({ reasoningEffort: 'medium' }, { effort: 'budget' });
    expect(data).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 4_096 } });
    expect(data).not.toHaveProperty('output_config');
  });

  it('a field that conflicts with thinking is left out with a warning [MOD-3]', () => {
    const tools = [{ name: 'add', description: '', schema: { type: 'object' } }];
    const { data, warnings } = written({ reasoningEffort: 'low', temperature: 0, toolChoice: 'required', tools });
    expect(data).not.toHaveProperty('temperature');
    expect(data).not.toHaveProperty('tool_choice');
    expect(warnings).toEqual(['parameter_changed:temperature', 'unsupported:tool_choice']);
  });

  it('response format, caching and provider tools are sent where the protocol has them [MOD-3]', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } };
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const { data } = written(
      { responseFormat: format, providerOptions: { output_config: { effort: 'low' }, top_k: 3 } },
      { cache: '1h', providerTools: [search] },
    );
    expect(data).toMatchObject({
      output_config: { effort: 'low', format },
      cache_control: { type: 'ephemeral', ttl: '1h' },
      tools: [search],
      top_k: 3,
    });
  });
});

describe('the parts of a messages answer', () => {
  it('the parts of an answer are sent back in their original order', async () => {
    const cited = text('It is x.', { citations: [{ type: 'web_search_result_location', url: 'u' }] });
    const redacted = { type: 'redacted_thinking', data: 'c2VjcmV0' };
    const content = [
      thinking('a'),
      redacted,
      text('I look.'),
      searched,
      found,
      thinking('b'),
      cited,
      use('t1'),
      thinking('c'),
      use('t2'),
    ];
    const { blocks, warnings } = await sentBack(content, { stop_reason: 'tool_use' });
    expect(warnings).toEqual([]);
    expect(blocks).toEqual(content);
  });

  it('thinking after plain text is sent back before it, because the protocol refuses it there', async () => {
    const { blocks, warnings } = await sentBack([text('Hm.'), thinking('a'), use('t1')]);
    expect(blocks).toEqual([thinking('a'), text('Hm.'), use('t1')]);
    expect(warnings).toEqual([]);
  });

  it('a part that no request can hold is dropped with a warning', async () => {
    const unsigned = { type: 'thinking', thinking: 'a', signature: '' };
    const odd = { type: 'container_upload', file_id: 'f' };
    const { blocks, warnings } = await sentBack([
      unsigned,
      searched,
      odd,
      found,
      { ...found, tool_use_id: 'z' },
      text('x'),
      thinking('b'),
    ]);
    expect(blocks).toEqual([searched, found, thinking('b'), text('x')]);
    expect(warnings).toEqual(['prompt_loss:other', 'prompt_loss:provider_tool', 'prompt_loss:reasoning']);
  });

  it('a paused answer is continued; a provider tool call without its result is left out', async () => {
    const { blocks, last, first, warnings } = await sentBack([text('I look.'), searched], {
      stop_reason: 'pause_turn',
    });
    expect(first.finish_reason).toBe('interrupted');
    expect(blocks).toEqual([text('I look.')]);
    expect(warnings).toEqual(['prompt_loss:provider_tool']);
    expect(JSON.stringify(last)).toContain('stopped before its end');
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'interrupted'],
    ['something new', 'other'],
  ])('the stop reason %s is read as: %s', async (stop_reason, finish) => {
    const server = await providerServer(json(200, message([text('x')], { stop_reason })));
    expect(payloadOf(await run(at(server))).finish_reason).toBe(finish);
  });

  it('tokens read from a cache and written into it count as input tokens [MOD-6]', async () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 30,
      output_tokens: 5,
      output_tokens_details: { thinking_tokens: 4 },
    };
    const server = await providerServer(json(200, message([text('x')], { usage })));
    const ran = await run(at(server));
    expect(ran.outcome).toMatchObject({ usage: { tokens_in: 140, tokens_out: 5, tokens_cached: 100 } });
    expect(payloadOf(ran).usage_details).toEqual({
      tokens_reasoning: 4,
      tokens_cache_read: 100,
      tokens_cache_write: 30,
    });
  });

  it('reading an answer never throws (seed 22) [MOD-7]', () => {
    const wild = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }));
    const block = fc.oneof(
      fc.record({
        type: fc.constantFrom('text', 'thinking', 'server_tool_use', 'x'),
        text: wild,
        thinking: wild,
        citations: wild,
      }),
      fc.record({ type: fc.constant('tool_use'), id: wild, name: wild, input: wild }),
      wild,
    );
    const body = fc.record(
      {
        id: wild,
        content: fc.array(block),
        stop_reason: wild,
        usage: fc.oneof(wild, fc.record({ input_tokens: wild })),
      },
      { requiredKeys: ['content'] },
    );
    const fields = llmGenerateReceipt.pick({ finish_reason: true, provider_response_id: true, usage_details: true });
    fc.assert(
      fc.property(fc.oneof(body, wild), (given) => {
        const read = readMessage(given, { idsInUse: ['call_0'], scrub: (said) => said });
        if (read === undefined) return;
        const ids = ['call_0', ...read.calls.map(({ callId }) => callId)];
        expect(new Set(ids).size).toBe(ids.length);
        fields.parse({
          finish_reason: read.finishReason,
          ...(read.providerResponseId === undefined ? {} : { provider_response_id: read.providerResponseId }),
          ...(read.usageDetails === undefined ? {} : { usage_details: read.usageDetails }),
        });
      }),
      { seed: 22, numRuns: 500 / stepOf(4) },
    );
  });
});

describe('a messages stream', () => {
  const start = {
    type: 'message_start',
    message: message([], { stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } }),
  };
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const end = [
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9, input_tokens: null } },
    { type: 'message_stop' },
  ];
  const half = [start, ...block(0, text(''), { type: 'text_delta', text: 'Once' })];
  const whole = events(start, ...block(0, text('Done')), { type: 'ping' }, ...end);

  it('a stream is assembled from its pieces and reported as they arrive', async () => {
    const citation = { type: 'web_search_result_location', url: 'u' };
    const server = await providerServer(
      events(
        start,
        ...block(
          0,
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'hm' },
          { type: 'signature_delta', signature: 's' },
        ),
        ...block(
          1,
          { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
          { type: 'input_json_delta', partial_json: '{"query":' },
          { type: 'input_json_delta', partial_json: '"x"}' },
        ),
        ...block(2, found),
        ...block(3, text(''), { type: 'text_delta', text: 'It is x.' }, { type: 'citations_delta', citation }),
        ...block(
          4,
          use('t1'),
          { type: 'input_json_delta', partial_json: '{"a":1' },
          { type: 'input_json_delta', partial_json: '}' },
        ),
        ...block(5, use('t2')),
        ...block(6, use('t3'), { type: 'input_json_delta', partial_json: '{"a":' }),
        ...end,
      ),
    );
    const ran = await run(at(server));
    expect(await outputOf(ran)).toEqual({
      text: 'It is x.',
      opaque: [
        { kind: 'reasoning', text: 'hm', native: { type: 'thinking', thinking: 'hm', signature: 's' } },
        { kind: 'provider_tool', native: searched },
        { kind: 'provider_tool', native: found },
        { kind: 'other', native: { at: { text: 8, calls: 0 }, item: { type: 'text', citations: [citation] } } },
      ],
      tool_calls: [
        { call_id: 't1', tool: 'add', args: { a: 1 } },
        { call_id: 't2', tool: 'add', args: {} },
        { call_id: 't3', tool: 'add', args: '{"a":' },
      ],
    });
    expect(payloadOf(ran).tool_calls.map(({ issue }) => issue)).toEqual([undefined, undefined, 'args_not_json']);
    expect(ran.notes).toEqual([
      { type: 'delta', channel: 'reasoning', index: 0, text: 'hm' },
      { type: 'delta', channel: 'text', index: 0, text: 'It is x.' },
      { type: 'delta', channel: 'tool_args', index: 0, text: '{"a":1' },
      { type: 'delta', channel: 'tool_args', index: 0, text: '}' },
      { type: 'delta', channel: 'tool_args', index: 2, text: '{"a":' },
    ]);
    expect(ran.outcome).toMatchObject({ usage: { tokens_in: 10, tokens_out: 9 } });
  });

  it('a stream with its end mark is complete, even if the connection stays open', async () => {
    const server = await providerServer(eventsThen('hang', start, ...block(0, text('Done')), ...end));
    expect((await outputOf(await run(at(server)))).text).toBe('Done');
  });

  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  it.each<[string, Answer, string]>([
    ['cut', eventsThen('cut', ...half), 'provider_error_retryable/network'],
    ['without an end', events(...half), 'provider_error_retryable/network'],
    ['with an event that is not JSON', events(...half, '{'), 'provider_error_retryable/malformed'],
    [
      'with a piece of an unknown block',
      events(...half, { type: 'content_block_delta', index: 9, delta: {} }),
      'provider_error_retryable/malformed',
    ],
    ['with an error in it', events(...half, overloaded), 'provider_error_retryable/server'],
    [
      'over the rate limit',
      events({ type: 'error', error: { type: 'rate_limit_error', message: '' } }),
      'provider_error_retryable/rate_limited',
    ],
  ])('a stream %s is requested again, and no part of it remains', async (_, broken, code) => {
    const server = await providerServer(broken, whole);
    const ran = await run(at(server));
    expect(server.seen).toHaveLength(2);
    expect(ran.notes).toContainEqual(expect.objectContaining({ type: 'retry', code }));
    expect((await outputOf(ran)).text).toBe('Done');
  });

  it.each([
    [529, overloaded, 'provider_error_retryable/server', 4],
    [
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: '' } },
      'provider_error_retryable/rate_limited',
      4,
    ],
    [402, { type: 'error', error: { type: 'billing_error', message: '' } }, 'provider_error_terminal/quota', 1],
    [
      413,
      { type: 'error', error: { type: 'request_too_large', message: '' } },
      'provider_error_terminal/request_too_large',
      1,
    ],
    [200, message('x' as never), 'provider_error_retryable/malformed', 4],
  ])('a status %i with the body %j gives %s after %i requests [MOD-9]', async (status, body, code, requests) => {
    const server = await providerServer(json(status, body));
    expect((await run(at(server))).outcome).toMatchObject({ code });
    expect(server.seen).toHaveLength(requests);
  });

  it('a retry waits for the requested number of milliseconds', async () => {
    const waits: number[] = [];
    const server = await providerServer(json(429, {}, { 'retry-after-ms': '1234' }), whole);
    await run(at(server, { sleep: async (ms) => void waits.push(ms) }));
    expect(waits).toEqual([1_234]);
  });

  it('an answer that nests too deep to be stored is dropped without an exception', async () => {
    const odd = { type: 'odd', deep: JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`) as Value };
    const ran = await run(at(await providerServer(json(200, message([odd, text('x')])))));
    expect(await getValue(ran.content, payloadOf(ran).warnings_ref!)).toEqual(['other_dropped']);
  });
});
