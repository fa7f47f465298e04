/** Random answers, and how a provider of each wire format may write them: whole, or as events in any allowed order. */
import fc from 'fast-check';
import type { ByteFormat } from './pieces.js';

/** A secret that a server echoes. */
export const KEY = 'sk-test-0123456789abcdef';

/** A model's call, with its arguments as JSON text. */
export interface SaidCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** A model's answer, in the pieces of its stream. */
export interface Said {
  readonly thoughts: readonly string[];
  readonly texts: readonly string[];
  readonly calls: readonly SaidCall[];
  readonly used: number;
}

/** How a provider marks and orders the pieces. */
export interface Manner {
  /** How chat pieces are marked. */
  readonly marks: 'numbers' | 'from one' | 'ids' | 'none' | 'whole at zero' | 'name in each';
  /** Whether chat contents are lists of parts. */
  readonly parts: boolean;
  /** Which of the open items continues next. */
  readonly picks: readonly number[];
  /** The length of argument pieces. */
  readonly step: number;
}

const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom(KEY, KEY.slice(0, 9), KEY.slice(9), 'é☃😀', '\r\n', 'data: x\n\n', '[DONE]'),
);
const anyArgs = fc
  .dictionary(fc.constantFrom('a', 'eur', 'é', '}'), fc.oneof(fc.integer(), fc.constantFrom('x', '{"', '\\"', '☃')), {
    maxKeys: 3,
  })
  .map((args) => JSON.stringify(args));

/** A random answer. */
export const anySaid: fc.Arbitrary<Said> = fc
  .record({
    thoughts: fc.array(word, { maxLength: 4 }),
    texts: fc.array(word, { maxLength: 5 }),
    calls: fc.array(fc.record({ name: fc.constantFrom('pay', 'get', 'read_file'), args: anyArgs }), { maxLength: 4 }),
    used: fc.nat({ max: 1_000 }),
  })
  .map(({ calls, ...said }) => ({ ...said, calls: calls.map((call, i) => ({ ...call, id: `c${i}` })) }));

/** A random encoding. */
export const anyManner: fc.Arbitrary<Manner> = fc.record({
  marks: fc.constantFrom('numbers', 'from one', 'ids', 'none', 'whole at zero', 'name in each'),
  parts: fc.boolean(),
  picks: fc.array(fc.nat({ max: 7 }), { maxLength: 40 }),
  step: fc.integer({ min: 1, max: 12 }),
});

/** The events of an answer. */
export function eventsOf(format: ByteFormat, said: Said, manner: Manner): unknown[] {
  return EVENTS[format](said, manner);
}

/** The answer in the form that does not stream. */
export function bodyOf(format: ByteFormat, said: Said): unknown {
  return BODIES[format](said);
}

/** Interleaves lists, each in its own order. */
export function interleave<T>(lists: readonly (readonly T[])[], picks: readonly number[]): T[] {
  const left = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const merged: T[] = [];
  for (let turn = 0; left.length > 0; turn++) {
    const at = (picks[turn % Math.max(1, picks.length)] ?? 0) % left.length;
    const next = left[at]?.shift();
    if (next !== undefined) merged.push(next);
    if (left[at]?.length === 0) left.splice(at, 1);
  }
  return merged;
}

/** Cuts a text into pieces of this many characters. */
export function stepsOf(text: string, step: number): string[] {
  return Array.from({ length: Math.ceil(text.length / step) }, (_, i) => text.slice(i * step, (i + 1) * step));
}

const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});

function chatEvents(said: Said, manner: Manner): unknown[] {
  const { parts, marks } = manner;
  const text = (piece: string) => chunk({ content: parts ? [{ type: 'text', text: piece }] : piece });
  const thought = (piece: string) =>
    chunk(
      parts
        ? { content: [{ type: 'thinking', thinking: [{ type: 'text', text: piece }] }] }
        : { reasoning_content: piece },
    );
  const calls = said.calls.map((call, i) => chatPieces(call, i, manner).map((piece) => chunk({ tool_calls: [piece] })));
  const inOrder = marks === 'none' || marks === 'whole at zero';
  return [
    chunk({ role: 'assistant', content: '' }),
    ...said.thoughts.map(thought),
    ...said.texts.map(text),
    ...(inOrder ? calls.flat() : interleave(calls, manner.picks)),
    chunk({}, said.calls.length > 0 ? 'tool_calls' : 'stop'),
    { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: said.used, completion_tokens: said.used } },
    '[DONE]',
  ];
}

function chatPieces({ id, name, args }: SaidCall, i: number, { marks, step }: Manner): object[] {
  const whole = { index: 0, id, type: 'function', function: { name, arguments: args } };
  if (marks === 'whole at zero') return [whole];
  const index = marks === 'ids' || marks === 'none' ? {} : { index: marks === 'from one' ? i + 1 : i };
  const again = marks === 'ids' ? { id } : {};
  const named = marks === 'name in each' ? { name } : {};
  return [
    { ...index, id, type: 'function', function: { name, arguments: '' } },
    ...stepsOf(args, step).map((piece) => ({ ...index, ...again, function: { ...named, arguments: piece } })),
  ];
}

function chatBody(said: Said): unknown {
  const message = {
    role: 'assistant',
    content: said.texts.join(''),
    reasoning_content: said.thoughts.join(''),
    tool_calls: said.calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
  };
  const finish_reason = said.calls.length > 0 ? 'tool_calls' : 'stop';
  return { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason }], usage: { prompt_tokens: said.used } };
}

/** An item of a responses answer: its final form, and the events between its start and its end. */
function responsesItems({ thoughts, texts, calls }: Said, step: number) {
  const reasoning = { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: thoughts.join('') }] };
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: texts.join('') }] };
  return [
    ...(thoughts.length === 0
      ? []
      : [{ item: reasoning, grows: 'response.reasoning_summary_text.delta', pieces: thoughts }]),
    // An answer that says nothing is a message without text.
    ...(texts.length === 0 && thoughts.length + calls.length > 0
      ? []
      : [{ item: message, grows: 'response.output_text.delta', pieces: texts }]),
    ...calls.map(({ id, name, args }) => ({
      item: { type: 'function_call', call_id: id, name, arguments: args },
      grows: 'response.function_call_arguments.delta',
      pieces: stepsOf(args, step),
    })),
  ];
}

function responsesEvents(said: Said, { picks, step, parts }: Manner): unknown[] {
  const items = responsesItems(said, step);
  const lists = items.map(({ item, grows, pieces }, output_index) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...item, ...('arguments' in item ? { arguments: '' } : {}) },
    },
    ...pieces.map((delta) => ({ type: grows, output_index, delta })),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const response = { ...(responsesBody(said) as object), ...(parts ? { output: [] } : {}) };
  return [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
    ...interleave(lists, picks),
    { type: 'response.completed', response },
  ];
}

function responsesBody(said: Said): unknown {
  const output = responsesItems(said, 1).map(({ item }) => item);
  return { id: 'resp_1', status: 'completed', output, usage: { input_tokens: said.used, output_tokens: said.used } };
}

function messagesBlocks({ thoughts, texts, calls }: Said, step: number) {
  const pieces = (type: string, field: string, list: readonly string[]) =>
    list.map((piece) => ({ type, [field]: piece }));
  const signed = { type: 'signature_delta', signature: 's' };
  return [
    ...(thoughts.length === 0
      ? []
      : [
          {
            block: { type: 'thinking', thinking: thoughts.join(''), signature: 's' },
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [...pieces('thinking_delta', 'thinking', thoughts), signed],
          },
        ]),
    ...(texts.length === 0
      ? []
      : [
          {
            block: { type: 'text', text: texts.join('') },
            start: { type: 'text', text: '' },
            deltas: pieces('text_delta', 'text', texts),
          },
        ]),
    ...calls.map(({ id, name, args }) => ({
      block: { type: 'tool_use', id, name, input: JSON.parse(args) as unknown },
      start: { type: 'tool_use', id, name, input: {} },
      deltas: pieces('input_json_delta', 'partial_json', stepsOf(args, step)),
    })),
  ];
}

function messagesEvents(said: Said, { picks, step, parts }: Manner): unknown[] {
  const lists = messagesBlocks(said, step).map(({ start, deltas }, i) => {
    const index = parts ? i + 1 : i;
    return [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  const stop_reason = said.calls.length > 0 ? 'tool_use' : 'end_turn';
  return [
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', content: [], usage: { input_tokens: said.used } },
    },
    { type: 'ping' },
    ...interleave(lists, picks),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: said.used } },
    { type: 'message_stop' },
  ];
}

function messagesBody(said: Said): unknown {
  const stop_reason = said.calls.length > 0 ? 'tool_use' : 'end_turn';
  const content = messagesBlocks(said, 1).map(({ block }) => block);
  return {
    id: 'msg_1',
    type: 'message',
    content,
    stop_reason,
    usage: { input_tokens: said.used, output_tokens: said.used },
  };
}

const EVENTS: Readonly<Record<ByteFormat, (said: Said, manner: Manner) => unknown[]>> = {
  'openai-chat': chatEvents,
  'openai-responses': responsesEvents,
  'anthropic-messages': messagesEvents,
};

const BODIES: Readonly<Record<ByteFormat, (said: Said) => unknown>> = {
  'openai-chat': chatBody,
  'openai-responses': responsesBody,
  'anthropic-messages': messagesBody,
};
