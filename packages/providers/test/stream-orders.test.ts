import { describe, expect, it } from 'vitest';
import { type AiSdkModel, aiSdk, anthropicMessages, type ModelResult } from '../src/index.js';
import { outputOf } from './answers.js';
import { run } from './harness.js';
import { callsOf, readEvents, readWhole, sumOf } from './pieces.js';
import { events, providerServer } from './provider-server.js';

const MALFORMED = 'provider_error_retryable/malformed';

const start = {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', content: [], usage: { input_tokens: 3 } },
};
const stop = [
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const blockStart = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const blockDelta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const blockStop = (index: number) => ({ type: 'content_block_stop', index });
const use = (name: string, input: object = {}) => ({ type: 'tool_use', id: `t_${name}`, name, input });
const args = (partial_json: string) => ({ type: 'input_json_delta', partial_json });
const pay = [blockStart(0, use('pay')), blockDelta(0, args('{"eur":100}')), blockStop(0)];

describe('a messages stream', () => {
  it('a messages stream that starts a second message is requested again, and calls of the first are not made [MOD-28]', async () => {
    const said = [
      blockStart(0, { type: 'text', text: '' }),
      blockDelta(0, { type: 'text_delta', text: 'Done' }),
      blockStop(0),
    ];
    const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }];
    const server = await providerServer(
      events(start, ...pay, start, ...said.map((one) => ({ ...one, index: 1 })), ...end),
      events(start, ...said, ...end),
    );
    const ran = await run(anthropicMessages('m', { ...server, sleep: async () => {} }));
    expect(server.seen).toHaveLength(2);
    expect(await outputOf(ran)).toEqual({ text: 'Done', tool_calls: [] });
    expect(ran.notes).toContainEqual({ type: 'delta.reset' });
  });

  it.each<[string, object[]]>([
    ['a second start', [start, ...pay, start, ...stop]],
    ['no start', [...pay, ...stop]],
    ['an end before its start', [...stop]],
    ['a block that starts twice', [start, ...pay, ...pay, ...stop]],
    ['a block that starts again while it is open', [start, pay[0]!, ...pay, ...stop]],
    ['a piece of a block that has ended', [start, ...pay, blockDelta(0, args('{}')), ...stop]],
    ['a piece of an unknown block', [start, blockDelta(0, args('{}')), ...stop]],
    ['a block that does not end', [start, ...pay.slice(0, 2), ...stop]],
    ['a block that ends twice', [start, ...pay, blockStop(0), ...stop]],
    ['a block after the stop reason', [start, stop[0]!, ...pay, stop[1]!]],
    [
      'arguments in a text',
      [start, blockStart(0, { type: 'text', text: '' }), blockDelta(0, args('{}')), blockStop(0), ...stop],
    ],
    ['a text in a call', [start, pay[0]!, blockDelta(0, { type: 'text_delta', text: 'x' }), blockStop(0), ...stop]],
    [
      'arguments that came before, and others',
      [start, blockStart(0, use('pay', { eur: 5 })), ...pay.slice(1), ...stop],
    ],
  ])('a messages stream with %s is malformed [MOD-28]', async (_, datas) => {
    expect(sumOf(await readEvents('anthropic-messages', ...datas))).toBe(MALFORMED);
  });

  it('a messages stream with interleaved blocks is complete, since each piece has its index', async () => {
    const get = [blockStart(3, use('get')), blockDelta(3, args('{"x"')), blockDelta(3, args(':1}')), blockStop(3)];
    const mixed = [start, pay[0]!, get[0]!, get[1]!, pay[1]!, get[2]!, pay[2]!, get[3]!, ...stop];
    expect(callsOf(await readEvents('anthropic-messages', ...mixed))).toEqual(['pay({"eur":100})', 'get({"x":1})']);
  });

  it('a messages stream with a compaction pass counts the tokens of the pass [MOD-6]', async () => {
    const iterations = [
      { type: 'compaction', input_tokens: 60_000, output_tokens: 385 },
      { type: 'message', input_tokens: 600, output_tokens: 12 },
    ];
    const usage = { input_tokens: 600, output_tokens: 12, iterations };
    const counted = { usage: { tokens_in: 60_600, tokens_out: 397 } };
    const ended = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }, { type: 'message_stop' }];
    const text = [blockStart(0, { type: 'text', text: 'x' }), blockStop(0)];
    expect(sumOf(await readEvents('anthropic-messages', start, ...text, ...ended))).toMatchObject(counted);
    const body = { type: 'message', content: [{ type: 'text', text: 'x' }], stop_reason: 'end_turn', usage };
    expect(sumOf(await readWhole('anthropic-messages', body))).toMatchObject(counted);
  });

  it('a messages stream with an unknown stop reason is a failure without text, and an answer with text [MOD-27]', async () => {
    const body = { type: 'message', content: [], stop_reason: 'compaction' };
    expect(sumOf(await readWhole('anthropic-messages', body))).toBe('provider_error_terminal/unknown_end');
    const said = { ...body, content: [{ type: 'text', text: 'x' }] };
    expect(sumOf(await readWhole('anthropic-messages', said))).toMatchObject({ text: 'x', finishReason: 'other' });
  });

  it('a messages stream that announces a tool call but names no tool is malformed', async () => {
    expect(sumOf(await readWhole('anthropic-messages', { content: [], stop_reason: 'tool_use' }))).toBe(MALFORMED);
  });
});

describe('a responses stream', () => {
  const created = { type: 'response.created', response: { id: 'r', output: [] } };
  const call = (given: string) => ({ type: 'function_call', call_id: 'c', name: 'pay', arguments: given });
  const added = (output_index: number, item: object = call('')) => ({
    type: 'response.output_item.added',
    output_index,
    item,
  });
  const done = (output_index: number, item: object = call('{"eur":5}')) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  });
  const piece = (output_index: number, delta: string) => ({
    type: 'response.function_call_arguments.delta',
    output_index,
    delta,
  });
  const allArgs = (output_index: number, given: string) => ({
    type: 'response.function_call_arguments.done',
    output_index,
    arguments: given,
  });
  const completed = (...output: object[]) => ({
    type: 'response.completed',
    response: { id: 'r', status: 'completed', output },
  });
  const message = { type: 'message', content: [{ type: 'output_text', text: 'x' }] };

  it.each<[string, object[]]>([
    ['a second start', [created, added(0), done(0), created, completed()]],
    ['an item that starts twice', [created, added(0), added(0), done(0), completed()]],
    ['an item that ends twice', [created, added(0), done(0), done(0, call('{"eur":100}')), completed()]],
    ['an item that starts after its end', [created, done(0), added(0), completed()]],
    ['an item that ends as another', [created, added(0, message), done(0), completed()]],
    ['a piece of an item that has ended', [created, added(0), done(0), piece(0, '{}'), completed()]],
    ['arguments of a message', [created, added(0, message), piece(0, '{}'), done(0, message), completed()]],
    ['other arguments in pieces', [created, added(0), piece(0, '{"eur":100}'), done(0), completed()]],
    [
      'other arguments at their end',
      [created, added(0), piece(0, '{"eur":5}'), allArgs(0, '{"eur":100}'), done(0), completed()],
    ],
    ['other arguments in the whole answer', [created, added(0), done(0), completed(call('{"eur":100}'))]],
    ['a call that does not end', [created, added(0), piece(0, '{"eur":5}'), completed()]],
    ['arguments of no item', [created, piece(7, '{"eur":100}'), added(0), done(0), completed()]],
    ['arguments without a place', [created, { ...piece(0, '{}'), output_index: undefined }, done(0), completed()]],
    ['arguments before their item', [created, piece(0, '{"eur":5}'), added(0), done(0), completed()]],
    ['other arguments of an item that was not announced', [created, piece(0, '{"eur":100}'), done(0), completed()]],
    ['whole arguments of no item', [created, allArgs(7, '{"eur":100}'), done(0), completed(call('{"eur":5}'))]],
    [
      'other arguments of a call that only the whole answer ends',
      [created, added(0), piece(0, '{"eur":100}'), completed(call('{"eur":5}'))],
    ],
    ['a call that the whole answer lost', [created, added(0), done(0), completed(message)]],
  ])('a responses stream with %s is malformed [MOD-28]', async (_, datas) => {
    expect(sumOf(await readEvents('openai-responses', ...datas))).toBe(MALFORMED);
  });

  it('a responses stream with call arguments only in pieces has the arguments', async () => {
    const datas = [created, added(0), piece(0, '{"eur"'), piece(0, ':5}'), done(0, call('')), completed()];
    expect(callsOf(await readEvents('openai-responses', ...datas))).toEqual(['pay({"eur":5})']);
  });

  it('a responses stream whose server announces no items has the calls that its pieces agree with', async () => {
    const datas = [created, piece(0, '{"eur"'), piece(0, ':5}'), allArgs(0, '{"eur":5}'), done(0), completed()];
    expect(callsOf(await readEvents('openai-responses', ...datas))).toEqual(['pay({"eur":5})']);
    const whole = [created, piece(1, '{"eur":5}'), completed(message, call('{"eur":5}'))];
    expect(callsOf(await readEvents('openai-responses', ...whole))).toEqual(['pay({"eur":5})']);
  });

  it('a responses stream is complete if its final answer formats the arguments differently and renames the call', async () => {
    const again = { ...call('{ "eur": 5 }'), call_id: 'other' };
    expect(callsOf(await readEvents('openai-responses', created, added(0), done(0), completed(again)))).toEqual([
      'pay({"eur":5})',
    ]);
  });
});

describe('a request that needs another client', () => {
  const types = [
    'mcp_approval_request',
    'custom_tool_call',
    'apply_patch_call',
    'local_shell_call',
    'shell_call',
    'computer_call',
    'tool_search_call',
  ];
  const answer = (...output: object[]) => ({ id: 'r', status: 'completed', output });
  const text = { type: 'message', content: [{ type: 'output_text', text: 'x' }] };

  it.each(types)(
    'an answer that contains %s is a failure that names it, whole, streamed, and beside a text [MOD-27]',
    async (type) => {
      const code = `provider_error_terminal/${type}`;
      const item = { type, id: 'i', call_id: 'c' };
      expect(sumOf(await readWhole('openai-responses', answer(item)))).toBe(code);
      expect(sumOf(await readWhole('openai-responses', answer(text, item)))).toBe(code);
      const streamed = [
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: answer() },
      ];
      expect(sumOf(await readEvents('openai-responses', ...streamed))).toBe(code);
    },
  );

  it('an approval request that the provider itself answered is not a failure', async () => {
    const ran = { type: 'shell_call', call_id: 'c' };
    const came = { type: 'shell_call_output', call_id: 'c' };
    expect(sumOf(await readWhole('openai-responses', answer(ran, came, text)))).toMatchObject({ text: 'x' });
    const found = { type: 'tool_search_call', execution: 'server' };
    expect(sumOf(await readWhole('openai-responses', answer(found, text)))).toMatchObject({ text: 'x' });
  });

  it('an answer with only an unknown item is a failure; a provider tool call is not', async () => {
    const fresh = { type: 'hologram_call', id: 'i' };
    expect(sumOf(await readWhole('openai-responses', answer(fresh)))).toBe('provider_error_terminal/unknown_item');
    expect(sumOf(await readWhole('openai-responses', answer(fresh, text)))).toMatchObject({ text: 'x' });
    const searched = { type: 'web_search_call', id: 'i' };
    expect(sumOf(await readWhole('openai-responses', answer(searched)))).toMatchObject({ finishReason: 'stop' });
  });
});

describe('a stream of the AI SDK', () => {
  const model = (parts: readonly object[]): AiSdkModel => ({
    specificationVersion: 'v3',
    provider: 'p',
    modelId: 'm',
    doGenerate: async () => ({
      content: parts,
      finishReason: { unified: 'tool-calls', raw: 'x' },
      usage: {},
      warnings: [],
    }),
    doStream: async () => ({ stream: ReadableStream.from(parts) }),
  });
  const asked = async (parts: readonly object[], streamed = true): Promise<ModelResult> =>
    aiSdk(model(parts), { retry: { retriesMax: 0 }, profile: { supports_streaming: streamed } }).generate(
      { system: '', messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Go' }] }], tools: [] },
      { signal: new AbortController().signal, idempotencyKey: '', progress: () => {}, secret: async () => '' },
    );
  const end = (unified = 'tool-calls') => ({ type: 'finish', finishReason: { unified, raw: unified }, usage: {} });
  const input = (id: string, ...deltas: string[]) => [
    { type: 'tool-input-start', id, toolName: 'pay' },
    ...deltas.map((delta) => ({ type: 'tool-input-delta', id, delta })),
    { type: 'tool-input-end', id },
  ];
  const call = (id: string, given = '{"eur":5}') => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'pay',
    input: given,
  });
  const text = (id: string, delta: string) => [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta },
    { type: 'text-end', id },
  ];

  it.each<[string, object[]]>([
    ['a piece of a text that did not start', [{ type: 'text-delta', id: '0', delta: 'x' }, end('stop')]],
    ['a piece of a text that has ended', [...text('0', 'x'), { type: 'text-delta', id: '0', delta: 'y' }, end('stop')]],
    ['a text that starts twice', [{ type: 'text-start', id: '0' }, ...text('0', 'x'), end('stop')]],
    ['a piece of an input that did not start', [{ type: 'tool-input-delta', id: 'a', delta: '{}' }, call('a'), end()]],
    ['an input without its call', [...input('a', '{"eur":5}'), call('b'), end()]],
    ['a call without its streamed input', [...input('a', '{"eur":5}'), call('a', '{}'), end()]],
    ['calls that were announced and did not come', [end()]],
  ])('an AI SDK stream with %s is malformed [MOD-28]', async (_, parts) => {
    expect(sumOf(await asked(parts))).toBe(MALFORMED);
  });

  it('an AI SDK stream with interleaved parts, reused ids and data after its end is read correctly', async () => {
    const [one, two] = [input('a', '{"eur"', ':5}'), input('b', '{"eur":7}')];
    const mixed = one.flatMap((part, i) => [part, ...(two[i] === undefined ? [] : [two[i]])]);
    const parts = [
      ...text('0', 'x'),
      ...text('0', 'y'),
      ...mixed,
      call('b', '{"eur":7}'),
      call('a'),
      end(),
      ...text('9', 'z'),
      call('c'),
    ];
    const result = await asked(parts);
    expect(callsOf(result)).toEqual(['pay({"eur":7})', 'pay({"eur":5})']);
    expect(sumOf(result)).toMatchObject({ text: 'xy', finishReason: 'tool_calls' });
  });

  it('an AI SDK answer that requests an approval is a failure that names it, streamed and whole [MOD-27]', async () => {
    const code = 'provider_error_terminal/tool_approval_request';
    const asks = { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' };
    expect(sumOf(await asked([asks, end()]))).toBe(code);
    expect(sumOf(await asked([asks], false))).toBe(code);
  });
});
