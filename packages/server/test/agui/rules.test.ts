/** The eight rules: each has a stream that breaks it alone, and that `verifyEvents` accepts. */
import { describe, expect, it } from 'vitest';
import { refusedBy } from './support/client.js';
import { type Around, brokenRules, RULES, type Rule, type SeenEvent } from './support/rules.js';

const AROUND: Around = { threadId: 't', runId: 'r', had: [{ id: 'u' }], pending: ['i'] };
const STARTED = { type: 'RUN_STARTED', threadId: 't', runId: 'r' };
const FINISHED = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } };
const text = (messageId: string): SeenEvent[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'Hm.' },
  { type: 'TEXT_MESSAGE_END', messageId },
];
const call = (toolCallId: string, delta = '{}'): SeenEvent[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'pay', parentMessageId: 'a' },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta },
  { type: 'TOOL_CALL_END', toolCallId },
];
const result = (messageId: string, toolCallId: string) => ({
  type: 'TOOL_CALL_RESULT',
  messageId,
  toolCallId,
  content: 'paid',
});
const interrupted = (...ids: readonly string[]) => ({
  ...FINISHED,
  outcome: { type: 'interrupt', interrupts: ids.map((id) => ({ id, reason: 'confirmation' })) },
});

/** A good stream, in which everything occurs. */
const GOOD: readonly SeenEvent[] = [
  STARTED,
  ...text('a'),
  ...call('c', '{"n":1}'),
  result('c/result', 'c'),
  {
    type: 'MESSAGES_SNAPSHOT',
    messages: [
      { id: 'u', role: 'user', content: 'x' },
      { id: 'a', role: 'assistant', content: 'H' },
    ],
  },
  ...text('a'),
  interrupted('i'),
];

const BAD: Readonly<Record<Rule, readonly SeenEvent[]>> = {
  interrupt_without_items: [STARTED, interrupted()],
  interrupt_not_pending: [STARTED, interrupted('i', 'of another thread')],
  result_without_call: [STARTED, ...call('c'), result('d/result', 'd'), FINISHED],
  result_twice: [STARTED, ...call('c'), result('c/result', 'c'), result('another', 'c'), FINISHED],
  arguments_not_json: [STARTED, ...call('c', '{"n":'), result('c/result', 'c'), FINISHED],
  opened_again: [STARTED, ...text('a'), ...text('a'), FINISHED],
  foreign_run: [STARTED, { ...FINISHED, runId: 'another' }],
  not_ended: [STARTED, ...text('a').slice(0, 2), { type: 'RUN_ERROR', message: 'broke' }],
};

describe('the rules of streams', () => {
  it('a good stream breaks no rule, and verifyEvents accepts it [SRV-41]', async () => {
    expect(brokenRules(GOOD, AROUND)).toEqual([]);
    expect(await refusedBy(GOOD)).toBeUndefined();
  });

  for (const rule of RULES)
    it(`the rule ${rule} finds a stream that verifyEvents accepts, and no other rule does`, async () => {
      expect(await refusedBy(BAD[rule])).toBeUndefined();
      expect(brokenRules(BAD[rule], AROUND)).toEqual([rule]);
    });

  it('a stream without an end, with two ends, and with an event behind its end is not ended', async () => {
    const late = { type: 'RUN_ERROR', message: 'late' };
    for (const bad of [[STARTED], [STARTED, FINISHED, late], [STARTED, FINISHED, STARTED, FINISHED]])
      expect(brokenRules(bad, AROUND)).toEqual(['not_ended']);
  });
});
