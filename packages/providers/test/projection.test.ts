import { putText, putValue, type TranscriptItem } from '@reprise/agent';
import { llmGenerateReceipt, type Value } from '@reprise/contracts';
import { EMPTY_HEAD, memory, type Ref } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkChatRequest, NO_RESULT_TEXT, openAiCompatible, pairCalls, type UnifiedMessage } from '../src/index.js';
import { toChatRequest } from '../src/openai/chat-request.js';
import { readCompletion } from '../src/openai/chat-response.js';
import { ERASED_TEXT, projectTranscript } from '../src/project-transcript.js';

const { profile } = openAiCompatible({ baseUrl: 'http://127.0.0.1/v1', model: 'm' });
const dialect = { model: 'm', profile, maxTokensField: 'max_tokens' as const };

const ids = fc.constantFrom('a', 'b', 'c', 'a_2', 'x'.repeat(128));
const args = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Value>;
const call = fc.record({ callId: ids, tool: fc.oneof(fc.constant('add'), fc.string({ minLength: 1 })), args });
const message: fc.Arbitrary<UnifiedMessage> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), text: fc.string() }),
  fc.record(
    { role: fc.constant('assistant' as const), text: fc.string(), calls: fc.array(call, { maxLength: 4 }) },
    { requiredKeys: ['role', 'calls'] },
  ),
  fc.record({ role: fc.constant('tool' as const), callId: ids, text: fc.string(), isError: fc.boolean() }),
);

const user = (text: string): UnifiedMessage => ({ role: 'user', text });
const asks = (...callIds: string[]): UnifiedMessage => ({
  role: 'assistant',
  calls: callIds.map((callId) => ({ callId, tool: 'add', args: {} })),
});
const result = (callId: string, text: string): UnifiedMessage => ({ role: 'tool', callId, text, isError: false });

describe('the projection of a history', () => {
  it('gives a request that the strict validator accepts, whatever the history (seed 11)', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 14 }), fc.string(), (history, system) => {
        const { messages } = pairCalls(history);
        const { request } = toChatRequest({ system, messages, tools: [] }, dialect);
        expect(checkChatRequest(JSON.parse(JSON.stringify(request)))).toEqual([]);
      }),
      { seed: 11, numRuns: 3_000 },
    );
  });

  it('changes nothing about a history that is in order (seed 11)', () => {
    const step = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
        const history = steps.flatMap(([calls, text], i) => {
          const callIds = Array.from({ length: calls }, (_, c) => `c${i}-${c}`);
          const asked = calls === 0 ? { role: 'assistant' as const, text, calls: [] } : asks(...callIds);
          return [user(text), asked, ...callIds.map((id) => result(id, text))];
        });
        expect(pairCalls(history)).toEqual({ messages: history, losses: [] });
      }),
      { seed: 11 },
    );
  });

  it('answers in the order of the calls, says what was never answered, and drops what answers nothing', () => {
    const history = [
      user('go'),
      asks('a', 'b', 'c'),
      result('c', 'C'),
      user('wait'),
      result('a', 'A'),
      result('z', 'Z'),
    ];
    expect(pairCalls(history)).toEqual({
      messages: [
        user('go'),
        asks('a', 'b', 'c'),
        result('a', 'A'),
        { role: 'tool', callId: 'b', text: NO_RESULT_TEXT, isError: true },
        result('c', 'C'),
        user('wait'),
      ],
      losses: ['orphan_tool_result'],
    });
  });

  it('keeps calls apart that a provider numbers from zero in every answer', () => {
    const history = [asks('0', '0'), result('0', 'first'), result('0', 'second'), asks('0'), result('0', 'third')];
    expect(pairCalls(history).messages).toEqual([
      asks('0', '0_2'),
      result('0', 'first'),
      result('0_2', 'second'),
      asks('0_3'),
      result('0_3', 'third'),
    ]);
  });
});

describe('the validator', () => {
  const valid = {
    model: 'm',
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'add', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    ],
    tools: [{ type: 'function', function: { name: 'add', description: '', parameters: { type: 'object' } } }],
  };
  const { messages } = valid;
  const [system, said, asked, answered] = messages as [unknown, unknown, { tool_calls: unknown[] }, unknown];

  it.each([
    ['no messages', { messages: [] }],
    ['nothing but a system message', { messages: [system] }],
    ['a system message in the middle', { messages: [said, system] }],
    ['a call without an answer at the end', { messages: [said, asked] }],
    ['a call without an answer in the middle', { messages: [said, asked, said] }],
    ['an answer without a call', { messages: [said, answered] }],
    ['an answer twice', { messages: [said, asked, answered, answered] }],
    ['an id used twice', { messages: [said, asked, answered, asked, answered] }],
    ['an empty assistant', { messages: [said, { role: 'assistant', content: '' }] }],
    ['an empty list of calls', { messages: [said, { role: 'assistant', content: 'x', tool_calls: [] }] }],
    ['arguments that are no object', { messages: [said, withArguments('[]'), answered] }],
    ['arguments that are no JSON', { messages: [said, withArguments('{'), answered] }],
    ['an unknown role', { messages: [{ role: 'developer', content: 'x' }] }],
    ['content that is no text', { messages: [{ role: 'user', content: null }] }],
    ['a tool twice', { tools: [...valid.tools, ...valid.tools] }],
    ['a choice that is no tool', { tool_choice: { type: 'function', function: { name: 'sub' } } }],
    ['no model', { model: '' }],
  ])('refuses %s', (_, over) => {
    expect(checkChatRequest(valid)).toEqual([]);
    expect(checkChatRequest({ ...valid, ...over })).not.toEqual([]);
  });

  function withArguments(text: string) {
    return { ...asked, tool_calls: [{ id: 'a', type: 'function', function: { name: 'add', arguments: text } }] };
  }
});

describe('reading an answer', () => {
  const plain = (text: string) => text;

  it('never throws, and whatever it accepts fits the receipt (seed 5)', () => {
    const wild = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant('c1'));
    const wildCall = fc.record({ id: wild, function: fc.record({ name: wild, arguments: wild }) });
    const body = fc.record({
      id: wild,
      choices: fc.array(
        fc.record({
          finish_reason: wild,
          message: fc.record({
            content: fc.oneof(fc.string(), wild),
            tool_calls: fc.array(wildCall, { maxLength: 80 }),
          }),
        }),
        { maxLength: 2 },
      ),
      usage: fc.oneof(wild, fc.record({ prompt_tokens: wild, completion_tokens: fc.double() })),
    });
    const fields = llmGenerateReceipt.pick({ finish_reason: true, provider_response_id: true, usage_details: true });
    fc.assert(
      fc.property(fc.oneof(body, wild), (given) => {
        const read = readCompletion(given, ['c1'], plain);
        if (read === undefined) return;
        const ids = read.calls.map(({ callId }) => callId);
        expect(new Set([...ids, 'c1']).size).toBe(ids.length + 1);
        expect(ids.length).toBeLessThanOrEqual(64);
        for (const { callId, tool } of read.calls) {
          expect(callId.length > 0 && callId.length <= 128 && tool.length > 0 && tool.length <= 128).toBe(true);
        }
        fields.parse({
          finish_reason: read.finishReason,
          ...(read.providerResponseId === undefined ? {} : { provider_response_id: read.providerResponseId }),
          ...(read.usageDetails === undefined ? {} : { usage_details: read.usageDetails }),
        });
      }),
      { seed: 5, numRuns: 1_500 },
    );
  });

  it('marks arguments that nest too deep for the journal instead of failing later', () => {
    const deep = `${'{"a":'.repeat(45)}1${'}'.repeat(45)}`;
    const message = { content: null, tool_calls: [{ id: 'c', function: { name: 'add', arguments: deep } }] };
    const read = readCompletion({ choices: [{ message, finish_reason: 'stop' }] }, [], plain);
    expect(read?.calls[0]).toMatchObject({ issue: 'args_not_json', args: deep });
  });
});

describe('the projection of a transcript of which content was erased', () => {
  it('says so in its place, and still answers every call', async () => {
    const open = await memory().open();
    const { content } = open;
    const [said, printed] = [await putText(content, 'my name is Ada'), await putText(content, 'Ada')];
    const args_ref = await putValue(content, { name: 'Ada' });
    const output_ref = await putValue(content, { text: 'Hello Ada', tool_calls: [] });
    const items = [
      { role: 'user', text_ref: said },
      { role: 'assistant', output_ref, calls: [{ call_id: 'c', tool: 'add', args_ref }] },
      { role: 'tool', call_id: 'c', tool: 'add', output_ref: printed, is_error: false },
    ] as unknown as TranscriptItem[];
    await open.journal.append([], EMPTY_HEAD);
    expect(JSON.stringify(await projectTranscript(content, items))).toContain('Hello Ada');

    await content.erase([said, printed, args_ref, output_ref] as Ref[], 1);
    const { messages, losses } = await projectTranscript(content, items);
    expect(losses).toEqual([]);
    expect(messages).toEqual([
      { role: 'user', text: ERASED_TEXT },
      {
        role: 'assistant',
        text: ERASED_TEXT,
        calls: [{ callId: 'c', tool: 'add', args: { erased: true } }],
      },
      { role: 'tool', callId: 'c', text: ERASED_TEXT, isError: false },
    ]);
    await open.close();
  });
});
