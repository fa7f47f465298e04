import { describe, expect, it } from 'vitest';
import { callsOf, readEvents, readWhole, sumOf } from './pieces.js';
import { chunk, completion, ending } from './provider-server.js';

const MALFORMED = 'provider_error_retryable/malformed';

/** A piece of a call: its number, id, name and arguments; `_` means absent. */
type Piece = readonly [index: number | null | '_', id: string | '_', name: string | '_', args: string | '_'];

function wire([index, id, name, args]: Piece): object {
  const fn = { ...(name === '_' ? {} : { name }), ...(args === '_' ? {} : { arguments: args }) };
  return {
    ...(index === '_' ? {} : { index }),
    ...(id === '_' ? {} : { id, type: 'function' }),
    ...(Object.keys(fn).length === 0 ? {} : { function: fn }),
  };
}

const read = async (...pieces: readonly Piece[]) =>
  callsOf(
    await readEvents(
      'openai-chat',
      ...pieces.map((piece) => chunk({ tool_calls: [wire(piece)] })),
      ending('tool_calls'),
      '[DONE]',
    ),
  );

describe('calls of a streamed chat answer', () => {
  it.each<[string, Piece[], string[]]>([
    [
      'numbers that start at one',
      [
        [1, 'a', 'pay', ''],
        [1, '_', '_', '{"eur":5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'numbers with a gap, the later one first',
      [
        [7, 'b', 'pay', ''],
        [2, 'a', 'get', ''],
        [2, '_', '_', '{"x":1}'],
        [7, '_', '_', '{"eur":5}'],
      ],
      ['pay({"eur":5})', 'get({"x":1})'],
    ],
    [
      'no number',
      [
        ['_', 'a', 'pay', '{"eur"'],
        ['_', '_', '_', ':5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'a number that is null',
      [
        [null, 'a', 'pay', '{"eur"'],
        [null, '_', '_', ':5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'an id in each piece',
      [
        [0, 'a', 'pay', '{"eur"'],
        [0, 'a', '_', ':5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'a new id in each piece',
      [
        [0, 'a', 'pay', ''],
        [0, 'b', '_', '{"eur"'],
        [0, 'c', '_', ':5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'no id',
      [
        [0, '_', 'pay', '{"eur"'],
        [0, '_', '_', ':5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'an id that comes late',
      [
        [0, '_', 'pay', '{"eur"'],
        [0, 'a', '_', ':5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'the name in each piece',
      [
        [0, 'a', 'pay', ''],
        [0, 'a', 'pay', '{"eur"'],
        [0, '_', 'pay', ':5}'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'the name in two pieces',
      [
        [0, 'a', 'read_', ''],
        [0, '_', 'file', ''],
        [0, '_', '_', '{}'],
      ],
      ['read_file({})'],
    ],
    [
      'the name after the arguments',
      [
        [0, 'a', '_', '{"eur":5}'],
        [0, '_', 'pay', '_'],
      ],
      ['pay({"eur":5})'],
    ],
    [
      'ids alone, interleaved',
      [
        ['_', 'a', 'pay', '{"eur"'],
        ['_', 'b', 'get', '{"x"'],
        ['_', 'a', '_', ':5}'],
        ['_', 'b', '_', ':1}'],
      ],
      ['pay({"eur":5})', 'get({"x":1})'],
    ],
    [
      'numbers alone, interleaved',
      [
        [0, '_', 'pay', '{"eur"'],
        [1, '_', 'get', '{"x"'],
        [0, '_', '_', ':5}'],
        [1, '_', '_', ':1}'],
      ],
      ['pay({"eur":5})', 'get({"x":1})'],
    ],
    [
      'the number 0 for each whole call',
      [
        [0, 'a', 'pay', '{"eur":5}'],
        [0, 'b', 'pay', '{"eur":7}'],
        [0, 'c', 'get', '{}'],
      ],
      ['pay({"eur":5})', 'pay({"eur":7})', 'get({})'],
    ],
    [
      'the number 0 for each whole call without an id',
      [
        [0, '_', 'pay', '{"eur":5}'],
        [0, '_', 'get', '{"x":1}'],
      ],
      ['pay({"eur":5})', 'get({"x":1})'],
    ],
    [
      'no mark for each whole call',
      [
        ['_', '_', 'pay', '{"eur":5}'],
        ['_', '_', 'pay', '{"eur":7}'],
      ],
      ['pay({"eur":5})', 'pay({"eur":7})'],
    ],
    [
      'the same id for two numbers',
      [
        [0, 'a', 'pay', '{"eur":5}'],
        [1, 'a', 'get', '{}'],
      ],
      ['pay({"eur":5})', 'get({})'],
    ],
    [
      'an empty piece before all',
      [
        [0, '_', '_', '_'],
        [0, 'a', 'pay', '{}'],
      ],
      ['pay({})'],
    ],
    ['arguments that are data', [[0, 'a', 'pay', { eur: 5 } as never]], ['pay({"eur":5})']],
    [
      'arguments that continue after their end',
      [
        [0, 'a', 'pay', '{}'],
        [0, '_', '_', '}'],
      ],
      ['pay("{}}")args_not_json'],
    ],
  ])('a stream is complete when its calls have %s [MOD-28]', async (_, pieces, calls) => {
    expect(await read(...pieces)).toEqual(calls);
  });

  it.each<[string, Piece[]]>([
    [
      'arguments under a number that no call has, after arguments',
      [
        [0, 'a', 'read_file', '{}'],
        [1, '_', '_', '{"eur":100}'],
      ],
    ],
    [
      'arguments under a number that no call has, beside two open calls',
      [
        [0, 'a', 'read_file', ''],
        [1, 'b', 'pay', ''],
        [2, '_', '_', '{"eur":100}'],
      ],
    ],
    [
      'arguments under a number that is not the next one',
      [
        [0, 'a', 'read_file', ''],
        [2, '_', '_', '{"eur":100}'],
      ],
    ],
    ['arguments before any call', [[0, '_', '_', '{"eur":100}']]],
    [
      'arguments without a mark beside two open calls',
      [
        ['_', 'a', 'pay', ''],
        ['_', 'b', 'get', ''],
        ['_', '_', '_', '{"eur":100}'],
      ],
    ],
    [
      'an id that no call has, and no name',
      [
        ['_', 'a', 'pay', ''],
        ['_', 'b', '_', '{"eur":100}'],
      ],
    ],
    [
      'a number and an id of two calls',
      [
        [0, 'a', 'pay', ''],
        [1, 'b', 'get', ''],
        [0, 'b', '_', '{"eur":100}'],
      ],
    ],
    ['no name in the end', [[0, 'a', '_', '{}']]],
    [
      'one number for two calls of which one has no arguments',
      [
        [0, 'a', 'pay', ''],
        [0, 'b', 'pay', '{"eur":100}'],
      ],
    ],
    [
      'one number for two calls and a piece of neither',
      [
        [0, 'a', 'pay', '{'],
        [0, 'b', 'pay', '{'],
        [0, '_', '_', '}'],
      ],
    ],
    [
      'other arguments after empty ones',
      [
        [0, '_', 'pay', '{}'],
        [0, '_', 'pay', '{"eur":100}'],
      ],
    ],
    [
      'other arguments after complete ones under one id',
      [
        [0, 'a', 'pay', '{"eur":5}'],
        [0, 'a', 'pay', '{"eur":100}'],
      ],
    ],
    [
      'another name without a mark',
      [
        ['_', '_', 'pay', ''],
        ['_', '_', 'get', '{}'],
      ],
    ],
  ])('a stream is malformed when its calls have %s [MOD-28]', async (_, pieces) => {
    expect(await read(...pieces)).toBe(MALFORMED);
  });

  it('a call in the older form for a single call is read, streamed and whole', async () => {
    const pieces = [{ name: 'pay', arguments: '{"eur"' }, { arguments: ':5}' }];
    const streamed = pieces.map((function_call) => chunk({ function_call }));
    expect(callsOf(await readEvents('openai-chat', ...streamed, ending('function_call'), '[DONE]'))).toEqual([
      'pay({"eur":5})',
    ]);
    const function_call = { name: 'pay', arguments: '{"eur":5}' };
    expect(callsOf(await readWhole('openai-chat', completion({ content: null, function_call })))).toEqual([
      'pay({"eur":5})',
    ]);
  });

  it('a stream that another server restarted is malformed [MOD-28]', async () => {
    const call = (id: string, at: string) =>
      chunk(
        { role: 'assistant', tool_calls: [{ index: 0, id: at, function: { name: 'pay', arguments: '{"eur":5}' } }] },
        { id },
      );
    const result = await readEvents(
      'openai-chat',
      chunk({ role: 'assistant', content: '' }, { id: 'one' }),
      call('one', 'a'),
      call('two', 'b'),
      ending('tool_calls'),
      '[DONE]',
    );
    expect(sumOf(result)).toBe(MALFORMED);
  });

  it.each([
    ['in every chunk', (n: number) => `id-${n}`],
    ['once, midway', (n: number) => (n < 2 ? 'one' : 'two')],
    ['and comes back', (n: number) => ['one', 'two', 'one', 'three', 'one'][n] ?? 'one'],
  ])(
    'a stream is one answer when its id changes %s, as several servers do, and no chunk begins anew',
    async (_, idOf) => {
      const deltas = [
        { role: 'assistant', content: 'It ' },
        { content: 'is' },
        { content: ' paid.' },
        { tool_calls: [{ index: 0, id: 'a', function: { name: 'pay', arguments: '{"eur"' } }] },
        { tool_calls: [{ index: 0, function: { arguments: ':5}' } }] },
      ];
      const chunks = deltas.map((delta, n) => chunk(delta, { id: idOf(n) }));
      const result = await readEvents('openai-chat', ...chunks, ending('tool_calls'), '[DONE]');
      expect(callsOf(result)).toEqual(['pay({"eur":5})']);
      expect(sumOf(result)).toMatchObject({ text: 'It is paid.' });
    },
  );

  it('the last of two arguments with one name counts, as JSON is read everywhere', async () => {
    expect(await read([0, 'a', 'pay', '{"eur":100,"eur":5}'])).toEqual(['pay({"eur":5})']);
  });

  it('a stream that starts a thousand calls is malformed', async () => {
    expect(await read(...Array.from({ length: 1_000 }, (_, i): Piece => [i, `c${i}`, 'pay', '{}']))).toBe(MALFORMED);
  });
});

describe('the content of a chat answer that is a list of parts', () => {
  const thought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }], closed: true });
  const expected = {
    text: 'It is 5.',
    opaque: [
      { kind: 'reasoning', text: 'Two and three.', native: thought('Two and three.') },
      { kind: 'other', native: { at: { text: 5, calls: 0 }, item: { type: 'reference', reference_ids: [1] } } },
    ],
    calls: [],
    finishReason: 'stop',
  };

  it('reasoning parts of a streamed answer are read', async () => {
    const deltas = [
      [thought('Two and')],
      [thought(' three.')],
      [
        { type: 'text', text: 'It ' },
        { type: 'text', text: 'is' },
      ],
      [{ type: 'reference', reference_ids: [1] }],
      ' 5.',
    ];
    const result = await readEvents('openai-chat', ...deltas.map((content) => chunk({ content })), ending(), '[DONE]');
    expect(sumOf(result)).toMatchObject(expected);
  });

  it('reasoning parts of a whole answer are read', async () => {
    const content = [
      thought('Two and three.'),
      { type: 'text', text: 'It is' },
      { type: 'reference', reference_ids: [1] },
      { type: 'text', text: ' 5.' },
    ];
    expect(sumOf(await readWhole('openai-chat', completion({ content })))).toMatchObject(expected);
  });

  it('a refusal among the parts is read', async () => {
    const content = [{ type: 'refusal', refusal: 'No.' }];
    const refused = { text: 'No.', finishReason: 'content_filter' };
    expect(sumOf(await readWhole('openai-chat', completion({ content })))).toMatchObject(refused);
    expect(sumOf(await readEvents('openai-chat', chunk({ content }), ending(), '[DONE]'))).toMatchObject(refused);
  });
});

describe('token usage of a chat answer', () => {
  const used = async (usage: object) => sumOf(await readWhole('openai-chat', completion({ content: 'x' }, { usage })));
  const counts = { prompt_tokens: 100, completion_tokens: 7 };

  it.each([
    ['OpenAI', { prompt_tokens_details: { cached_tokens: 60 } }],
    ['Moonshot', { cached_tokens: 60 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }],
    ['gateways to Anthropic', { cache_read_input_tokens: 60 }],
  ])('cached tokens are read in the field of %s [MOD-6]', async (_, more) => {
    expect(await used({ ...counts, ...more })).toMatchObject({
      usage: { tokens_in: 100, tokens_out: 7, tokens_cached: 60 },
    });
  });

  it('reasoning tokens are counted even where only the total includes them [MOD-6]', async () => {
    const more = { total_tokens: 407, completion_tokens_details: { reasoning_tokens: 300 } };
    expect(await used({ ...counts, ...more })).toMatchObject({ usage: { tokens_in: 100, tokens_out: 307 } });
  });

  it.each([
    ['beside the choices', { choices: [], usage: { ...counts, cached_tokens: 60 } }],
    [
      'in the choice',
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: { ...counts, cached_tokens: 60 } }] },
    ],
    ['under a name of the server', { choices: [], x_groq: { usage: { ...counts, cached_tokens: 60 } } }],
  ])('usage is read %s of a stream [MOD-6]', async (_, last) => {
    const result = await readEvents('openai-chat', chunk({ content: 'x' }), ending(), last, '[DONE]');
    expect(sumOf(result)).toMatchObject({ usage: { tokens_in: 100, tokens_out: 7, tokens_cached: 60 } });
  });
});

describe('a chat answer that this client cannot continue', () => {
  const custom = { id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } };

  it('an answer that needs another client is a failure that names the reason, streamed and whole [MOD-27]', async () => {
    const code = 'provider_error_terminal/custom_tool_call';
    expect(sumOf(await readWhole('openai-chat', completion({ content: null, tool_calls: [custom] })))).toBe(code);
    const streamed = chunk({ tool_calls: [{ index: 0, ...custom }] });
    expect(sumOf(await readEvents('openai-chat', streamed, ending('tool_calls'), '[DONE]'))).toBe(code);
  });

  it('an answer that announces calls and has none is malformed', async () => {
    expect(sumOf(await readEvents('openai-chat', chunk({ content: '' }), ending('tool_calls'), '[DONE]'))).toBe(
      MALFORMED,
    );
  });
});

describe('a chunk of a chat answer', () => {
  it('a chunk with a null error and an empty finish reason does not end the stream', async () => {
    const going = (content: string) =>
      chunk({ content }, { error: null, choices: [{ index: 0, delta: { content }, finish_reason: '' }] });
    expect(sumOf(await readEvents('openai-chat', going('a'), going('b'), ending(), '[DONE]'))).toMatchObject({
      text: 'ab',
    });
    expect(sumOf(await readEvents('openai-chat', going('a')))).toBe('provider_error_retryable/network');
  });
});
