import { authored } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import type { UnifiedAnswer, UnifiedMessage, UnifiedResult, UnifiedSaying } from '../src/index.js';
import {
  CONTINUE_TEXT,
  type Draft,
  layOut,
  NO_ANSWER_TEXT,
  NO_INPUT_TEXT,
  NO_RESULT_TEXT,
} from '../src/prompt/lay-out.js';

const says = (...texts: string[]): Draft => ({ role: 'user', says: texts.map(authored) });
const asks = (...callIds: string[]): UnifiedAnswer => ({
  role: 'assistant',
  calls: callIds.map((callId) => ({ callId, tool: 'add', args: {} })),
});
const answers = (text: string): UnifiedAnswer => ({ role: 'assistant', text, calls: [] });
const yields = (callId: string, text: string): Draft => ({
  role: 'tool',
  callId,
  tool: 'add',
  text: authored(text),
  isError: false,
});

const saying = (...texts: string[]): UnifiedSaying => ({
  role: 'user',
  parts: texts.map((text) => ({ kind: 'text', text })),
});
const result = (callId: string, text: string): UnifiedResult => ({ role: 'tool', callId, text, isError: false });
const none = (callId: string): UnifiedResult => ({ role: 'tool', callId, text: NO_RESULT_TEXT, isError: true });

const laidOut = (drafts: Draft[]): UnifiedMessage[] => layOut(drafts, { parallelCalls: true }).messages;

describe('the layout of a conversation', () => {
  it('one draft that stands in two places is two messages, each with its own place, and a notice of the layout has none', () => {
    const again = answers('Again.');
    const { messages, sources } = layOut([says('a'), says('b'), again, again, asks('x'), yields('x', 'X')], {
      parallelCalls: true,
    });
    expect(messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'tool'],
    ]);
    expect(sources).toEqual([[0, 1], [2], [null], [3], [null], [4], [5]]);
  });

  it('an ordered conversation is unchanged', () => {
    const drafts = [says('go'), asks('a', 'b'), yields('a', 'A'), yields('b', 'B'), answers('Done.'), says('thanks')];
    expect(laidOut(drafts)).toEqual([
      saying('go'),
      asks('a', 'b'),
      result('a', 'A'),
      result('b', 'B'),
      answers('Done.'),
      saying('thanks'),
    ]);
  });

  it('results follow the order of their calls, missing results are marked, and user messages come after them', () => {
    const drafts = [says('go'), asks('a', 'b', 'c'), yields('c', 'C'), says('wait'), yields('a', 'A')];
    expect(laidOut(drafts)).toEqual([
      saying('go'),
      asks('a', 'b', 'c'),
      result('a', 'A'),
      none('b'),
      result('c', 'C'),
      saying('wait'),
    ]);
  });

  it('a result without an open call is placed where it arrived, and earlier messages do not change', () => {
    const drafts = [says('go'), asks('a'), answers('Well.'), yields('a', 'A')];
    expect(laidOut(drafts)).toEqual([
      saying('go'),
      asks('a'),
      none('a'),
      answers('Well.'),
      saying('<said by="earlier call a of tool: add">\nA\n</said>'),
    ]);
  });

  it('calls stay distinct even if the provider numbers them from zero in every answer', () => {
    const drafts = [says('go'), asks('0', '0'), yields('0', '1'), yields('0', '2'), asks('0'), yields('0', '3')];
    expect(laidOut(drafts).slice(1)).toEqual([
      asks('0', '0_2'),
      result('0', '1'),
      result('0_2', '2'),
      asks('0_3'),
      result('0_3', '3'),
    ]);
  });

  it('every answer follows a message, and the conversation ends with a message to answer', () => {
    expect(laidOut([answers('a'), answers('b')])).toEqual([
      saying(NO_INPUT_TEXT),
      answers('a'),
      saying(CONTINUE_TEXT),
      answers('b'),
      saying(CONTINUE_TEXT),
    ]);
    expect(laidOut([])).toEqual([saying(NO_INPUT_TEXT)]);
  });

  it('an empty answer keeps its position', () => {
    expect(laidOut([says('go'), answers(' '), says('so?')])).toEqual([
      saying('go'),
      answers(NO_ANSWER_TEXT),
      saying('so?'),
    ]);
  });

  it('calls are laid out one after the other for a model without parallel calls [MOD-1]', () => {
    const thought = { kind: 'reasoning' as const, native: 'x' };
    const drafts = [says('go'), { ...asks('a', 'b'), text: 'I call.', opaque: [thought] }, yields('b', 'B')];
    expect(layOut(drafts, { parallelCalls: false }).messages).toEqual([
      saying('go'),
      { ...asks('a'), text: 'I call.', opaque: [thought] },
      none('a'),
      asks('b'),
      result('b', 'B'),
    ]);
  });
});
