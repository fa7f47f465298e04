/** What a model call says, from its records alone. */
import type { JournalRecord } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { otlpTraces, type Span, Tracer } from '../src/index.js';

const PLAN = ['aos.agent/SessionReducer@1', 's', 0];
const PARAMS = { model: 'main', temperature: 1, session: { key: 's', labels: {} }, window: { from: 0 } };

function spanOf(receipt: object): Span {
  const tracer = new Tracer();
  const frames = [
    [{ kind: 'manifest', world: 'ab'.repeat(32) }],
    [
      { kind: 'request', to: ['a/B@1', 'x'], event: { name: 'a/C@1', value: null } },
      { kind: 'effect', c: 0, effect: 'e', plan: PLAN, name: 'llm.generate@2', params: PARAMS },
      { kind: 'attempt', effect: 'e', attempt: 1 },
    ],
    [{ kind: 'receipt', effect: 'e', receipt: { adapter: 'llm', status: 'ok', attempts: 1, ...receipt } }],
  ];
  const spans = frames.flatMap((records, seq) =>
    tracer.take({ seq, at: 1_000 * seq, records: records as unknown as readonly JournalRecord[] }),
  );
  if (spans[0] === undefined) throw new Error('the call has no span');
  return spans[0];
}

const asked = { profile: 'openai-responses', model: 'gpt-5-mini', provider: 'openai', server: 'api.openai.com' };

describe('a model call', () => {
  it('the model of the answer is the one that the server named, and is absent where it named none; the requested one is the name that was asked [TRACE-10]', () => {
    const named = spanOf({ asked, response_model: 'gpt-5-mini-2026-08-07' }).attributes;
    expect(named['gen_ai.response.model']).toBe('gpt-5-mini-2026-08-07');
    expect(named['gen_ai.request.model']).toBe('gpt-5-mini');
    const silent = spanOf({ asked }).attributes;
    expect('gen_ai.response.model' in silent).toBe(false);
    const unasked = spanOf({ status: 'denied', code: 'policy_denied' });
    expect(unasked.attributes['gen_ai.request.model']).toBe('main');
    expect(unasked.attributes['gen_ai.provider.name']).toBe('reprise');
    expect([unasked.isError, unasked.attributes['error.type']]).toEqual([true, 'policy_denied']);
  });

  it('a cancelled call has not failed, and a number that the conventions state as a double is written as one', () => {
    const cancelled = spanOf({ status: 'cancelled', code: 'adapter_error/cancelled' });
    expect([cancelled.isError, cancelled.attributes['reprise.status']]).toEqual([false, 'cancelled']);
    const text = otlpTraces([spanOf({ asked, first_chunk_ms: 2_000, usage: { tokens_in: 5, tokens_out: 3 } })]);
    expect(text).toContain('{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":2}}');
    expect(text).toContain('{"key":"gen_ai.request.temperature","value":{"doubleValue":1}}');
    expect(text).toContain('{"key":"gen_ai.usage.input_tokens","value":{"intValue":"5"}}');
  });

  it('a call begins with its first attempt, and a later attempt is an event of it', () => {
    const tracer = new Tracer();
    const [span] = [
      [{ kind: 'manifest', world: 'ab'.repeat(32) }],
      [{ kind: 'clock' }, { kind: 'effect', c: 0, effect: 'e', plan: PLAN, name: 'llm.generate@2', params: PARAMS }],
      [{ kind: 'attempt', effect: 'e', attempt: 1 }],
      [{ kind: 'attempt', effect: 'e', attempt: 2 }],
      [{ kind: 'receipt', effect: 'e', receipt: { adapter: 'llm', status: 'ok', attempts: 2, asked } }],
    ].flatMap((records, seq) => tracer.take({ seq, at: seq, records: records as unknown as readonly JournalRecord[] }));
    expect([span?.startMs, span?.endMs]).toEqual([2, 4]);
    expect(span?.events).toEqual([{ name: 'reprise.attempt', at: 3, attributes: { 'reprise.attempts': 2 } }]);
    expect(span?.attributes['reprise.attempts']).toBe(2);
  });

  it('a receipt that a dry fork repeats says that nothing was executed', () => {
    const tracer = new Tracer();
    const spans = [
      [{ kind: 'manifest', world: 'ab'.repeat(32) }],
      [{ kind: 'clock' }, { kind: 'effect', c: 0, effect: 'e', plan: PLAN, name: 'llm.generate@2', params: PARAMS }],
      [{ kind: 'receipt', effect: 'e', recorded: 'f', receipt: { adapter: 'llm', status: 'ok', attempts: 1, asked } }],
    ].flatMap((records, seq) => tracer.take({ seq, at: seq, records: records as unknown as readonly JournalRecord[] }));
    expect(spans.map(({ attributes }) => attributes['reprise.recorded'])).toEqual([true]);
  });
});
