import { llmGenerateReceipt } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { readCompletion } from '../src/openai/chat-response.js';

describe('reading an answer', () => {
  const plain = (...idsInUse: string[]) => ({ idsInUse, scrub: (text: string) => text });

  it('reading never throws, and every accepted answer fits the receipt (seed 5) [MOD-7]', () => {
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
        const read = readCompletion(given, plain('c1'));
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
      { seed: 5, numRuns: 1_500 / stepOf(4) },
    );
  });

  it('reasoning is stored as an opaque part with the names of its fields', () => {
    const message = {
      content: 'x',
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
    };
    const read = readCompletion({ choices: [{ message, finish_reason: 'stop' }] }, plain());
    const { content: _, ...native } = message;
    expect(read?.opaque).toEqual([{ kind: 'reasoning', text: 'hm', native }]);
  });

  it('arguments that nest too deep for the journal are marked when they are read', () => {
    const deep = `${'{"a":'.repeat(45)}1${'}'.repeat(45)}`;
    const message = { content: null, tool_calls: [{ id: 'c', function: { name: 'add', arguments: deep } }] };
    const read = readCompletion({ choices: [{ message, finish_reason: 'stop' }] }, plain());
    expect(read?.calls[0]).toMatchObject({ issue: 'args_invalid', args: deep });
  });
});
