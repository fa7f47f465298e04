import type { OpaquePart } from '@reprise/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import type { UnifiedAnswer } from '../src/index.js';
import { AnswerDraft } from '../src/wire/answer.js';
import { keptAt, weave } from '../src/wire/weave.js';

const about = { idsInUse: [], scrub: (text: string) => text };

describe('an answer as it was given', () => {
  it('an answer is rebuilt from its stored parts', () => {
    const draft = new AnswerDraft(about);
    draft.keep('reasoning', 'first');
    draft.say('I look. ');
    draft.keep('provider_tool', 'second');
    draft.say('I add.');
    draft.call('a', 'add', '{}');
    draft.keep('reasoning', 'third');
    draft.call('b', 'add', '{}');
    const { text, calls, opaque = [] } = draft.end();
    const answer: UnifiedAnswer = { role: 'assistant', calls, opaque, ...(text === undefined ? {} : { text }) };
    const told = weave(answer).map((stretch) =>
      stretch.kind === 'text' ? stretch.text : stretch.kind === 'call' ? stretch.call.callId : stretch.item,
    );
    expect(told).toEqual(['first', 'I look. ', 'second', 'I add.', 'a', 'third', 'b']);
  });

  it('a woven answer holds its whole text, every call and every part once, whatever their positions (seed 31)', () => {
    const part = fc.record({
      kind: fc.constantFrom('reasoning' as const, 'other' as const),
      native: fc.oneof(
        fc.nat(),
        fc.record({ text: fc.nat(20), calls: fc.nat(5) }).map((place) => keptAt('placed', place)),
      ),
    });
    const call = fc.record({ callId: fc.string(), tool: fc.constant('add'), args: fc.constant({}) });
    const answer = fc.record({
      role: fc.constant('assistant' as const),
      text: fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n') }),
      calls: fc.array(call, { maxLength: 3 }),
      opaque: fc.array(part, { maxLength: 5 }),
    });
    fc.assert(
      fc.property(answer, (given) => {
        const woven = weave(given);
        const texts = woven.flatMap((stretch) => (stretch.kind === 'text' ? [stretch.text] : []));
        expect(texts.join('').replaceAll(/\s/g, '')).toBe(given.text.replaceAll(/\s/g, ''));
        expect(texts.every((text) => text.trim() !== '')).toBe(true);
        const calls = woven.flatMap((stretch) => (stretch.kind === 'call' ? [stretch.call] : []));
        expect(calls).toEqual(given.calls);
        const parts: OpaquePart[] = woven.flatMap((stretch) => (stretch.kind === 'item' ? [stretch.part] : []));
        expect(parts).toEqual(given.opaque);
      }),
      { seed: 31, numRuns: 1_000 / stepOf(4) },
    );
  });
});
