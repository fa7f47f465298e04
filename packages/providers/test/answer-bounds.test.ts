import { describe, expect, it } from 'vitest';
import { JSON_DEPTH_MAX, JSON_ITEMS_MAX, parseBounded } from '../src/model/json.js';
import { callsOf, readEvents, readWhole, sumOf } from './pieces.js';

const MALFORMED = 'provider_error_retryable/malformed';

describe('bounds on JSON from a provider', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const list = (items: number) => `[${Array.from({ length: items }, () => 0).join()}]`;

  it.each<[string, number]>([
    ['1', 1],
    ['"a,b[{"', 1],
    ['"a\\",[,"', 1],
    ['"\\\\"', 1],
    ['[1,2]', 3],
    ['{"a":[],"b":{}}', 5],
    ['[[1],[2]]', 5],
  ])('the text %s is read, with this bound on its number of values: %i [MOD-26]', (text, items) => {
    expect(parseBounded(text)).toEqual({ data: JSON.parse(text), items });
  });

  it('JSON with too many values is not parsed, whatever its strings contain [MOD-26]', () => {
    expect(parseBounded(list(JSON_ITEMS_MAX - 1))).toMatchObject({ items: JSON_ITEMS_MAX });
    expect(parseBounded(list(JSON_ITEMS_MAX))).toBe('too_large');
    const brackets = '['.repeat(JSON_ITEMS_MAX + 1);
    expect(parseBounded(JSON.stringify(brackets))).toEqual({ data: brackets, items: 1 });
    expect(parseBounded(brackets)).toBe('too_large');
  });

  it('JSON that nests too deep is refused, in one chain as well as beside other values [MOD-26]', () => {
    expect(parseBounded(nested(JSON_DEPTH_MAX))).toMatchObject({ items: JSON_DEPTH_MAX + 1 });
    expect(parseBounded(nested(JSON_DEPTH_MAX + 1))).toBeUndefined();
    expect(parseBounded(`[${`${nested(600)},`.repeat(3)}0]`)).toBeDefined();
    expect(parseBounded('{"a":')).toBeUndefined();
    expect(parseBounded('"open')).toBeUndefined();
  });
});

describe('positions in a streamed answer', () => {
  const start = { type: 'message_start', message: { id: 'm', type: 'message', content: [], usage: {} } };
  const stop = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }];
  const block = (index: number, name: string) => [
    { type: 'content_block_start', index, content_block: { type: 'tool_use', id: `t_${name}`, name, input: {} } },
    { type: 'content_block_stop', index },
  ];

  it('blocks of an Anthropic answer are ordered by index, whatever their order of arrival', async () => {
    const datas = [start, ...block(1, 'second'), ...block(0, 'first'), ...stop];
    expect(callsOf(await readEvents('anthropic-messages', ...datas))).toEqual(['first({})', 'second({})']);
  });

  it.each([-1, 0.5, 1_000_000, '0'])(
    'a Responses answer with an item at index %j is malformed',
    async (output_index) => {
      const item = { type: 'function_call', call_id: 'c', name: 'pay', arguments: '{}' };
      const datas = [
        { type: 'response.created', response: { id: 'r', output: [] } },
        { type: 'response.output_item.done', output_index, item },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item] } },
      ];
      expect(sumOf(await readEvents('openai-responses', ...datas))).toBe(MALFORMED);
    },
  );
});

describe('bounds on a whole answer', () => {
  it('an answer with too many blocks is malformed [MOD-26]', async () => {
    const content = (length: number) => Array.from({ length }, () => ({ type: 'text', text: 'x' }));
    const answer = (length: number) => ({ type: 'message', content: content(length), stop_reason: 'end_turn' });
    expect(sumOf(await readWhole('anthropic-messages', answer(2)))).toMatchObject({ text: 'xx' });
    expect(sumOf(await readWhole('anthropic-messages', answer(100_000)))).toBe(MALFORMED);
  });

  it('a call in both the old and the new form counts once; if the two differ, the answer is malformed [MOD-28]', async () => {
    const given = { name: 'pay', arguments: '{}' };
    const answer = (name: string) => ({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: { tool_calls: [{ id: 'a', function: given }], function_call: { ...given, name } },
        },
      ],
    });
    expect(callsOf(await readWhole('openai-chat', answer('pay')))).toEqual(['pay({})']);
    expect(sumOf(await readWhole('openai-chat', answer('get')))).toBe(MALFORMED);
  });

  it('a truncated answer has a known end, even with an item of a new kind [MOD-27]', async () => {
    const answer = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'brand_new' }, { type: 'message', content: [{ type: 'output_text', text: 'x' }] }],
    };
    expect(sumOf(await readWhole('openai-responses', answer))).toMatchObject({ finishReason: 'length', text: 'x' });
  });
});
