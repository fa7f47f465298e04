import { createHash } from 'node:crypto';
import { defineTool, putText, readLlmOutput, readText } from '@reprise/agent';
import { failureCode, isRepriseError, llmGenerateReceipt } from '@reprise/contracts';
import { getValue, putValue } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openAiCompatible, validateRequest } from '../src/index.js';
import { MARKS_RULE } from '../src/prompt/system-text.js';
import { impatient, type Ran, run, said } from './harness.js';
import { completion, cutMidBody, hang, json, providerServer, wireCall } from './provider-server.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});

function payloadOf({ outcome }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return llmGenerateReceipt.parse(outcome.payload);
}

describe('a model call that succeeds', () => {
  it('a successful call sends a valid request and stores the answer, raw and normalized [MOD-3, MOD-5]', async () => {
    const { baseUrl, seen } = await providerServer(json(200, completion({ role: 'assistant', content: 'Hi.' })));
    const ran = await run(openAiCompatible({ baseUrl, model: 'm-1', apiKey: 'k' }), {
      tools: [add],
      params: { max_tokens: 100, temperature: 0.5, tool_choice: 'add', stop_sequences: ['END'], metadata: { a: 'b' } },
    });
    const payload = payloadOf(ran);
    const request = JSON.parse(seen[0]!.body) as Record<string, unknown>;
    expect(validateRequest('openai-chat', request)).toEqual([]);
    expect(request).toEqual({
      model: 'm-1',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      temperature: 0.5,
      stop: ['END'],
      metadata: { a: 'b' },
      tools: [
        {
          type: 'function',
          function: { name: 'add', description: 'Adds two integers.', parameters: add.entry.schema },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'add' } },
      messages: [
        { role: 'system', content: `Be brief.\n\n${MARKS_RULE}` },
        { role: 'user', content: 'Hello' },
      ],
    });
    expect(seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer k', 'idempotency-key': 'e'.repeat(64), 'content-type': 'application/json' },
    });
    expect(payload.request_digest).toBe(createHash('sha256').update(seen[0]!.body).digest('hex'));
    expect(await readLlmOutput(ran.content, payload.output_ref)).toEqual({ text: 'Hi.', tool_calls: [] });
    expect(JSON.parse(await readText(ran.content, payload.raw_output_ref))).toMatchObject({ id: 'chatcmpl-1' });
    expect(payload).toMatchObject({ finish_reason: 'stop', provider_response_id: 'chatcmpl-1', tool_calls: [] });
    expect(ran.outcome).toMatchObject({ usage: { tokens_in: 12, tokens_out: 3, calls: 1 } });
  });

  it('a named tool choice is sent where the profile supports it; otherwise any tool is required, with a warning [MOD-1]', async () => {
    const asked = { tools: [add], params: { tool_choice: 'add', reasoning_effort: 'high' as const } };
    const sent = async (profile: object) => {
      const { baseUrl, seen } = await providerServer(json(200, completion({ role: 'assistant', content: 'Hi.' })));
      const ran = await run(openAiCompatible({ baseUrl, model: 'm-1', profile }), asked);
      const { warnings_ref } = payloadOf(ran);
      const warnings = warnings_ref === undefined ? [] : await getValue(ran.content, warnings_ref);
      return { request: JSON.parse(seen[0]!.body) as Record<string, unknown>, warnings };
    };
    const all = await sent({ supports_reasoning_effort: true });
    expect(all.request.tool_choice).toEqual({ type: 'function', function: { name: 'add' } });
    expect(all.request.reasoning_effort).toBe('high');
    expect(all.warnings).toEqual([]);
    const none = await sent({ supports_reasoning_effort: false, supports_tool_choice_named: false });
    expect(none.request.tool_choice).toBe('required');
    expect(none.request).not.toHaveProperty('reasoning_effort');
    expect(none.warnings).toEqual(expect.arrayContaining(['unsupported:tool_choice_named']));
    expect(none.warnings).toHaveLength(2);
  });

  it('parallel tool calls keep their order and get unique ids, and invalid calls are marked', async () => {
    const calls = [
      wireCall('c1', 'add', '{"b":2,"a":1}'),
      wireCall('c1', 'add', '{}'),
      wireCall('old', 'add', ''),
      wireCall('', 'add', '[1]'),
      wireCall('c5', 'add', '{"a":'),
      wireCall('c6', '', '{"__proto__":1}'),
      wireCall('c7', 'add', '{"n":1e999}'),
      wireCall('c8', 'x'.repeat(500), '"text"'),
    ];
    const message = { role: 'assistant', content: null, tool_calls: calls };
    const { baseUrl } = await providerServer(json(200, completion(message)));
    const ran = await run(impatient({ baseUrl, model: 'm' }), {
      tools: [add],
      items: async (content) => {
        const args_ref = await putValue(content, { a: 1, b: 1 });
        const made = [{ call_id: 'old', tool: 'add', args: { a: 1, b: 1 } }];
        return [
          said(await putText(content, 'Go')),
          {
            role: 'assistant',
            output_ref: await putValue(content, { tool_calls: made }),
            by: { profile: 'openai-compatible', model: 'm' },
            calls: [{ call_id: 'old', tool: 'add', args_ref }],
          },
          { role: 'tool', call_id: 'old', tool: 'add', output_ref: await putText(content, '2'), is_error: false },
        ];
      },
    });
    const payload = payloadOf(ran);
    expect(payload.finish_reason).toBe('tool_calls');
    expect(payload.tool_calls.map(({ call_id, issue }) => [call_id, issue])).toEqual([
      ['c1', undefined],
      ['c1_2', undefined],
      ['old_2', undefined],
      ['call_3', 'args_not_object'],
      ['c5', 'args_not_json'],
      ['c6', 'args_invalid'],
      ['c7', undefined],
      ['c8', 'args_not_object'],
    ]);
    expect(payload.tool_calls[5]?.tool).toBe('_');
    expect(payload.tool_calls[7]?.tool).toHaveLength(128);
    const args = await Promise.all(payload.tool_calls.map(({ args_ref }) => getValue(ran.content, args_ref)));
    expect(args).toEqual([{ a: 1, b: 2 }, {}, {}, '[1]', '{"a":', '{"__proto__":1}', { n: '1e999' }, '"text"']);
    const output = await readLlmOutput(ran.content, payload.output_ref);
    expect(output.tool_calls.map((call) => call.args)).toEqual(args);
    expect(await getValue(ran.content, payload.warnings_ref!)).toContain('call_id_changed');
  });

  it('equal histories give equal request bytes', async () => {
    const { baseUrl, seen } = await providerServer(json(200, completion({ content: 'x' })));
    const client = impatient({ baseUrl, model: 'm' });
    const one = payloadOf(await run(client, { tools: [add] }));
    const two = payloadOf(await run(client, { tools: [add] }));
    expect(seen[0]!.body).toBe(seen[1]!.body);
    expect(one.request_digest).toBe(two.request_digest);
  });

  it.each([
    [
      'parts in place of text',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'stop',
      'ab',
      'stop',
    ],
    ['a refusal', { content: null, refusal: 'No.' }, 'stop', 'No.', 'content_filter'],
    ['an empty answer', { content: null }, 'length', undefined, 'length'],
    ['a filtered answer', { content: '' }, 'content_filter', undefined, 'content_filter'],
    ['an unknown finish', { content: 'x' }, 'whatever', 'x', 'other'],
    [
      'calls beside a plain stop',
      { content: '', tool_calls: [wireCall('c', 'add', '{}')] },
      'stop',
      undefined,
      'tool_calls',
    ],
    ['a lone surrogate', { content: 'a\ud800b' }, 'stop', 'a\ufffdb', 'stop'],
  ])('an answer is read with %s', async (_, message, finish_reason, text, expected) => {
    const body = completion(message, { choices: [{ message, finish_reason }] });
    const { baseUrl } = await providerServer(json(200, body));
    const ran = await run(impatient({ baseUrl, model: 'm' }));
    const payload = payloadOf(ran);
    expect(payload.finish_reason).toBe(expected);
    expect((await readLlmOutput(ran.content, payload.output_ref)).text).toBe(text);
  });

  it('provider options are passed through, except those that would change recorded fields [MOD-4]', async () => {
    const { baseUrl, seen } = await providerServer(json(200, completion({ content: 'x' })));
    const client = impatient({
      baseUrl,
      model: 'm',
      profile: { provider_options_default: { seed: 7, top_p: 1, model: 'other', stream: false } },
    });
    const ran = await run(client, {
      params: { reasoning_effort: 'low' },
    });
    expect(JSON.parse(seen[0]!.body)).toMatchObject({ seed: 7, top_p: 1, model: 'm', stream: true });
    expect(await getValue(ran.content, payloadOf(ran).warnings_ref!)).toEqual([
      'provider_option_ignored:model',
      'provider_option_ignored:stream',
      'unsupported:reasoning_effort',
    ]);
  });
});

describe('a failed model call is data', () => {
  it('a retry waits as long as the provider requests, and then succeeds [MOD-8]', async () => {
    const waits: number[] = [];
    const { baseUrl, seen } = await providerServer(
      json(429, { error: { message: 'slow down' } }, { 'retry-after': '2' }),
      json(200, completion({ content: 'ok' })),
    );
    const ran = await run(impatient({ baseUrl, model: 'm', waits }));
    payloadOf(ran);
    expect(waits).toEqual([2_000]);
    expect(seen[0]!.body).toBe(seen[1]!.body);
    expect(ran.notes).toContainEqual(expect.objectContaining({ type: 'retry', wait_ms: 2_000 }));
  });

  it('a call fails at once when the provider requests an excessive wait', async () => {
    const { baseUrl, seen } = await providerServer(json(429, {}, { 'retry-after': '3600' }));
    const { outcome } = await run(impatient({ baseUrl, model: 'm' }));
    expect(outcome).toMatchObject({ code: 'provider_error_retryable/rate_limited', retryable: true });
    expect(seen).toHaveLength(1);
  });

  it('a server that keeps failing is retried a bounded number of times, with growing waits [MOD-8]', async () => {
    const waits: number[] = [];
    const { baseUrl, seen } = await providerServer(json(503, 'oops'));
    const { outcome } = await run(impatient({ baseUrl, model: 'm', waits }));
    expect(outcome).toEqual({ status: 'error', code: 'provider_error_retryable/server', retryable: true });
    expect(seen).toHaveLength(4);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
  });

  const quota = { error: { code: 'insufficient_quota', message: '' } };
  const tooLong = { error: { code: 'context_length_exceeded', message: '' } };
  it.each([
    [400, {}, 'provider_error_terminal/bad_request', 1],
    [400, tooLong, 'provider_error_terminal/context_limit', 1],
    [400, { error: 'maximum context length is 8192' }, 'provider_error_terminal/context_limit', 1],
    [401, { error: { message: 'bad key' } }, 'provider_error_terminal/auth', 1],
    [403, '', 'provider_error_terminal/auth', 1],
    [404, {}, 'provider_error_terminal/not_found', 1],
    [408, {}, 'provider_error_retryable/request_timeout', 4],
    [409, {}, 'provider_error_retryable/conflict', 4],
    [418, {}, 'provider_error_terminal/bad_request', 1],
    [429, quota, 'provider_error_terminal/quota', 1],
    [302, '', 'provider_error_terminal/redirected', 1],
    [500, { error: { message: 'context window' } }, 'provider_error_retryable/server', 4],
    [200, '{"id":', 'provider_error_retryable/malformed', 4],
    [200, '', 'provider_error_retryable/malformed', 4],
    [200, '[]', 'provider_error_retryable/malformed', 4],
    [200, { choices: [] }, 'provider_error_retryable/malformed', 4],
    [200, { error: { code: 429, message: 'busy' } }, 'provider_error_retryable/rate_limited', 4],
    [200, { error: { message: 'upstream' } }, 'provider_error_retryable/server', 4],
  ])('a status %i with the body %j gives %s after %i requests [MOD-9]', async (status, body, code, requests) => {
    const { baseUrl, seen } = await providerServer(json(status, body));
    const { outcome } = await run(impatient({ baseUrl, model: 'm' }));
    expect(outcome).toEqual({ status: 'error', code, retryable: code.includes('retryable') });
    expect(failureCode.safeParse(code).success).toBe(true);
    expect(seen).toHaveLength(requests);
  });

  it('a connection that breaks during an answer is retried', async () => {
    const { baseUrl, seen } = await providerServer(cutMidBody, json(200, completion({ content: 'ok' })));
    payloadOf(await run(impatient({ baseUrl, model: 'm' })));
    expect(seen).toHaveLength(2);
    const gone = await providerServer(cutMidBody);
    expect((await run(impatient({ ...gone, model: 'm' }))).outcome).toMatchObject({
      code: 'provider_error_retryable/network',
    });
  });

  it('a refused connection is retryable', async () => {
    const { outcome } = await run(impatient({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm' }));
    expect(outcome).toMatchObject({ code: 'provider_error_retryable/network', retryable: true });
  });

  it('a model that does not answer in time is a timeout without a retry', async () => {
    const { baseUrl, seen } = await providerServer(hang);
    const { outcome } = await run(impatient({ baseUrl, model: 'm', timeoutMs: 500 }));
    expect(outcome).toEqual({ status: 'timeout', code: 'adapter_timeout' });
    expect(seen).toHaveLength(1);
  });

  it('an abort stops the call before the request, during it, and during a wait', async () => {
    const { baseUrl } = await providerServer(hang);
    const aborting = (afterMs: number) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), afterMs);
      return { context: { signal: controller.signal } };
    };
    const client = openAiCompatible({ baseUrl, model: 'm' });
    expect((await run(client, { context: { signal: AbortSignal.abort() } })).outcome).toEqual({ status: 'cancelled' });
    expect((await run(client, aborting(30))).outcome).toEqual({ status: 'cancelled' });
    const busy = await providerServer(json(429, {}, { 'retry-after': '20' }));
    const started = performance.now();
    expect((await run(openAiCompatible({ ...busy, model: 'm' }), aborting(60))).outcome).toEqual({
      status: 'cancelled',
    });
    expect(performance.now() - started).toBeLessThan(20_000); // before the wait would have ended
  });

  it('a secret that is empty when it is asked for is terminal, and nothing is sent [MOD-34]', async () => {
    const { baseUrl, seen } = await providerServer(json(200, completion({ content: 'x' })));
    const client = impatient({ baseUrl, model: 'm', apiKey: { secret: 'EMPTY' } });
    const { outcome } = await run(client, { context: { secret: async () => '' } });
    expect(outcome).toMatchObject({ code: 'provider_error_terminal/credentials_missing' });
    expect(seen).toHaveLength(0);
  });

  it('an unknown alias, a missing secret and a secret that cannot be a header are terminal', async () => {
    const { baseUrl, seen } = await providerServer(json(200, completion({ content: 'x' })));
    const client = impatient({ baseUrl, model: 'm', apiKey: { secret: 'absent' } });
    expect((await run(client, { params: { model: 'toString' } })).outcome).toMatchObject({
      code: 'provider_error_terminal/unknown_model',
    });
    expect((await run(client)).outcome).toMatchObject({ code: 'provider_error_terminal/credentials_missing' });
    const odd = impatient({ baseUrl, model: 'm', apiKey: { secret: 'odd' } });
    expect((await run(odd, { context: { secret: async () => 'two\nlines' } })).outcome).toMatchObject({
      code: 'provider_error_terminal/credentials_missing',
    });
    expect(() => impatient({ baseUrl, model: 'm', apiKey: 'two\nlines' })).toThrow(
      'a character that no header can carry',
    );
    expect(seen).toHaveLength(0);
  });

  it('an invalid address is refused before anything is sent', () => {
    for (const baseUrl of ['', 'localhost:1234', 'ftp://x/v1', 'https://user:pass@host/v1']) {
      expect(() => openAiCompatible({ baseUrl, model: 'm' })).toThrow(
        expect.toSatisfy((error) => isRepriseError(error, 'invalid_argument') && !String(error).includes('pass@')),
      );
    }
  });
});

describe('a secret', () => {
  const KEY = 'sk-test-0123456789abcdef/+=';

  it('a secret reaches the provider and no blob, receipt or progress note, even when the provider echoes it [CON-16]', async () => {
    const echo = [KEY, Buffer.from(KEY).toString('base64'), encodeURIComponent(KEY)].join(' ');
    const message = { content: `you sent ${echo}`, tool_calls: [wireCall(KEY, KEY, JSON.stringify({ key: echo }))] };
    const { baseUrl, seen } = await providerServer(
      json(500, { error: { message: `failed with ${echo}` } }),
      json(200, completion(message, { id: KEY })),
    );
    const client = impatient({
      baseUrl,
      model: 'm',
      apiKey: { secret: 'KEY' },
      headers: { 'x-gateway': { secret: 'KEY' } },
    });
    const ran = await run(client, { context: { secret: async (name) => (name === 'KEY' ? KEY : '') } });
    payloadOf(ran);
    expect(seen[1]!.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-gateway': KEY });
    const kept = [JSON.stringify(ran.outcome), JSON.stringify(ran.notes)];
    for await (const link of ran.content.list()) {
      kept.push(Buffer.from((await ran.content.get(link))!).toString('latin1'));
    }
    expect(kept.length).toBeGreaterThan(5);
    for (const form of [KEY, Buffer.from(KEY).toString('base64').replace(/=+$/, ''), encodeURIComponent(KEY)]) {
      for (const text of kept) expect(text).not.toContain(form);
    }
  });

  it('a key that is an ordinary word does not change the answer', async () => {
    const { baseUrl } = await providerServer(json(200, completion({ content: 'No model here, said ollama.' })));
    const ran = await run(impatient({ baseUrl, model: 'm', apiKey: 'ollama' }));
    expect((await readLlmOutput(ran.content, payloadOf(ran).output_ref)).text).toBe('No model here, said ollama.');
  });
});
