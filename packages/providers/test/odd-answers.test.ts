import { describe, expect, it } from 'vitest';
import { type AiSdkModel, aiSdk, type ModelClient, type ModelResult, openAiCompatible } from '../src/index.js';
import type { RepeatedCalls } from '../src/model/profile-options.js';
import {
  BYTE_FORMATS,
  type ByteFormat,
  callsOf,
  jsonBytes,
  readEvents,
  readPieces,
  readWhole,
  sse,
  sumOf,
} from './pieces.js';
import { chunk, completion, ending, wireCall } from './provider-server.js';

const MALFORMED = 'provider_error_retryable/malformed';

const start = { type: 'message_start', message: { id: 'm', type: 'message', content: [], usage: { input_tokens: 1 } } };
const end = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
const use = (...pieces: unknown[]) => [
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'act', input: {} } },
  ...pieces.map((partial_json) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index: 0 },
];
const completed = (output: unknown[], over: object = {}) => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output, ...over },
});
const shown = (delta: string) => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta });
const message = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
const piece = (over: object, index = 0) => chunk({ tool_calls: [{ index, ...over }] });
const act = (args: unknown, id = 'a') => ({ id, type: 'function', function: { name: 'act', arguments: args } });
const said = (result: ModelResult) =>
  result.ok ? { text: result.response.text, warnings: result.response.warnings } : sumOf(result);

/** A model of the AI SDK that answers with these parts. */
function sdkModel(...parts: readonly unknown[]): AiSdkModel {
  const left = [...parts];
  const stream = new ReadableStream({
    pull: (controller) => (left.length === 0 ? controller.close() : controller.enqueue(left.shift())),
  });
  const whole = {
    content: parts.filter((part) => (part as { type: string }).type === 'tool-call'),
    finishReason: 'other',
  };
  const model = { specificationVersion: 'v3', provider: 'p', modelId: 'm' };
  return { ...model, doStream: async () => ({ stream }), doGenerate: async () => whole } as unknown as AiSdkModel;
}

function ask(client: ModelClient): Promise<ModelResult> {
  const request = {
    system: '',
    messages: [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'Go' }] }],
    tools: [],
  };
  const context = {
    signal: new AbortController().signal,
    idempotencyKey: '',
    progress: () => {},
    secret: async () => '',
  };
  return client.generate(request, context);
}

const ONCE = { retry: { retriesMax: 0 } };

describe('an answer that holds nothing', () => {
  it.each<[string, ByteFormat, unknown[]]>([
    ['an end mark alone', 'openai-chat', ['[DONE]']],
    ['chunks without choices', 'openai-chat', [{ id: 'c', choices: [] }, { id: 'c' }, '[DONE]']],
    ['a role and no more', 'openai-chat', [chunk({ role: 'assistant', content: '' }), '[DONE]']],
    ['reasoning and no more', 'openai-chat', [chunk({ reasoning_content: 'hm' }), '[DONE]']],
    ['a start and an end', 'anthropic-messages', [start, { type: 'message_stop' }]],
    ['an end without output', 'openai-responses', [completed([])]],
    ['an end without a status', 'openai-responses', [completed([], { status: undefined })]],
  ])('a stream of %s is a failed attempt with a reason, in %s [MOD-38]', async (_, format, events) => {
    const result = await readEvents(format, ...events);
    expect(sumOf(result)).toBe(MALFORMED);
    expect(String((result as { error?: unknown }).error)).toContain('no text, no call and no reason');
  });

  it.each<[ByteFormat, unknown]>([
    ['openai-chat', completion({ role: 'assistant', content: '' }, { choices: [{ message: { content: '' } }] })],
    ['anthropic-messages', { type: 'message', content: [] }],
    ['openai-responses', { status: 'completed', output: [] }],
  ])('a whole answer in %s without content, calls and a reason is a failed attempt [MOD-38]', async (format, body) => {
    expect(sumOf(await readWhole(format, body))).toBe(MALFORMED);
  });

  it('an answer of the AI SDK without content and a reason is a failed attempt, streamed and whole [MOD-38]', async () => {
    const parts = [
      { type: 'stream-start', warnings: [] },
      { type: 'finish', finishReason: 'unknown', usage: {} },
    ];
    expect(sumOf(await ask(aiSdk(sdkModel(...parts), ONCE)))).toMatch(/^provider_error_retryable/);
    const whole = aiSdk(sdkModel(...parts), { ...ONCE, profile: { supports_streaming: false } });
    expect(sumOf(await ask(whole))).toBe(MALFORMED);
  });

  it.each<[ByteFormat, unknown[]]>([
    ['openai-chat', [chunk({ content: '' }), ending(), '[DONE]']],
    ['anthropic-messages', [start, ...end('end_turn')]],
    ['openai-responses', [completed([message('')])]],
  ])('an answer in %s that ends with a reason and says nothing is an answer [MOD-38]', async (format, events) => {
    expect(await readEvents(format, ...events)).toMatchObject({ ok: true, response: { finishReason: 'stop' } });
  });
});

describe('an error in the place of an answer', () => {
  it.each<[string, ByteFormat, unknown, string]>([
    [
      'an object that calls itself an error',
      'openai-chat',
      { object: 'error', message: 'is too long', code: 400 },
      'is too long',
    ],
    ['a detail', 'openai-chat', { id: 'c', detail: 'slow down' }, 'slow down'],
    ['a list of details', 'openai-chat', { detail: [{ type: 'value_error', msg: 'bad field' }] }, 'bad field'],
    ['a list of errors', 'anthropic-messages', { errors: [{ message: 'no capacity' }] }, 'no capacity'],
    [
      'a choice with an error',
      'openai-chat',
      { choices: [{ index: 0, error: { message: 'upstream', code: 502 } }] },
      'upstream',
    ],
    ['a message with a code', 'openai-responses', { code: 'server_error', message: 'broken' }, 'broken'],
  ])('%s fails the attempt with its message, streamed and whole, in %s [MOD-39]', async (_, format, error, words) => {
    for (const result of [await readEvents(format, error, '[DONE]'), await readWhole(format, error)]) {
      expect(result.ok).toBe(false);
      expect(String((result as { error?: unknown }).error)).toContain(words);
    }
  });

  it('a malformed answer says in words what is wrong with it [MOD-39]', async () => {
    const reasons: [ByteFormat, unknown[], RegExp][] = [
      ['anthropic-messages', [start, start], /a second message starts/],
      ['anthropic-messages', [start, { type: 'content_block_stop', index: 0 }], /a block ends that is not open/],
      ['openai-chat', ['{"a":'], /an event is not JSON/],
      ['openai-chat', [piece({ function: { arguments: '{}' } }), ending()], /not clear to which call/],
      ['openai-responses', [shown('one'), completed([message('two')])], /streamed is not the text of the answer/],
    ];
    for (const [format, events, words] of reasons) {
      const result = await readEvents(format, ...events);
      expect([sumOf(result), String((result as { error?: unknown }).error)]).toEqual([
        MALFORMED,
        expect.stringMatching(words),
      ]);
    }
  });
});

describe('what was shown and what is final', () => {
  it('the streamed text is the answer when the end repeats no output [MOD-40]', async () => {
    const { result, notes } = await readPieces('openai-responses', [sse(shown('Hel'), shown('lo'), completed([]))]);
    expect(said(result)).toEqual({ text: 'Hello', warnings: ['text_only_streamed'] });
    expect(notes.filter((note) => (note as { type: string }).type === 'delta')).toHaveLength(2);
  });

  it('the rest of a text that was not streamed is shown at the end [MOD-40]', async () => {
    const { result, notes } = await readPieces('openai-responses', [sse(shown('Hel'), completed([message('Hello')]))]);
    expect(said(result)).toEqual({ text: 'Hello', warnings: ['text_not_streamed'] });
    expect(notes.at(-1)).toMatchObject({ type: 'delta', text: 'lo' });
  });

  it('a final text that is not the one that was shown makes the attempt malformed [MOD-40]', async () => {
    expect(sumOf(await readEvents('openai-responses', shown('Pay 1'), completed([message('Pay 2')])))).toBe(MALFORMED);
    const repeated = { choices: [{ index: 0, message: { content: 'other' }, finish_reason: 'stop' }] };
    expect(sumOf(await readEvents('openai-chat', chunk({ content: 'one' }), repeated))).toBe(MALFORMED);
  });

  it('a call of the AI SDK with another input than the one that was streamed is malformed [MOD-40]', async () => {
    const parts = (input: string) => [
      { type: 'tool-input-start', id: 'a', toolName: 'act' },
      { type: 'tool-input-delta', id: 'a', delta: '{"n":9007199254740993}' },
      { type: 'tool-input-end', id: 'a' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'act', input },
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_use' }, usage: {} },
    ];
    expect(callsOf(await ask(aiSdk(sdkModel(...parts('{"n":9007199254740992}')), ONCE)))).toBe(MALFORMED);
    expect(callsOf(await ask(aiSdk(sdkModel(...parts('{ "n": 9007199254740993 }')), ONCE)))).toEqual([
      'act({"n":"9007199254740993"})',
    ]);
  });
});

describe('odd forms with one reading', () => {
  it.each<[string, ByteFormat, unknown[]]>([
    ['empty data', 'openai-chat', ['', chunk({ content: 'h' }), ' ', 'null', chunk({ content: 'i' }), ending()]],
    [
      'empty data',
      'anthropic-messages',
      [
        start,
        '',
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hi' } },
        { type: 'content_block_stop', index: 0 },
        ...end('end_turn'),
      ],
    ],
    ['empty data', 'openai-responses', [shown('hi'), '', completed([message('hi')])]],
  ])('events with %s are ignored with a warning, in %s [MOD-41]', async (_, format, events) => {
    expect(said(await readEvents(format, ...events))).toEqual({ text: 'hi', warnings: ['empty_event'] });
  });

  it.each(['text/plain; charset=utf-8', 'application/json', ''])(
    'a stream of events under the type "%s" is read as what it is [MOD-41]',
    async (type) => {
      const bytes = sse(chunk({ content: 'hi' }), ending(), '[DONE]');
      for (const pieces of [[bytes], [...bytes].map((byte) => new Uint8Array([byte]))]) {
        const { result } = await readPieces('openai-chat', pieces, type as 'application/json');
        expect(said(result)).toEqual({ text: 'hi', warnings: [`content_type:${type || 'none'}`] });
      }
    },
  );

  it('a whole answer under the type of event streams is read as what it is [MOD-41]', async () => {
    const { result } = await readPieces('openai-chat', [jsonBytes(completion({ content: 'hi' }))], 'text/event-stream');
    expect(said(result)).toEqual({ text: 'hi', warnings: ['content_type:text/event-stream'] });
  });

  it('a message that comes whole in a stream is the answer [MOD-41]', async () => {
    const whole = { choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] };
    expect(said(await readEvents('openai-chat', whole))).toEqual({ text: 'hi', warnings: ['message_without_delta'] });
    const atStart = { type: 'message_start', message: { id: 'm', content: [{ type: 'text', text: 'hi' }] } };
    expect(said(await readEvents('anthropic-messages', atStart, ...end('end_turn')))).toEqual({
      text: 'hi',
      warnings: ['content_at_start'],
    });
  });

  it('arguments under the next number belong to the only open call [MOD-41]', async () => {
    const result = await readEvents(
      'openai-chat',
      piece(act('')),
      piece({ function: { arguments: '{"c"' } }, 1),
      piece({ function: { arguments: ':1}' } }, 1),
      ending('tool_calls'),
    );
    expect(callsOf(result)).toEqual(['act({"c":1})']);
    expect(result).toMatchObject({ response: { warnings: ['arguments_under_next_index'] } });
  });

  it.each([
    ['null', '{}', 'no_arguments'],
    ['""', '{}', 'no_arguments'],
    ['{}{"c":1}', '{"c":1}', 'object_repeated'],
    ['{"c":1}{"c": 1}', '{"c":1}', 'object_repeated'],
    ['"{\\"c\\":1}"', '{"c":1}', 'encoded_again'],
    ['{"c":1}</tool_call>', '{"c":1}', 'marks_around'],
    ['```json\n{"c":1}\n```', '{"c":1}', 'marks_around'],
    ['<|tool|>{"c":1}<|im_end|>', '{"c":1}', 'marks_around'],
    ['{"c":"a\nb"}', '{"c":"a\\nb"}', 'control_characters'],
  ])('the arguments %j are read as the one object in them [MOD-41]', async (args, read, how) => {
    const result = await readEvents('openai-chat', piece(act(args)), ending('tool_calls'));
    expect(callsOf(result)).toEqual([`act(${read})`]);
    expect(result).toMatchObject({ response: { warnings: [`tool_args_read:${how}`] } });
  });

  it.each([
    '{"c":1}{"c":2}',
    '{"c":1',
    '{"c":1}}',
    'c=1',
    'Use {"c":1}',
    '{"c":1,}',
    '{"c":1}{"c":2',
    '{"a":1}{"b":[1}',
  ])('the arguments %j have no one reading, and the call is refused [MOD-41]', async (args) => {
    expect(callsOf(await readEvents('openai-chat', piece(act(args)), ending('tool_calls')))).toEqual([
      `act(${JSON.stringify(args)})args_not_json`,
    ]);
  });

  it('arguments that are JSON without a stored form are invalid in words, and are not called no JSON [MOD-39]', async () => {
    for (const args of ['{"a":"\\ud800"}', '{"__proto__":1}', `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`]) {
      const result = await readEvents('openai-chat', piece(act(args)), ending('tool_calls'));
      expect(result).toMatchObject({
        response: { calls: [{ issue: 'args_invalid', problem: expect.stringMatching(/^- ./), args }] },
      });
    }
  });

  it.each<[string, object]>([
    ['a number', { index: true, function: { arguments: '}' } }],
    ['an id', { index: 0, id: 7, function: { arguments: '}' } }],
    ['arguments', { index: 0, function: { arguments: 2 ** 53 } }],
    ['a function', { index: 0, function: '}' }],
  ])('a piece of a call with %s that cannot be read makes the stream malformed [MOD-28]', async (_, odd) => {
    expect(
      callsOf(await readEvents('openai-chat', piece(act('{')), chunk({ tool_calls: [odd] }), ending('tool_calls'))),
    ).toBe(MALFORMED);
  });

  it('a piece without its text makes a messages stream malformed [MOD-28]', async () => {
    for (const odd of [null, 1, undefined, {}]) {
      expect(
        callsOf(await readEvents('anthropic-messages', start, ...use('{"a":', odd, '1}'), ...end('tool_use'))),
      ).toBe(MALFORMED);
    }
  });
});

describe('numbers of arguments', () => {
  const ID = '2512292042121000001';
  it.each<[string, () => Promise<ModelResult>]>([
    ['a chat stream', () => readEvents('openai-chat', piece(act(`{"id":${ID}}`)), ending('tool_calls'))],
    [
      'a chat stream with an object',
      () =>
        readEvents(
          'openai-chat',
          `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"act","arguments":{"id":${ID}}}}]},"finish_reason":"tool_calls"}]}`,
        ),
    ],
    [
      'a whole chat answer',
      () => readWhole('openai-chat', completion({ tool_calls: [wireCall('a', 'act', `{"id":${ID}}`)] })),
    ],
    [
      'a messages stream',
      () => readEvents('anthropic-messages', start, ...use('{"id":25122920421', '21000001}'), ...end('tool_use')),
    ],
    [
      'a whole message',
      async () =>
        (
          await readPieces(
            'anthropic-messages',
            [
              new TextEncoder().encode(
                `{"type":"message","stop_reason":"tool_use","content":[{"type":"tool_use","id":"a","name":"act","input":{"id":${ID}}}]}`,
              ),
            ],
            'application/json',
          )
        ).result,
    ],
    [
      'a responses stream',
      () =>
        readEvents(
          'openai-responses',
          completed([{ type: 'function_call', call_id: 'a', name: 'act', arguments: `{"id":${ID}}` }]),
        ),
    ],
    [
      'the AI SDK',
      () =>
        ask(
          aiSdk(
            sdkModel(
              { type: 'tool-call', toolCallId: 'a', toolName: 'act', input: `{"id":${ID}}` },
              { type: 'finish', finishReason: { unified: 'tool-calls' } },
            ),
            ONCE,
          ),
        ),
    ],
  ])('a large number in the arguments of %s keeps its digits and its place [MOD-42]', async (_, read) => {
    expect(await read()).toMatchObject({
      response: { calls: [{ args: { id: ID }, largeNumbers: { count: 1, large: [{ path: ['id'], digits: ID }] } }] },
    });
  });

  it('a number that a library has rounded already is refused, not passed on [MOD-42]', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'act', input: { id: 2 ** 61 } };
    const result = await ask(aiSdk(sdkModel(call, { type: 'finish', finishReason: { unified: 'tool-calls' } }), ONCE));
    expect(result).toMatchObject({
      response: { calls: [{ issue: 'args_invalid', problem: expect.stringContaining('rounded') }] },
    });
  });

  it('a large number in arguments is kept as text, with a warning [MOD-43]', async () => {
    const result = await readWhole('openai-chat', completion({ tool_calls: [wireCall('a', 'act', `{"id":${ID}}`)] }));
    expect(result).toMatchObject({ response: { calls: [{ args: { id: ID } }], warnings: ['large_numbers_as_text'] } });
  });

  it('a large number in an item of the provider is kept as text, with a warning [MOD-43]', async () => {
    const item = `{"type":"web_search_call","id":"w","n":${ID}}`;
    const result = await readEvents(
      'openai-responses',
      `{"type":"response.completed","response":{"status":"completed","output":[${item},${JSON.stringify(message('hi'))}]}}`,
    );
    expect(result).toMatchObject({
      response: { opaque: [{ native: { n: ID } }], warnings: expect.arrayContaining(['large_numbers_as_text']) },
    });
  });
});

describe('an event that its name calls an error', () => {
  it.each([
    ['an object', '{"message":"the model is gone"}'],
    ['an object with a code', '{"code":500,"message":"the model is gone"}'],
    ['words', 'the model is gone'],
    ['a JSON text', '"the model is gone"'],
    ['an error of the format', '{"error":{"message":"the model is gone"}}'],
  ])('%s behind content fails the attempt with its words, in each format [MOD-45]', async (_what, data) => {
    const begun = {
      'openai-chat': chunk({ content: 'part' }),
      'openai-responses': shown('part'),
      'anthropic-messages': start,
    };
    for (const format of BYTE_FORMATS) {
      const text = `data: ${JSON.stringify(begun[format])}\n\nevent: error\ndata: ${data}\n\n`;
      const { result } = await readPieces(format, [new TextEncoder().encode(text)]);
      expect([format, result.ok, String(!result.ok && result.error)]).toEqual([
        format,
        false,
        expect.stringContaining('the model is gone'),
      ]);
    }
  });
});

describe('a call that comes twice in one answer', () => {
  const twice = completion({
    tool_calls: [wireCall('a', 'act', '{"c":1}'), wireCall('a', 'act', '{"c": 1}'), wireCall('a', 'act', '{"c":2}')],
  });
  const read = async (repeatedCalls?: RepeatedCalls) => {
    const fetch = async () => new Response(JSON.stringify(twice), { headers: { 'content-type': 'application/json' } });
    const options = repeatedCalls === undefined ? {} : { repeatedCalls };
    return ask(openAiCompatible({ model: 'm', baseUrl: 'http://provider.test/v1', fetch, ...ONCE, ...options }));
  };

  it('an equal call under one id is made once, and the receipt warns [MOD-44]', async () => {
    const result = await read();
    expect(callsOf(result)).toEqual(['act({"c":1})', 'act({"c":2})']);
    expect(result).toMatchObject({
      response: { warnings: ['call_repeated:act', 'call_id_repeated:act', 'call_id_changed'] },
    });
  });

  it('a client may make each of the calls, or request the answer again [MOD-44]', async () => {
    expect(callsOf(await read('each'))).toEqual(['act({"c":1})', 'act({"c":1})', 'act({"c":2})']);
    expect(callsOf(await read('fail'))).toBe(MALFORMED);
    await expect(read('twice' as never)).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(() => aiSdk(sdkModel(), { repeatedCalls: 'twice' as never })).toThrow('repeatedCalls');
  });

  it('equal calls of the AI SDK under one id are made once [MOD-44]', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'act', input: '{"c":1}' };
    const parts = [call, call, { type: 'finish', finishReason: { unified: 'tool-calls' } }];
    expect(callsOf(await ask(aiSdk(sdkModel(...parts), ONCE)))).toEqual(['act({"c":1})']);
    expect(callsOf(await ask(aiSdk(sdkModel(...parts), { ...ONCE, repeatedCalls: 'each' })))).toHaveLength(2);
  });
});
